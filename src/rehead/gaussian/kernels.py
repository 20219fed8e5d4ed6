"""The few dense operations that cost time, each as cheap as the hardware allows.

Three facts shape this file (measured in ``benchmarks/core.py``):

- the covariance of n rows is a symmetric product (``syrk``): half the work of a matrix product;
- distances under a covariance need its Cholesky factor and one triangular solve (``trsm``): half
  the work of multiplying with an inverse, and better conditioned;
- both run at full speed on blocks of five hundred rows, so rows are gathered, centred and used
  block by block in one small buffer. The copy never leaves the cache, ``X`` may be a memory map,
  and the extra memory does not grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import BLOCK as BLOCK
from rehead._typing import Array, Features
from rehead.gaussian.blas import potrf, syrk, trsm


class IllConditionedError(ArithmeticError):
    """The working precision cannot represent the inverse of a covariance."""


class Rows:
    """Rows of ``X``, handed out in centred blocks of a working precision.

    One buffer serves all blocks: a block is valid until the next one is asked for, and may be
    overwritten by its reader. ``most`` is the largest number of rows that will be asked for.
    """

    def __init__(self, X: Features, dtype: Any = None, *, most: int | None = None) -> None:
        self.X = X
        self.dtype = np.dtype(X.dtype if dtype is None else dtype)
        n = min(BLOCK, len(X) if most is None else most)
        self._buffer = np.empty((n, X.shape[1]), self.dtype)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def blocks(self, index: Array | slice, centre: Array) -> Iterator[tuple[slice, Array]]:
        """Yield ``(where in index, X[index] - centre)`` block by block."""
        centre = centre.astype(self.dtype, copy=False)
        n = index.stop - index.start if isinstance(index, slice) else len(index)
        for a in range(0, n, BLOCK):
            b = min(a + BLOCK, n)
            out = self._buffer[: b - a]
            if isinstance(index, slice):
                np.subtract(self.X[index.start + a : index.start + b], centre, out=out)
            elif isinstance(self.X, np.ndarray) and self.X.dtype == self.dtype:
                # "clip" lets take write straight into the buffer; the indices are always in range.
                np.take(self.X, index[a:b], axis=0, out=out, mode="clip")
                out -= centre
            else:
                np.subtract(self.X[index[a:b]], centre, out=out)
            yield slice(a, b), out


class Moments(NamedTuple):
    """Weight, sum and Gram matrix of some rows about a shift. Lower triangle only."""

    weight: float
    total: Array
    gram: Array

    @property
    def mean(self) -> Array:
        """Mean, relative to the shift."""
        mean: Array = self.total / self.weight
        return mean

    def scatter(self) -> Array:
        """``sum w (x - mean)(x - mean)'``: the covariance times its weight (a new array)."""
        # The transpose of the (symmetric) outer product is in Fortran order, like the Gram matrix.
        scatter: Array = np.outer(self.total, self.mean).T
        return np.subtract(self.gram, scatter, out=scatter)


def moments(
    rows: Rows, index: Array | slice, shift: Array, weights: Array | None = None
) -> Moments:
    """Moments of ``X[index]`` about ``shift``; with weights, a row counts that many times."""
    d = rows.n_features
    empty = Moments(0.0, np.zeros(d, rows.dtype), np.zeros((d, d), rows.dtype, order="F"))
    return update_moments(rows, empty, index, shift, weights=weights)


def update_moments(
    rows: Rows,
    m: Moments,
    index: Array | slice,
    shift: Array,
    *,
    sign: float = 1.0,
    weights: Array | None = None,
) -> Moments:
    """Add (``sign=1``) or take away (``sign=-1``) rows. ``m`` is used up: its arrays are reused."""
    weight, total, gram = m
    for where, block in rows.blocks(index, shift):
        if weights is None:
            weight += sign * len(block)
            total += sign * block.sum(axis=0)
        else:
            w = weights[where].astype(rows.dtype)
            weight += sign * float(w.sum(dtype=np.float64))
            total += sign * (w @ block)
            block *= np.sqrt(w)[:, None]
        syrk(gram, block, sign)
    return Moments(weight, total, gram)


