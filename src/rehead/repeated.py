"""Rows that occur more than once, with the same label: one row, which counts that often.

Then rows that are repeated and rows with that weight give the same, whatever is drawn at random:
the rows that noise, maps and folds are found with are drawn among different ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._rowhash import fingerprint
from rehead._typing import Array, some_rows
from rehead.gaussian import ByClass, Fit, group_by_class
from rehead.gaussian.steps import remembered


class Repeated(NamedTuple):
    """All rows, the different ones among them, and which of these each row is.

    ``share`` is the part of a different row that each row is: a half, if there are two of it.
    """

    every: ByClass
    different: ByClass
    which: Array
    share: Array

    def spread(self, fit: Fit) -> Fit:
        """What was found of the different rows, for every row."""
        if self.different is self.every:
            return fit
        inside, second = fit.composition, fit.second
        weights = inside.weights[self.which] * self.share
        return fit._replace(
            composition=inside._replace(weights=weights, counted_as=inside.counted_as[self.which]),
            second=None if second is None else second._replace(folds=second.folds[self.which]),
        )


def without_repetition(data: ByClass) -> Repeated:
    """The different rows, in the order in which they first occur.

    Rows with the same features and label are the same, unless only one of them is trusted, or their
    labels were different before they were corrected.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    >>> found = without_repetition(group_by_class(X, y, 2))
    >>> found.different.X.ravel(), found.different.weights, found.share
    (array([1., 2., 1.]), array([2., 1., 1.]), array([0.5, 1. , 0.5, 1. ]))
    """
    n = len(data.codes)
    of_row = data.codes if data.trusted is None else data.codes + data.n_classes * data.trusted
    if data.uncorrected is not None:
        of_row = of_row + 2 * data.n_classes * data.uncorrected
    hashes = remembered(np.asarray)(fingerprint)(data.X, of_row)
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) == n:
        return Repeated(data, data, np.arange(n), np.ones(n))
    order = np.argsort(first)
    rows = first[order]
    which = np.argsort(order)[which]
    own = np.ones(n) if data.weights is None else data.weights
    total = np.bincount(which, weights=own)
    different = group_by_class(
        data.X[rows] if isinstance(data.X, np.ndarray) else some_rows(data.X, rows),
        data.codes[rows],
        data.n_classes,
        weights=total,
    ).with_known(data.known.take(rows))
    share = own / np.maximum(total[which], np.finfo(float).tiny)
    return Repeated(data, different, which, share)
