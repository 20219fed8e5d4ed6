"""What some estimates are composed of, so that a sample can be taken out of them again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._perrow import class_totals
from rehead._typing import Array
from rehead.gaussian.kernels import Subset
from rehead.gaussian.rows import ByClass


class Composition(NamedTuple):
    """How much of each row some estimates contain.

    Attributes
    ----------
    weights : array of shape (n,)
        How much of each row counted: 0 for none of it.
    counted_as : array of shape (n,)
        The class (code) that it counted for, mostly its label. Where a row counted for several
        classes, the one that it counted for most, and ``weights`` is that part.
    class_totals : array of shape (n_classes,)
        How much of each class there is, of *all* rows that were counted.
    one_copy : float
        What one copy of a row weighs: so much of a row is taken out, at most.
    """

    weights: Array
    counted_as: Array
    class_totals: Array
    one_copy: float = 1.0

    @classmethod
    def from_rows(cls, weights: Array, counted_as: Array, n_classes: int) -> Composition:
        """Of all rows that were counted, each for one class."""
        return cls(weights, counted_as, class_totals(counted_as, n_classes, weights))

    @classmethod
    def from_subsets(cls, data: ByClass, subsets: list[Subset]) -> Composition:
        """Of a subset of each class."""
        # Rows that are in no class have a code below 0, and count to none.
        codes = data.codes
        counted_as = codes if codes.min(initial=0) >= 0 else np.maximum(codes, 0)
        weights = np.zeros(len(data.X))
        for c, (index, w) in enumerate(subsets):
            weights[data.rows[c][index]] = 1.0 if w is None else w
        inside = cls.from_rows(weights, counted_as, data.n_classes)
        return inside._replace(one_copy=weight_of_one_copy(data))

    def take(self, rows: Array | slice) -> Composition:
        """What is in them of some of the rows."""
        return self._replace(weights=self.weights[rows], counted_as=self.counted_as[rows])

    def in_samples(self) -> Composition:
        """With one copy of a row as the unit of all weights."""
        if self.one_copy == 1.0:
            return self
        weights, totals = self.weights / self.one_copy, self.class_totals / self.one_copy
        return Composition(weights, self.counted_as, totals)

    def only(self, wanted: Array) -> Composition:
        """Rows that are not wanted count as if they were not in it."""
        return self._replace(weights=np.where(wanted, self.weights, 0.0))


def weight_of_one_copy(data: ByClass) -> float:
    """What one copy of a row weighs: 1, or the mean weight where that is less.

    Weights may sum to 1; that does not make samples few.
    """
    if data.weights is None:
        return 1.0
    present = np.sort(np.concatenate(data.rows))
    return min(1.0, float(data.weights[present].mean()))
