"""A labelled data set as the estimators see it: rows grouped by class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from rehead._perrow import rows_by_class
from rehead._typing import Array, Features, Known, MappedFeatures, RowMap, some_rows
from rehead.gaussian import at_hand
from rehead.gaussian.far import far_rows
from rehead.gaussian.kernels import Subset, evenly_spaced

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
    def unit(self) -> float:
        """What one sample weighs.

        Whole numbers say how often a row occurs; if all occur so often, they are once. Other
        weights are relative, and samples weigh 1 on average.
        """
        weights = np.zeros(0) if self.weights is None else self.weights[self.weights > 0]
        if not len(weights):
            return 1.0
        counted = (weights == np.floor(weights)).all()
        return float(weights.min() if counted else weights.mean())

    @property
    def counts(self) -> Array:
        """How many samples each row stands for."""
        if self.weights is None:
            return np.broadcast_to(1.0, len(self.codes))
        return self.weights / self.unit

    @property
    def counted(self) -> Array:
        """Numbers of the rows that count: of positive weight, and not far from everything."""
        present: Array = np.sort(np.concatenate(self.rows))
        return present[self.near[present]]

    @property
    def doubtful(self) -> Array:
        """Numbers of the rows that count, and whose labels tell about the noise.

        Labels that were drawn at random and made right do not, unless it is known what they were.
        Those that were checked because they looked wrong do: without them, only labels that agree
        with an earlier model would be left, and would vouch for it.
        """
        rows = self.counted
        if self.drawn is None or self.uncorrected is not None or self.drawn[rows].all():
            return rows
        return rows[~self.drawn[rows]]

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
