"""Transition matrices: inverted, compared with labels, estimated from a network's predictions."""

from __future__ import annotations

import numpy as np

from rehead._typing import Array

LARGEST_CONDITION = 1e6
"""A matrix with a larger condition number is not inverted: noise would be all that is left."""


def inverse(T: Array) -> Array:
    """The inverse, in double precision; a matrix that cannot be inverted is an error."""
    condition = float(np.linalg.cond(T))
    if not condition < LARGEST_CONDITION:
        raise ValueError(
            f"The transition matrix cannot be inverted (condition number {condition:.1e}), as with "
            "flip noise of 50 % between an even number of classes. Use method 'forward', which "
            "needs no inverse."
        )
    inverted: Array = np.linalg.inv(T)
    return inverted


def check_labels_possible(T: Array, y: Array) -> None:
    """Raise if a label occurs that the matrix says never does."""
    seen = np.bincount(y, minlength=len(T)) > 0
    never = np.flatnonzero(seen & (T.max(axis=0) == 0))
    if len(never):
        raise ValueError(
            f"Label {int(never[0])} occurs, but its column of the transition matrix is 0. Rows are "
            "true classes, columns observed ones."
        )


def anchor_points(p: Array, *, percentile: float | None = 97.0) -> Array:
    """Estimate T from predicted probabilities (Patrini et al. 2017).

    Row i is the prediction at the *anchor* of class i: the sample that most surely belongs to it,
    by the largest p_i, or by the largest one strictly below a percentile of the column, which
    leaves outliers out.

    Examples
    --------
    >>> import numpy as np
    >>> T = np.array([[0.8, 0.2], [0.3, 0.7]])
    >>> anchor_points(T[[0, 1, 0, 1]], percentile=None)
    array([[0.8, 0.2],
           [0.3, 0.7]])
    """
    p = np.asarray(p, np.float64)
    T = np.empty((p.shape[1], p.shape[1]))
    for i in range(p.shape[1]):
        # A copy: the reference code writes into p itself, so that later rows get false zeros.
        column = p[:, i].copy()
        if percentile is not None:
            limit = np.percentile(column, percentile, method="higher")
            below = column < limit
            if below.any():
                column[~below] = -1.0
        T[i] = p[column.argmax()]
    result: Array = T / T.sum(axis=1, keepdims=True)
    return result


def gold_transition(p: Array, y: Array, n_classes: int, *, every_class: bool = True) -> Array:
    """Estimate T as the mean prediction over trusted samples of each class (Hendrycks 2018).

    Without ``every_class``, a class that has none gets equal chances of all labels, as in the
    reference code for text.
    """
    if every_class:
        check_every_class(y, n_classes)
    sums = np.zeros((n_classes, p.shape[1]))
    np.add.at(sums, y, np.asarray(p, np.float64))
    sums[np.bincount(y, minlength=n_classes) == 0] = 1.0
    result: Array = sums / sums.sum(axis=1, keepdims=True)
    return result


def check_every_class(y: Array, n_classes: int) -> None:
    """Raise if the trusted samples lack a class."""
    missing = np.flatnonzero(np.bincount(y, minlength=n_classes) == 0)
    if len(missing):
        raise ValueError(
            f"{len(missing)} of {n_classes} classes have no trusted sample (class {missing[0]} "
            "first), so their noise cannot be estimated. Trust at least one of each; "
            "rehead.torch.training.draw_trusted does."
        )
