"""Transition matrices: checked, and estimated from a network's predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from rehead._typing import Array

LARGEST_CONDITION = 1e6
"""A matrix with a larger condition number is not inverted: noise would be all that is left."""


def check_transition(T: Any, n_classes: int) -> Array:
    """A row-stochastic matrix in double precision; ``T[i, j] = P(observed j | true i)``."""
    matrix: Array = np.asarray(T, np.float64)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"The transition matrix must be {n_classes} x {n_classes}, one row for each true class "
            f"and one column for each observed one; got shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("The transition matrix has entries that are negative or not finite.")
    sums = matrix.sum(axis=1)
    if not np.allclose(sums, 1.0, atol=1e-6):
        row = int(np.abs(sums - 1).argmax())
        columns = np.allclose(matrix.sum(axis=0), 1.0, atol=1e-6)
        hint = " Its columns do: pass T.T." if columns else " Divide each row by its sum."
        raise ValueError(
            f"Each row of the transition matrix must sum to 1; row {row} sums to {sums[row]:.4g}."
            f"{hint}"
        )
    matrix = matrix / sums[:, None]
    return matrix


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


def gold_transition(p: Array, y: Array, n_classes: int) -> Array:
    """Estimate T as the mean prediction over trusted samples of each class (Hendrycks 2018)."""
    check_every_class(y, n_classes)
    sums = np.zeros((n_classes, p.shape[1]))
    np.add.at(sums, y, np.asarray(p, np.float64))
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
