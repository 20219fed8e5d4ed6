"""How likely noisy labels are under scores, in one pass: the value, its slopes, its curvature.

With scores s_c of a row, a slope a and a weight b_c for each class,

    p_c ~ b_c exp(a s_c),        P(y | x) = sum_c p_c T[c, y] = sum_c A_c b_c / sum_c E_c b_c

for E_c = exp(a s_c) and A_c = E_c T[c, y]. So for one slope there is one exponential of each score,
and all else are products of E and A with vectors: the shares of the classes do not need another
one. Rows are worked on in blocks that stay in the cache, in the precision of the scores; sums over
rows are in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.kernels import evenly_spaced
from rehead.gaussian.probability import LEAST_PROBABILITY, with_known_labels
from rehead.gaussian.settings import SETTINGS

BLOCK_OF_SCORES = 2**16
"""Scores that are worked on at a time: a few copies of them stay in the cache."""
LOWEST_SCORE = -1e30
"""Scores below the best one by more are cut off here: their squares are numbers in any precision,
as long as they are multiplied by an exponential of theirs first."""
WORTH_IT = 4
"""To keep some classes of each row is worth it if there are this many times as many."""
FEW_SCORES, FEW_ROWS = 10**5, 1_000
"""Scores that a first look costs nothing at, and rows that are enough for it."""
STEPS, CLOSE, LONGEST = 50, 1e-7, 1.0
"""Of the search for a temperature: steps at most, when it ends, and the longest step."""
FLAT = 1e-12
"""Differences, and slopes, that mean nothing: labels that are known by heart have no others."""


class Found(NamedTuple):
    """``-mean log P(y | x)``, and its first and second derivative by the logarithm of the slope.

    ``of_classes`` are its derivatives by the logarithms of the class weights.
    """

    value: float
    slope: float
    curvature: float
    of_classes: Array


class LabelLikelihood(NamedTuple):
    """Of noisy labels, given scores (relative to the best one of each row).

    Some may be known to be right (:func:`rehead.gaussian.probability.with_known_labels`).

    ``share`` is how much each row counts, ``of_label`` how likely classes make a label: T
    transposed. Of very many classes only the best ones of each row are kept, the label first:
    ``classes`` are their numbers, and ``of_label`` has a row for each row. What is far behind that
    many others has no part in any sum.
    """

    scores: Array
    codes: Array
    share: Array
    of_label: Array
    classes: Array | None = None

    @classmethod
    def of(
        cls, scores: Array, codes: Array, transition: Array, counts: Array | None
    ) -> LabelLikelihood:
        """From scores, labels, T, and how often each row counts."""
        counts = np.ones(len(codes)) if counts is None else counts
        scores = scores.astype(precision_of(scores), copy=False)
        share, (n, n_classes) = counts / counts.sum(), scores.shape
        of_label = np.ascontiguousarray(with_known_labels(transition, codes).T, scores.dtype)
        kept = SETTINGS.near_classes
        if n_classes < WORTH_IT * kept:
            return cls(_below_best(scores), codes, share, of_label)
        classes, found = np.empty((n, kept), np.int32), np.empty((2, n, kept), scores.dtype)
        for rows in blocks(scores):
            near = classes[rows] = _near(scores[rows], codes[rows] % n_classes, kept)
            found[0, rows] = _below_best(np.take_along_axis(scores[rows], near, axis=1))
            found[1, rows] = of_label[codes[rows, None], near]
        return cls(found[0], codes, share, found[1], classes)

    def some(self) -> LabelLikelihood:
        """Of some rows, evenly spaced among those that count; all where they are few."""
        if self.scores.size <= FEW_SCORES:
            return self
        counted = np.flatnonzero(self.share > 0)
        rows = counted[evenly_spaced(len(counted), FEW_ROWS)]
        share = self.share[rows] / self.share[rows].sum()
        some = LabelLikelihood(self.scores[rows], self.codes[rows], share, self.of_label)
        if self.classes is None:
            return some
        return some._replace(of_label=self.of_label[rows], classes=self.classes[rows])

    def at(self, log_slope: float, weights: Array, *, of_classes: bool = False) -> Found:
        """Value and derivatives in one pass; those of the classes only where asked for."""
        value = first = second = 0.0
        towards = np.zeros(len(weights) if of_classes else 0)
        for block in self._blocks(log_slope, weights):
            share = self.share[block.rows]
            e, a = _sums(block.E, block.u), _sums(block.A, block.u)
            likelihood = a.total / e.total
            value -= float(share @ np.log(np.maximum(likelihood, LEAST_PROBABILITY)))
            told = np.where(likelihood > LEAST_PROBABILITY, share, 0.0)
            first -= float(told @ (a.mean - e.mean))
            second -= float(told @ (a.mean - e.mean + a.variance - e.variance))
            if of_classes:
                towards -= block.by_class(block.A, told / a.total, len(weights))
                towards += block.by_class(block.E, told / e.total, len(weights))
        return Found(value, first, second, towards)

    def value(self, log_slope: float, weights: Array) -> float:
        """The value alone."""
        value = 0.0
        for block in self._blocks(log_slope, weights):
            likelihood = np.maximum(_total(block.A) / _total(block.E), LEAST_PROBABILITY)
            value -= float(self.share[block.rows] @ np.log(likelihood))
        return value

    def shares(self, log_slope: float, weights: Array) -> Array:
        """Mean of ``P(c | x, y)``: a step of expectation-maximisation for the class weights."""
        found = np.zeros(len(weights))
        for block in self._blocks(log_slope, weights):
            each = self.share[block.rows] / _total(block.A)
            found += block.by_class(block.A, each, len(weights))
        return found

    def trust(self, log_slope: float, weights: Array) -> Array:
        """``P(c | x, y)`` of each label: how probable it is that it is right."""
        trust = np.empty(len(self.codes))
        for block in self._blocks(log_slope, weights):
            codes = self.codes[block.rows] % len(weights)
            own = block.A[np.arange(len(codes)), codes if self.classes is None else 0]
            trust[block.rows] = own / _total(block.A)
        return trust

    def _blocks(self, log_slope: float, weights: Array) -> Iterator[_Block]:
        b, slope = weights.astype(self.scores.dtype), self.scores.dtype.type(np.exp(log_slope))
        for rows in blocks(self.scores):
            u = self.scores[rows] * slope
            E = np.exp(u)
            if self.classes is None:
                E *= b
                yield _Block(rows, u, E, E * self.of_label[self.codes[rows]], None)
            else:
                classes = self.classes[rows]
                E *= b[classes]
                yield _Block(rows, u, E, E * self.of_label[rows], classes)


class _Block(NamedTuple):
    """Some rows: ``a s``, ``E b`` and ``A b``, and the classes that they are of (None: all)."""

    rows: slice
    u: Array
    E: Array
    A: Array
    classes: Array | None

    def by_class(self, terms: Array, each: Array, n_classes: int) -> Array:
        """``sum_i each_i terms_ic`` of each class."""
        each = each.astype(terms.dtype)
        if self.classes is None:
            found: Array = each @ terms
            return found
        return np.bincount(self.classes.ravel(), (terms * each[:, None]).ravel(), n_classes)


class _Sums(NamedTuple):
    """Of terms of each row; mean and variance of u, weighted by them."""

    total: Array
    mean: Array
    variance: Array


def _sums(terms: Array, u: Array) -> _Sums:
    total, moved = _total(terms), terms * u
    mean = _sum(moved) / total
    moved *= u
    return _Sums(total, mean, _sum(moved) / total - mean**2)


def _total(terms: Array) -> Array:
    """Sums of rows that something is divided by."""
    total: Array = np.maximum(_sum(terms), np.finfo(terms.dtype).tiny)
    return total


def _sum(terms: Array) -> Array:
    """Sums of rows; as a product, which is faster for short ones."""
    sums: Array = terms @ np.ones(terms.shape[1], terms.dtype)
    return sums.astype(np.float64)


def _below_best(scores: Array) -> Array:
    """Scores relative to the best one of each row."""
    relative: Array = scores - scores.max(axis=1, keepdims=True)
    return np.maximum(relative, LOWEST_SCORE, out=relative)


def _near(scores: Array, codes: Array, kept: int) -> Array:
    """Numbers of the label and of the best other classes of each row, as many as are kept."""
    every, scores = np.arange(len(codes)), scores.copy()
    scores[every, codes] = -np.inf
    best = np.argpartition(scores, scores.shape[1] - kept + 1, axis=1)[:, -(kept - 1) :]
    return np.column_stack([codes, best])


def precision_of(scores: Array) -> Any:
    """Double where that costs nothing; of many classes, that of the scores."""
    return scores.dtype if scores.shape[-1] > SETTINGS.few_classes else np.dtype(np.float64)


def blocks(scores: Array) -> Iterator[slice]:
    """Rows of scores that are worked on at a time."""
    n, n_classes = scores.shape
    step = max(BLOCK_OF_SCORES // n_classes, 1)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def best_temperature(
    labels: LabelLikelihood, weights: Array, bounds: tuple[float, float], start: float | None
) -> float:
    """The logarithm of the temperature within bounds under which labels are most likely.

    Newton's method from ``start`` (None: from the best of a few, found on some rows), kept between
    points where the value falls and where it grows.

    Examples
    --------
    >>> import numpy as np
    >>> scores, labels = np.array([[3.0, 0.0]] * 4), np.array([0, 0, 0, 1])
    >>> found = LabelLikelihood.of(scores, labels, np.eye(2), None)
    >>> log_tau = best_temperature(found, np.ones(2) / 2, (-1.0, 6.0), None)
    >>> float(np.exp(3.0 / np.exp(log_tau)).round(6))          # odds of 3 to 1
    3.0
    """
    low, high = bounds
    if start is None:
        some, around = labels.some(), np.linspace(low, high, 15)
        values = np.array([some.value(-at, weights) for at in around])
        # Of what is as good, what is least certain.
        start = float(around[values <= values.min() + FLAT].max())
    at, seen = float(np.clip(start, low, high)), set[float]()
    for _ in range(STEPS):
        found = labels.at(-at, weights)
        slope = -found.slope  # by the logarithm of the temperature
        low, high = (low, at) if slope > 0 else (at, high)
        seen.add(at)
        step = -float(np.sign(slope)) * LONGEST
        if found.curvature > 0:
            step = float(np.clip(-slope / found.curvature, -LONGEST, LONGEST))
        there = float(np.clip(at + step, low, high))
        if abs(there - at) < CLOSE or abs(slope) < FLAT:
            return there
        # Where the way leads to a place that it has left before, half of it is better.
        at = (low + high) / 2 if there in seen else there
    return at
