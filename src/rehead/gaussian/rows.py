"""A labelled data set as the estimators see it: rows grouped by class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array, Features, MappedFeatures, RowMap
from rehead.gaussian.blas import syrk
from rehead.gaussian.far import far_rows
from rehead.gaussian.kernels import BLOCK, Moments, Rows, Subset, evenly_spaced
from rehead.gaussian.threads import ordered_map, own_threads, ranges

IN_MEMORY = 64 * 2**20
"""Bytes that mapped or joined rows may take; more are made anew each time they are read."""
SHIFT_ROWS = 15
"""Rows whose median is subtracted before anything is multiplied. A handful is enough: the point is
to remove an offset many times the spread, which single precision would not survive. A mean would
follow far outliers."""


@dataclass(frozen=True, eq=False)
class ByClass:
    """Features, and for each class the rows that carry its label.

    Attributes
    ----------
    X : array of shape (N, d)
    codes : array of shape (N,)
        The class of each row.
    rows : list of C sorted index arrays
    weights : array of shape (N,) or None
        How many times a row counts. Rows of weight 0 are not in ``rows``.
    trusted : boolean array of shape (N,) or None
        Rows whose label is known to be right: never trimmed.
    shifts : array of shape (C, d)
        A point near each class, subtracted before moments are formed.
    before : ByClass or None
        The rows as they were, where ``X`` is a map of them.
    """

    X: Features
    codes: Array
    rows: list[Array]
    weights: Array | None
    trusted: Array | None
    shifts: Array
    before: ByClass | None = None

    @property
    def n_classes(self) -> int:
        return len(self.rows)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def near(self) -> Array:
        """A mask of the rows that are not far from everything, found once.

        Trusted ones are among them, and no class is left empty. A map hides what is far, so far
        rows are those that were far before it.
        """
        before = self.before
        near = ~far_rows(self.X, self.weights) if before is None else before.near.copy()
        if self.trusted is not None:
            near |= self.trusted
        for rows in self.rows:
            if not near[rows].any():
                near[rows] = True
        return near

    def with_trusted(self, trusted: Array | None) -> ByClass:
        """The same rows, some of which have labels that are known to be right."""
        return self if trusted is None else replace(self, trusted=trusted)

    def mapped(self, row_map: RowMap) -> ByClass:
        """The same rows after a map of their features.

        They are read many times, so they are kept in memory where that is little.
        """
        lazy = MappedFeatures(self.X, row_map)
        size = len(lazy) * lazy.shape[1] * lazy.dtype.itemsize
        X = lazy[:] if size <= IN_MEMORY else lazy
        return replace(self, X=X, shifts=_points_near(X, self.rows), before=self)

    def class_weights(self, c: int) -> Array | None:
        """Weights of the rows of class ``c``."""
        return None if self.weights is None else self.weights[self.rows[c]]

    def class_size(self, c: int) -> float:
        """N_c: how many samples the class has, counted with their weights."""
        w = self.class_weights(c)
        return float(len(self.rows[c]) if w is None else w.sum())

    def whole(self, c: int) -> Subset:
        """All rows of a class."""
        return Subset(np.arange(len(self.rows[c])), self.class_weights(c))

    def favour_trusted(self, c: int, score: Array) -> Array:
        """Scores in which trusted rows come first."""
        if self.trusted is None:
            return score
        return np.where(self.trusted[self.rows[c]], -np.inf, score)

    def trusted_size(self, c: int) -> float:
        """Number of trusted samples of a class, counted with their weights."""
        if self.trusted is None:
            return 0.0
        keep = self.trusted[self.rows[c]]
        w = self.class_weights(c)
        return float(keep.sum() if w is None else w[keep].sum())


def group_by_class(
    X: Features,
    codes: Array,
    n_classes: int,
    *,
    weights: Array | None = None,
    trusted: Array | None = None,
) -> ByClass:
    """Group rows by class code 0 .. C-1.

    Examples
    --------
    >>> import numpy as np
    >>> data = group_by_class(np.eye(3), np.array([1, 0, 1]), 2)
    >>> [rows.tolist() for rows in data.rows]
    [[1], [0, 2]]
    """
    order = np.argsort(codes, kind="stable")
    if weights is not None:
        order = order[weights[order] > 0]
    bounds = np.searchsorted(codes[order], np.arange(n_classes + 1))
    rows = [order[a:b] for a, b in pairwise(bounds)]
    return ByClass(X, codes, rows, weights, trusted, _points_near(X, rows))


def _points_near(X: Features, rows: list[Array]) -> Array:
    """A point near each class."""
    return np.stack([_point_near(X, r) for r in rows])


def _point_near(X: Features, rows: Array) -> Array:
    """Median of a few rows, feature by feature; so exactly the value of a constant one."""
    if not len(rows):
        return np.zeros(X.shape[1], X.dtype)
    sampled = X[rows[evenly_spaced(len(rows), SHIFT_ROWS)]]
    middle = len(sampled) // 2
    point: Array = np.partition(sampled, middle, axis=0)[middle]
    return point


def rows_at_hand(X: Features, rows: Array) -> tuple[Features, Array]:
    """Some rows that are read many times, and their numbers in what holds them.

    What is made each time it is asked for is made once, where that is little: mapped rows, which
    cost most, and others if they are few of all, or small.
    """
    size = len(rows) * X.shape[1] * X.dtype.itemsize
    little = max(IN_MEMORY, len(X) * X.shape[1] * X.dtype.itemsize // 4)
    if isinstance(X, np.ndarray) or (size > little and not isinstance(X, MappedFeatures)):
        return X, rows
    made = np.empty((len(rows), X.shape[1]), X.dtype)
    for a in range(0, len(rows), BLOCK):
        made[a : a + BLOCK] = X[rows[a : a + BLOCK]]
    return made, np.arange(len(rows))


class PooledMoments(NamedTuple):
    """What the tied Gaussians are made of: class weights, class means, within-class scatter."""

    weights: Array
    means: Array
    scatter: Array

    @property
    def covariance(self) -> Array:
        """Equation 1, and step (b) of the two-step scheme: classes weighted by their size."""
        covariance: Array = self.scatter / self.weights.sum()
        return covariance


class Total(NamedTuple):
    """All samples as one: how many, their mean, and their scatter about it."""

    weight: float
    mean: Array
    scatter: Array

    @classmethod
    def from_pooled(cls, m: PooledMoments) -> Total:
        """Add what is between the classes to what is within them."""
        n = float(m.weights.sum())
        mean = m.weights @ m.means / n
        apart = (m.means - mean) * np.sqrt(m.weights)[:, None]
        return cls(n, mean, m.scatter + apart.T @ apart)

    def within(self, weights: Array, means: Array) -> PooledMoments:
        """Take what is between classes away again."""
        apart = (means - self.mean) * np.sqrt(weights)[:, None]
        return PooledMoments(weights, means, np.asfortranarray(self.scatter - apart.T @ apart))


def pool(data: ByClass, parts: Iterable[tuple[int, Moments]]) -> PooledMoments:
    """Add up the moments of the classes (about their shifts), one class at a time."""
    C, d = data.n_classes, data.n_features
    weights, totals = np.zeros(C), np.zeros((C, d))
    gram = np.zeros((d, d), order="F")
    for c, m in parts:
        weights[c], totals[c] = m.weight, m.total
        gram += m.gram
    return _from_sums(data, weights, totals, gram)


@own_threads()
def pooled_moments(data: ByClass, subsets: list[Subset], dtype: Any = None) -> PooledMoments:
    """Means and within-class scatter of a subset of each class, in one pass over its rows.

    A block may span classes, so that thousands of small classes cost no more than a few large
    ones.
    """
    C, d = data.n_classes, data.n_features
    index = np.concatenate([data.rows[c][s.positions] for c, s in enumerate(subsets)])
    bounds = np.cumsum([0] + [len(s.positions) for s in subsets])
    weighted = any(s.weights is not None for s in subsets)
    w = np.concatenate([_weights(s) for s in subsets]) if weighted else None

    def part(span: slice) -> tuple[Array, Array, Array]:
        rows = Rows(data.X, dtype, most=span.stop - span.start)
        weights, totals = np.zeros(C), np.zeros((C, d))
        gram = np.zeros((d, d), rows.dtype, order="F")
        for where, block in rows.blocks(index[span], np.zeros(d)):
            start, stop = span.start + where.start, span.start + where.stop
            first, last = np.searchsorted(bounds, [start, stop - 1], side="right") - 1
            for c in range(first, last + 1):
                a, b = max(bounds[c], start), min(bounds[c + 1], stop)
                of_class = block[a - start : b - start]
                of_class -= data.shifts[c]
                weights[c] += b - a if w is None else w[a:b].sum()
                totals[c] += of_class.sum(axis=0) if w is None else w[a:b] @ of_class
            if w is not None:
                block *= np.sqrt(w[start:stop])[:, None]
            syrk(gram, block, 1.0)
        return weights, totals, gram

    flops = float(len(index)) * d * d
    weights, totals, gram = np.zeros(C), np.zeros((C, d)), np.zeros((d, d), order="F")
    for sums in ordered_map(part, ranges(len(index), flops, BLOCK), flops):
        weights += sums[0]
        totals += sums[1]
        gram += sums[2]
    return _from_sums(data, weights, totals, gram)


def _weights(subset: Subset) -> Array:
    return np.ones(len(subset.positions)) if subset.weights is None else subset.weights


def _from_sums(data: ByClass, weights: Array, totals: Array, gram: Array) -> PooledMoments:
    # A class that lost all its rows keeps its shift as mean; its weight is 0.
    relative = totals / np.maximum(weights, np.finfo(float).tiny)[:, None]
    scatter = gram - totals.T @ relative
    return PooledMoments(weights, data.shifts + relative, np.asfortranarray(scatter))
