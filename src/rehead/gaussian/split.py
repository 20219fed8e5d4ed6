"""Rows of one class, cut into parts where they are many: one class keeps all workers busy.

Where rows are cut depends on their number alone, and what the parts give is added up in a fixed
order. So results are the same to the last bit whether one thread works on a class or many machines
do. A class of no more than ``PART_ROWS`` rows is one part: nothing is cut, and nothing is added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array, Features
from rehead.gaussian import kernels
from rehead.gaussian.kernels import BLOCK, Factor, Moments, Rows, update_moments
from rehead.gaussian.steps import remembered
from rehead.gaussian.tasks import map_parts

PART_ROWS = 2**15
"""Rows of a part, at most; a multiple of a block."""


class RowsOfClass(NamedTuple):
    """Some rows of a class, and the point that they are seen from.

    ``dtype`` is that of the work, ``weights`` has how often each row counts (``None``: once), and
    ``factor`` is that of a covariance, where distances are asked for.
    """

    features: Features
    row_numbers: Array
    centre: Array
    dtype: Any
    weights: Array | None = None
    factor: Factor | None = None

    @property
    def rows(self) -> Rows:
        return Rows(self.features, self.dtype, most=len(self.row_numbers))

    @property
    def flops(self) -> float:
        """About what moments or distances of them take."""
        return float(len(self.row_numbers) * self.features.shape[1] ** 2)

    def parts(self) -> Iterator[RowsOfClass]:
        """Cut where they are many."""
        for at in part_spans(len(self.row_numbers)):
            weights = None if self.weights is None else self.weights[at]
            yield self._replace(row_numbers=self.row_numbers[at], weights=weights)


def part_spans(n: int) -> list[slice]:
    """Cut ``n`` rows into parts of about the same size, multiples of a block.

    Examples
    --------
    >>> part_spans(1000)
    [slice(0, 1000, None)]
    >>> part_spans(70_000)
    [slice(0, 23552, None), slice(23552, 47104, None), slice(47104, 70000, None)]
    """
    step = -(-n // n_parts(n))
    step = -(-step // BLOCK) * BLOCK
    return [slice(a, min(a + step, n)) for a in range(0, n, step)]


def n_parts(n: int) -> int:
    """How many parts ``n`` rows make."""
    return max(-(-n // PART_ROWS), 1)


def moments(rows: Rows, index: Array, shift: Array, weights: Array | None = None) -> Moments:
    """Moments of ``X[index]`` about ``shift``; with weights, a row counts that many times."""
    if n_parts(len(index)) == 1:
        return kernels.moments(rows, index, shift, weights)
    return _moments_of_parts(RowsOfClass(rows.X, index, shift, rows.dtype, weights))


def with_rows(rows: Rows, m: Moments, index: Array, shift: Array, sign: float = 1.0) -> Moments:
    """Moments with (``sign=1``) or without (``sign=-1``) some rows. ``m`` is used up."""
    if n_parts(len(index)) == 1:
        return update_moments(rows, m, index, shift, sign=sign)
    other = moments(rows, index, shift)
    np.multiply(other.total, sign, out=other.total)
    np.multiply(other.gram, sign, out=other.gram)
    return _add(m, other._replace(weight=sign * other.weight))


def mahalanobis(rows: Rows, index: Array, centre: Array, factor: Factor) -> Array:
    """Squared Mahalanobis distance of the rows ``X[index]`` to ``centre``."""
    if n_parts(len(index)) == 1:
        return kernels.mahalanobis(rows, index, centre, factor)
    return _distances_of_parts(RowsOfClass(rows.X, index, centre, rows.dtype, factor=factor))


@remembered(lambda found: Moments(*found))
def _moments_of_parts(every: RowsOfClass) -> Moments:
    return added_up(map_parts(part_moments, every.parts(), every.flops, every.features))


@remembered(np.asarray)
def _distances_of_parts(every: RowsOfClass) -> Array:
    found = map_parts(part_distances, every.parts(), every.flops, every.features)
    return np.concatenate(list(found))


def part_moments(part: RowsOfClass) -> Moments:
    """Moments of a part about its centre."""
    return kernels.moments(part.rows, part.row_numbers, part.centre, part.weights)


def part_distances(part: RowsOfClass) -> Array:
    """Squared Mahalanobis distances of a part to its centre."""
    assert part.factor is not None
    return kernels.mahalanobis(part.rows, part.row_numbers, part.centre, part.factor)


def added_up(found: Iterable[Moments]) -> Moments:
    """The sum of moments, two and two: 0 + 1, 2 + 3, then (0 + 1) + (2 + 3), and so on.

    Sums of about as many rows are added, which costs the fewest digits; and only a few of them wait
    for their other half.
    """
    waiting: list[tuple[int, Moments]] = []
    for m in found:
        level = 0
        while waiting and waiting[-1][0] == level:
            m = _add(waiting.pop()[1], m)
            level += 1
        waiting.append((level, m))
    total = waiting.pop()[1]
    while waiting:
        total = _add(waiting.pop()[1], total)
    return total


def _add(a: Moments, b: Moments) -> Moments:
    """Both together; the arrays of the first one are used up."""
    np.add(a.total, b.total, out=a.total)
    np.add(a.gram, b.gram, out=a.gram)
    return Moments(a.weight + b.weight, a.total, a.gram)
