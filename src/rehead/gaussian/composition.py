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
    unit : float
        What one sample weighs.
    """

    weights: Array
    counted_as: Array
    class_totals: Array
    unit: float = 1.0

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
        return inside._replace(unit=data.unit)

    def take(self, rows: Array | slice) -> Composition:
        """What is in them of some of the rows."""
        return self._replace(weights=self.weights[rows], counted_as=self.counted_as[rows])

    def in_samples(self) -> Composition:
        """With one sample as the unit of all weights."""
        if self.unit == 1.0:
            return self
        weights, totals = self.weights / self.unit, self.class_totals / self.unit
        return Composition(weights, self.counted_as, totals)

    def only(self, wanted: Array) -> Composition:
        """Rows that are not wanted count as if they were not in it."""
        return self._replace(weights=np.where(wanted, self.weights, 0.0))
