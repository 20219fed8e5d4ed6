"""A labelled data set as the estimators see it: rows grouped by class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rehead._perrow import rows_by_class
from rehead._typing import Array, Features, Known, MappedFeatures, RowMap, some_rows
from rehead.gaussian import at_hand
from rehead.gaussian.at_hand import rows_at_hand as rows_at_hand
from rehead.gaussian.blas import syrk
from rehead.gaussian.far import far_rows
from rehead.gaussian.kernels import BLOCK, Rows, Subset, evenly_spaced
from rehead.gaussian.steps import remembered
from rehead.gaussian.tasks import map_parts
from rehead.gaussian.threads import own_threads, ranges

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
    drawn : boolean array of shape (N,) or None
        Trusted rows that were drawn at random.
    uncorrected : array of shape (N,) or None
        Classes of the labels before some were put right.
    """

    X: Features
    codes: Array
    rows: list[Array]
    weights: Array | None
    trusted: Array | None
    shifts: Array
    before: ByClass | None = None
    drawn: Array | None = None
    uncorrected: Array | None = None

    @property
    def noisy_codes(self) -> Array:
        """Labels that the noise is read off: those before any was corrected, where they are known.

        Labels that are corrected because they look wrong leave behind others that look right. These
        say less about the noise than all of them did.
        """
        return self.codes if self.uncorrected is None else self.uncorrected

    @property
    def evidence(self) -> Array:
        """Codes of labels that are to be likely: noisy ones, and those that are known to be right.

        What a class is, is known of trusted rows; how its label came about, says nothing more. But
        where labels before the correction are not known, corrected ones pass for noisy ones: labels
        that are left look right, and would vouch for any model that chose them.
        """
        if self.uncorrected is None or self.trusted is None:
            return self.codes
        return np.where(self.trusted, self.codes + np.int64(self.n_classes), self.uncorrected)

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

    @property
    def counted(self) -> Array:
        """Numbers of the rows that count: of positive weight, and not far from everything."""
        present: Array = np.sort(np.concatenate(self.rows))
        return present[self.near[present]]

    @property
    def known(self) -> Known:
        """What is known of the labels."""
        return Known(self.trusted, self.drawn, self.uncorrected)

    def with_known(self, known: Known) -> ByClass:
        """The same rows, some of which have labels that are known to be right."""
        trusted, drawn, uncorrected = known
        if trusted is None and uncorrected is None:
            return self
        return replace(self, trusted=trusted, drawn=drawn, uncorrected=uncorrected)

    def mapped(self, row_map: RowMap, parts: int = 1) -> ByClass:
        """The same rows after a map of their features.

        They are read many times, so they are kept in memory where that is little: this, and as many
        other ``parts`` as there are at the same time.
        """
        lazy = MappedFeatures(self.X, row_map)
        size = len(lazy) * lazy.shape[1] * lazy.dtype.itemsize
        X = lazy[:] if size * parts <= at_hand.IN_MEMORY else lazy
        return replace(self, X=X, shifts=_points_near(X, self.rows), before=self)

    def of_classes(self, classes: slice) -> ByClass:
        """Some of the classes, without the rows of the others: to be sent away."""
        rows = self.rows[classes]
        numbers, bounds = np.concatenate(rows), np.cumsum([0, *map(len, rows)])
        return ByClass(
            some_rows(self.X, numbers),
            self.codes[numbers] - (classes.start or 0),
            [np.arange(a, b) for a, b in pairwise(bounds.tolist())],
            None if self.weights is None else self.weights[numbers],
            None if self.trusted is None else self.trusted[numbers],
            self.shifts[classes],
        )

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
    drawn: Array | None = None,
) -> ByClass:
    """Group rows by class code 0 .. C-1.

    Examples
    --------
    >>> import numpy as np
    >>> data = group_by_class(np.eye(3), np.array([1, 0, 1]), 2)
    >>> [rows.tolist() for rows in data.rows]
    [[1], [0, 2]]
    """
    rows = rows_by_class(codes, n_classes, None if weights is None else weights > 0)
    shifts = _points_near(X, rows)
    return ByClass(X, codes, rows, weights, trusted, shifts, drawn=drawn)


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


class SomeClasses(NamedTuple):
    """Rows of some classes, one class after the other, of which moments are formed.

    Attributes
    ----------
    features : features
    row_numbers : array of shape (n,)
    bounds : array
        Where the rows of each class begin, and where those of the last one end.
    shifts : array of shape (classes, d)
    weights : array of shape (n,) or None
    dtype : dtype or None
        Of the moments; that of the features by default.
    """

    features: Features
    row_numbers: Array
    bounds: Array
    shifts: Array
    weights: Array | None
    dtype: Any


class ClassSums(NamedTuple):
    """Of some classes: weights, sums of the rows about the shifts, and the Gram matrix of all."""

    weights: Array
    totals: Array
    gram: Array