class Factor(NamedTuple):
    """A Cholesky factor ``L`` (lower, Fortran order; the upper triangle is not used).

    ``slack`` is the smallest share of a feature's variance that the features before it do not
    explain, ``min_j L_jj^2 / S_jj``. It says how many digits the factorisation lost, and unlike
    the condition number it does not mind features of different scale, nor does the factorisation.
    """

    lower: Array
    log_det: float
    slack: float


MIN_SLACK = {"f": 1e-5, "d": 1e-13}
"""Slack below which a precision is not trusted with an inverse."""


def cholesky(covariance: Array, *, overwrite: bool = False) -> Factor:
    """Factor a covariance of which the lower triangle is given; it may be used up for that.

    Features that do not vary at all are given the average variance: no row differs in them, so any
    positive value leaves every distance between the rows as it is.

    Raises
    ------
    IllConditionedError
        If the matrix is not positive definite, or too close to singular for its precision.
    """
    a = np.array(covariance, order="F", copy=None if overwrite else True)
    diagonal = np.einsum("ii->i", a)
    constant = diagonal <= 0
    if constant.any():
        varying = diagonal[~constant]
        diagonal[constant] = varying.mean() if len(varying) else 1.0
    variances = diagonal.copy()
    # The diagonal is a view: after potrf it holds the pivots.
    slack = float((diagonal**2 / variances).min()) if potrf(a) else 0.0
    if not slack > MIN_SLACK[covariance.dtype.char]:
        raise IllConditionedError(f"slack {slack:.1e}")
    return Factor(a, 2.0 * float(np.log(diagonal, dtype=np.float64).sum()), slack)


def whiten(block: Array, factor: Factor) -> Array:
    """Overwrite the rows ``x`` of a block by ``L^-1 x``: covariance becomes identity."""
    trsm(factor.lower.astype(block.dtype, copy=False), block)
    return block


def squared_norms(block: Array) -> Array:
    """Squared Euclidean norm of each row."""
    norms: Array = np.einsum("ij,ij->i", block, block)
    return norms


def mahalanobis(rows: Rows, index: Array | slice, centre: Array, factor: Factor) -> Array:
    """Squared Mahalanobis distance of the rows ``X[index]`` to ``centre``."""
    parts = [squared_norms(whiten(block, factor)) for _, block in rows.blocks(index, centre)]
    return np.concatenate(parts) if parts else np.empty(0, rows.dtype)


class Subset(NamedTuple):
    """Positions in a class (sorted), and how much of each row counts (``None``: all of it)."""

    positions: Array
    weights: Array | None = None


def select_smallest(score: Array, k: float, weights: Array | None = None) -> Subset:
    """Select the ``k`` rows with the smallest score.

    With weights, rows are taken in order of their score until their weights add up to ``k``; the
    last one may count in part. For whole weights that is the same as repeating rows.
    """
    if weights is None:
        k = min(int(k), len(score))
        index = np.argpartition(score, k - 1)[:k] if k < len(score) else np.arange(k)
        return Subset(np.sort(index))
    order = np.argsort(score, kind="stable")
    before = np.cumsum(weights[order]) - weights[order]
    taken = np.empty_like(weights)
    taken[order] = np.clip(k - before, 0.0, weights[order])
    index = np.flatnonzero(taken > 0)
    return Subset(index, taken[index])


def evenly_spaced(n: int, most: int) -> Array:
    """Numbers of at most ``most`` of n rows, evenly spaced from the first to the last.

    Examples
    --------
    >>> evenly_spaced(10, 4), evenly_spaced(2, 4)
    (array([0, 3, 6, 9]), array([0, 1]))
    """
    return np.linspace(0, n - 1, min(most, n)).astype(np.int64)
