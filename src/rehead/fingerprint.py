"""Recognise the rows a model was fitted on, without keeping them."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from rehead._perrow import number_type
from rehead._rowhash import fingerprint
from rehead._typing import Array, Features, cut_rows
from rehead.gaussian import Composition
from rehead.gaussian.steps import remembered
from rehead.gaussian.tasks import map_parts
from rehead.gaussian.threads import own_threads

COST = 20.0
"""Floating point operations that take as long as the hash of one number, about."""
ROWS = 2**14
"""Rows of a part: so many that parts are few, and so few that all workers have some."""


class HashedRows(NamedTuple):
    """Some rows, and their label codes."""

    features: Features
    codes: Array

    @property
    def row_numbers(self) -> None:
        """All of them."""
        return None


def hashes(part: HashedRows) -> Array:
    """A hash of each row."""
    return fingerprint(part.features, part.codes)


@own_threads()
def fingerprints(X: Features, codes: Array) -> Array:
    """:func:`rehead._rowhash.fingerprint` of many rows: by all threads, or by an executor.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    >>> bool((fingerprints(X, codes) == fingerprint(X, codes)).all())
    True
    """
    spans = [slice(a, min(a + ROWS, len(X))) for a in range(0, len(X), ROWS)]
    parts = (HashedRows(cut_rows(X, span), codes[span]) for span in spans)
    found, flops = np.empty(len(X), np.uint64), COST * len(X) * X.shape[1]
    for span, of_part in zip(spans, map_parts(hashes, parts, flops, X), strict=True):
        found[span] = of_part
    return found


class Recognised(NamedTuple):
    """Which rows are known, how much of them counted, to which class, and their folds (or -1).

    A row is as much as all its copies with the same label.
    """

    known: Array
    weights: Array
    counted_as: Array
    folds: Array


class KnownRows(NamedTuple):
    """How much of each training row some estimates contain, found again by its fingerprint.

    ``fingerprints`` are sorted. Weights and classes are those of a :class:`Composition`, and
    ``folds`` those of a second opinion, where there is one; ``order`` says which of their rows each
    fingerprint is of. Without it (in files) they are in the order of fingerprints. ``unit`` is
    what one sample weighs (in files: 1, whatever weights were given).
    """

    fingerprints: Array
    weights: Array
    counted_as: Array
    folds: Array | None = None
    order: Array | None = None
    unit: float = 1.0

    @classmethod
    def from_training(
        cls, X: Features, codes: Array, composition: Composition, folds: Array | None = None
    ) -> Self:
        """Of training rows and their labels."""
        found = remembered(np.asarray)(fingerprints)(X, codes)
        # Nothing else is put in order: rows may be many, and what they weigh is kept anyway.
        order = np.argsort(found).astype(number_type(len(found)))
        found.sort()
        weights, counted_as, _, unit = composition
        return cls(found, weights, counted_as, folds, order, unit)

    def in_order(self) -> Self:
        """Everything in the order of the fingerprints."""
        order = self.order
        if order is None:
            return self
        folds = None if self.folds is None else self.folds[order]
        return self._replace(
            weights=self.weights[order],
            counted_as=self.counted_as[order],
            folds=folds,
            order=None,
        )

    def copies(self) -> Array:
        """How often each training row occurs with the same label, in the order of the rows."""
        starts = np.flatnonzero(np.append(True, self.fingerprints[1:] != self.fingerprints[:-1]))
        lengths = np.diff(np.append(starts, len(self.fingerprints)))
        copies = np.empty(len(self.fingerprints), lengths.dtype)
        copies[slice(None) if self.order is None else self.order] = np.repeat(lengths, lengths)
        return copies

    def look_up(self, X: Features, codes: Array, dtype: Any = None) -> Recognised:
        """What is known of some rows with these labels.

        ``dtype`` is that of the training rows (default: the same as that of these).
        """
        wanted = fingerprint(X, codes, dtype)
        at = np.searchsorted(self.fingerprints, wanted).clip(max=len(self.fingerprints) - 1)
        known: Array = self.fingerprints[at] == wanted
        copies = np.searchsorted(self.fingerprints, wanted, side="right") - at
        at = at if self.order is None else self.order[at]
        counted = known & (self.weights[at] > 0)
        weights = np.where(counted, copies * self.weights[at], 0.0)
        counted_as = np.where(counted, self.counted_as[at], codes)
        folds = np.full(len(at), -1) if self.folds is None else np.where(known, self.folds[at], -1)
        return Recognised(known, weights, counted_as, folds)
