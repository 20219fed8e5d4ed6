"""Classes that were lost on the way, and how they are found again.

Where classes are of unequal size, most samples with the label of a small class may belong to a
large one. Then rounds of estimating and trusting can end with the small class swallowed by another,
or with two classes that have changed places. Each looks consistent from within, so what is needed
is another start, in which the samples that tell the difference are trusted:

- Of a class whose labels are trusted less than half as much as usual, the samples that are not
  taken for the class that most of them are taken for. If a large class supplies the wrong labels,
  the rest are its own.
- Where samples that are taken for one class mostly carry the label of another, the two have changed
  places: the samples with that label are trusted, the others are not.

Rounds from there count if they make the labels more likely.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._perrow import class_totals
from rehead._typing import Array
from rehead.gaussian.settings import SETTINGS


class Taken(NamedTuple):
    """Training rows: their labels, what they are taken for, and how far they are trusted.

    ``counts`` says how often each counts; ``right`` is the share of labels that are right.
    """

    codes: Array
    taken_for: Array
    trust: Array
    counts: Array
    right: float

    @property
    def n_classes(self) -> int:
        return int(max(self.codes.max(), self.taken_for.max())) + 1


def another_start(rows: Taken, ratio: float) -> Array | None:
    """Trust to start from once more; None where no class seems to be lost.

    ``ratio``: two classes may have changed places if, among the samples taken for the one, the
    label of the other is that many times as frequent as its own.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.repeat([0, 1, 1, 2], [60, 40, 6, 20])      # label 1: 40 of class 0, 6 of its own
    >>> taken_for = np.repeat([0, 0, 2, 2], [60, 40, 6, 20])  # which class 2 has swallowed
    >>> trust = (codes == taken_for).astype(float)
    >>> start = another_start(Taken(codes, taken_for, trust, np.ones(126), 0.6), 1.0)
    >>> np.flatnonzero(start > trust)
    array([100, 101, 102, 103, 104, 105])
    """
    trust = rows.trust.copy()
    exchanged = _exchanged(rows, ratio)
    for taken, label in exchanged:
        _trust_the_label(rows, taken, label, trust)
    touched = {c for pair in exchanged for c in pair}
    swallowed = [c for c in _hardly_trusted(rows) if c not in touched]
    changed = [c for c in swallowed if _trust_the_rest(rows, c, trust)]
    return trust if exchanged or changed else None


def _exchanged(rows: Taken, ratio: float) -> list[tuple[int, int]]:
    """Pairs: a class, and the label that samples taken for it mostly carry in place of its own."""
    found, C = [], rows.n_classes
    for c in range(C):
        of_class = rows.taken_for == c
        labels = np.bincount(rows.codes[of_class], rows.counts[of_class], minlength=C)
        own, labels[c] = labels[c], 0.0
        most = int(labels.argmax())
        if labels[most] > ratio * own and labels[most] >= SETTINGS.least_class_weight:
            found.append((c, most))
    return found


def _trust_the_label(rows: Taken, taken: int, label: int, trust: Array) -> None:
    """Samples with this label that are taken for another class are what their label says."""
    mistaken, own = rows.taken_for == taken, rows.codes == taken
    trust[mistaken & (rows.codes == label)] = 1.0
    trust[mistaken & own] = 0.0
    trust[own & ~mistaken & (rows.taken_for != label)] = 1.0
    if (trust * rows.counts)[own].sum() < SETTINGS.least_class_weight:
        trust[own] = 1.0


def _hardly_trusted(rows: Taken) -> list[int]:
    """Classes of whose labels far fewer are trusted than of all."""
    total = class_totals(rows.codes, rows.n_classes, rows.counts)
    trusted = class_totals(rows.codes, rows.n_classes, rows.counts, rows.trust)
    share = trusted / np.maximum(total, np.finfo(float).tiny)
    few = (share < SETTINGS.lost_share * rows.right) & (total > 0)
    return [int(c) for c in np.flatnonzero(few)]


def _trust_the_rest(rows: Taken, c: int, trust: Array) -> bool:
    """Trust samples that are not taken for the class that most of this label are taken for."""
    of_class = rows.codes == c
    sources = np.bincount(rows.taken_for[of_class], rows.counts[of_class], rows.n_classes)
    sources[c] = -1.0
    rest = of_class & (rows.taken_for != sources.argmax())
    if rows.counts[rest].sum() < SETTINGS.least_class_weight:
        return False
    trust[of_class] = 0.0
    trust[rest] = 1.0
    return True
