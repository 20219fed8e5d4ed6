"""Moments of rows grouped by class: weights, means and one scatter, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array, Features
from rehead.gaussian.blas import syrk
from rehead.gaussian.kernels import BLOCK, Rows, Subset
from rehead.gaussian.rows import ByClass
from rehead.gaussian.steps import remembered
from rehead.gaussian.tasks import map_parts
from rehead.gaussian.threads import own_threads, ranges


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