def class_sums(part: SomeClasses) -> ClassSums:
    """Add up rows; a block may span classes."""
    bounds, w, (n_classes, d) = part.bounds, part.weights, part.shifts.shape
    rows = Rows(part.features, part.dtype, most=len(part.row_numbers))
    weights, totals = np.zeros(n_classes), np.zeros((n_classes, d))
    gram = np.zeros((d, d), rows.dtype, order="F")
    for where, block in rows.blocks(part.row_numbers, np.zeros(d)):
        start, stop = where.start, where.stop
        first, last = np.searchsorted(bounds, [start, stop - 1], side="right") - 1
        for c in range(first, last + 1):
            a, b = max(bounds[c], start), min(bounds[c + 1], stop)
            of_class = block[a - start : b - start]
            of_class -= part.shifts[c]
            weights[c] += b - a if w is None else w[a:b].sum()
            totals[c] += of_class.sum(axis=0) if w is None else w[a:b] @ of_class
        if w is not None:
            block *= np.sqrt(w[start:stop])[:, None]
        syrk(gram, block, 1.0)
    return ClassSums(weights, totals, gram)


@remembered(lambda found: PooledMoments(*found))
@own_threads()
def pooled_moments(data: ByClass, subsets: list[Subset], dtype: Any = None) -> PooledMoments:
    """Means and within-class scatter of a subset of each class, in one pass over its rows.

    A block may span classes, so that thousands of small classes cost no more than a few large
    ones.
    """
    weighted = any(s.weights is not None for s in subsets)

    def pick(c: int, of: slice) -> Picked:
        positions, w = subsets[c]
        found = data.rows[c][positions[of]]
        if weighted:
            w = np.ones(len(found)) if w is None else w[of]
        return Picked(found, w)

    return _moments_of_picked(data, [len(s.positions) for s in subsets], pick, dtype)


@own_threads()
def weighted_moments(data: ByClass, factors: Sequence[Array], dtype: Any = None) -> PooledMoments:
    """Those of all rows, which count by the product of some numbers of each row."""

    def pick(c: int, of: slice) -> Picked:
        found = data.rows[c][of]
        weights = np.ones(len(found))
        for factor in factors:
            weights *= factor[found]
        return Picked(found, weights)

    return _moments_of_picked(data, list(map(len, data.rows)), pick, dtype)


class Picked(NamedTuple):
    """Numbers of some rows of a class, and how often each counts (``None``: once)."""

    rows: Array
    weights: Array | None


def _picked(
    pick: Callable[[int, slice], Picked], classes: slice, bounds: Array, span: slice
) -> Picked:
    """The rows of a span, which are of these classes, one class after the other."""
    n, rows, weights = span.stop - span.start, None, None
    for c in range(classes.start, classes.stop):
        first = int(bounds[c])
        found = pick(c, slice(max(span.start - first, 0), span.stop - first))
        at = slice(max(first - span.start, 0), max(first - span.start, 0) + len(found.rows))
        if rows is None:
            rows = np.empty(n, found.rows.dtype)
            weights = None if found.weights is None else np.empty(n)
        rows[at] = found.rows
        if weights is not None:
            weights[at] = found.weights
    assert rows is not None
    return Picked(rows, weights)


def _moments_of_picked(
    data: ByClass, sizes: list[int], pick: Callable[[int, slice], Picked], dtype: Any
) -> PooledMoments:
    """Moments of as many rows of each class; which these are is asked a span at a time."""
    C, d = data.n_classes, data.n_features
    bounds = np.cumsum([0, *sizes])
    n = int(bounds[-1])
    flops = float(n) * d * d
    spans = ranges(n, flops, BLOCK)
    # The classes that a span begins and ends in; only these are looked at.
    ends = [np.searchsorted(bounds, [s.start, s.stop - 1], side="right") - 1 for s in spans]
    classes = [slice(int(first), int(last) + 1) for first, last in ends]

    def parts() -> Iterator[SomeClasses]:
        for span, of in zip(spans, classes, strict=True):
            cut = bounds[of.start : of.stop + 1].clip(span.start, span.stop) - span.start
            picked = _picked(pick, of, bounds, span)
            yield SomeClasses(data.X, picked.rows, cut, data.shifts[of], picked.weights, dtype)

    weights, totals, gram = np.zeros(C), np.zeros((C, d)), np.zeros((d, d), order="F")
    for of, sums in zip(classes, map_parts(class_sums, parts(), flops, data.X), strict=True):
        weights[of] += sums.weights
        totals[of] += sums.totals
        gram += sums.gram
    return from_sums(data, weights, totals, gram)


def from_sums(data: ByClass, weights: Array, totals: Array, gram: Array) -> PooledMoments:
    """Means and scatter, from sums about the shifts."""
    # A class that lost all its rows keeps its shift as mean; its weight is 0.
    relative = totals / np.maximum(weights, np.finfo(float).tiny)[:, None]
    scatter = gram - totals.T @ relative
    return PooledMoments(weights, data.shifts + relative, np.asfortranarray(scatter))
