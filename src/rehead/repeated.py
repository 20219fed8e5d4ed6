"""Rows that occur more than once, with the same label: one row, which counts that often.

Then rows that are repeated and rows with that weight give the same, whatever is drawn at random:
the rows that noise, maps and folds are found with are drawn among different ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._perrow import number_type, spans_of
from rehead._rowhash import fingerprint
from rehead._typing import Array, some_rows
from rehead.gaussian import ByClass, Fit, group_by_class
from rehead.gaussian.steps import remembered


class Repeated(NamedTuple):
    """All rows, the different ones among them, and which of these each row is.

    ``which`` is None where all are different.
    """

    every: ByClass
    different: ByClass
    which: Array | None = None

    @property
    def share(self) -> Array:
        """The part of a different row that each row is: a half, if there are two of it."""
        own, total = self.every.weights, self.different.weights
        if self.which is None or total is None:
            return np.ones(len(self.every.codes))
        of_row = np.maximum(total, np.finfo(float).tiny)[self.which]
        share: Array = (1.0 if own is None else own) / of_row
        return share

    def spread(self, fit: Fit) -> Fit:
        """What was found of the different rows, for every row."""
        if self.which is None:
            return fit
        inside, second = fit.composition, fit.second
        weights = inside.weights[self.which]
        weights *= self.share
        return fit._replace(
            composition=inside._replace(weights=weights, counted_as=inside.counted_as[self.which]),
            second=None if second is None else second._replace(folds=second.folds[self.which]),
        )


def without_repetition(data: ByClass) -> Repeated:
    """The different rows, in the order in which they first occur.

    Rows with the same features and label are the same, if the same is known of their labels:
    whether they are right, whether they were drawn at random, what they were before a correction.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    >>> found = without_repetition(group_by_class(X, y, 2))
    >>> found.different.X.ravel(), found.different.weights, found.share
    (array([1., 2., 1.]), array([2., 1., 1.]), array([0.5, 1. , 0.5, 1. ]))
    """
    n, of_row, kinds = len(data.codes), data.codes, np.int64(data.n_classes)
    for known, n_values in zip(data.known, (2, 2, data.n_classes), strict=True):
        if known is not None:
            of_row = of_row + kinds * known
            kinds *= n_values
    first = first_alike(remembered(np.asarray)(fingerprint)(data.X, of_row))
    if first is None:
        return Repeated(data, data)
    is_first = first == np.arange(n, dtype=first.dtype)
    rows = np.flatnonzero(is_first).astype(first.dtype)
    which = (np.cumsum(is_first, dtype=first.dtype) - 1)[first]
    total = np.bincount(which, weights=data.weights).astype(np.float64)
    different = group_by_class(
        data.X[rows] if isinstance(data.X, np.ndarray) else some_rows(data.X, rows),
        data.codes[rows],
        data.n_classes,
        weights=total,
    ).with_known(data.known.take(rows))
    return Repeated(data, different, which)


def first_alike(numbers: Array) -> Array | None:
    """Where each of some numbers first occurs; None where they are all different.

    Examples
    --------
    >>> import numpy as np
    >>> first_alike(np.array([5, 7, 5])), first_alike(np.array([5, 7]))
    (array([0, 1, 0], dtype=int32), None)
    """
    ranked = np.sort(numbers)
    repeated = np.unique(ranked[1:][ranked[1:] == ranked[:-1]])
    if not len(repeated):
        return None
    del ranked
    # Mostly few are repeated: only those are looked at.
    found = []
    for span in spans_of(len(numbers)):
        at = np.searchsorted(repeated, numbers[span]).clip(max=len(repeated) - 1)
        found.append(span.start + np.flatnonzero(repeated[at] == numbers[span]))
    alike = np.concatenate(found)
    _, at, which = np.unique(numbers[alike], return_index=True, return_inverse=True)
    first = np.arange(len(numbers), dtype=number_type(len(numbers)))
    first[alike] = alike[at][which]
    return first
