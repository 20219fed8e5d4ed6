"""Scores that are linear in the features, and such scores of rows that they have not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rehead._typing import BLOCK, Array, Features

LARGEST = 1e150
"""About how large scores are where they would not be numbers; sums of them still are."""


class LinearScores(NamedTuple):
    """``x @ weights.T + bias``: one score a class.

    Examples
    --------
    >>> import numpy as np
    >>> LinearScores(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([0.0, 1.0])).of(np.ones((1, 2)))
    array([[1., 3.]])
    """

    weights: Array
    bias: Array

    def of(self, block: Array) -> Array:
        """Scores of some rows, in double precision; of absurdly far ones, by their direction."""
        X = np.asarray(block, np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            scores: Array = X @ self.weights.T + self.bias
        beyond = ~np.isfinite(scores).all(axis=1)
        if beyond.any():
            x, w = X[beyond], self.weights
            x = x / np.abs(x).max(axis=1, keepdims=True)
            scores[beyond] = LARGEST * (x @ (w / np.abs(w).max()).T)
        return scores

    def times(self, factor: float) -> LinearScores:
        """That much larger."""
        return LinearScores(factor * self.weights, factor * self.bias)

    def relative_to(self, centre: Array) -> LinearScores:
        """The same scores of rows from which a centre was taken away."""
        return LinearScores(self.weights, self.bias + self.weights @ centre)


class CrossFitted(NamedTuple):
    """A regression of all rows, and one without each fold."""

    whole: LinearScores
    without: list[LinearScores]

    def times(self, factor: float) -> CrossFitted:
        """All scores that much larger."""
        return CrossFitted(self.whole.times(factor), [f.times(factor) for f in self.without])

    def scores(self, X: Features, folds: Array) -> Array:
        """Of rows without themselves; the fold of a row that was not seen is -1.

        In double precision.
        """
        scores = np.empty((len(X), len(self.whole.bias)))
        for fold, regression in enumerate((*self.without, self.whole)):
            wanted = np.flatnonzero(folds == (fold if fold < len(self.without) else -1))
            for a in range(0, len(wanted), BLOCK):
                part = wanted[a : a + BLOCK]
                scores[part] = regression.of(X[part])
        return scores


class SecondOpinion(NamedTuple):
    """Regressions (their scores as large as they count) beside Gaussians of a temperature.

    ``folds`` has the fold of each training row, -1 for rows that no regression has seen; in what
    was loaded from a file, in the order of fingerprints.
    """

    regressions: CrossFitted
    temperature: float
    folds: Array

    def without_folds(self) -> SecondOpinion:
        """Without what is known of each training row: to be sent away."""
        return self._replace(folds=np.empty(0, np.int64))

    def joint(self, scores: Array, X: Features, folds: Array) -> Array:
        """Scores of both, from those of the Gaussians, none of which has seen the row."""
        joint: Array = scores / self.temperature + self.regressions.scores(X, folds)
        return joint

    def to_arrays(self, prefix: str) -> dict[str, Array]:
        """As the arrays of a file."""
        whole, without = self.regressions
        arrays = {
            "weights": whole.weights,
            "bias": whole.bias,
            "fold_weights": np.stack([f.weights for f in without]),
            "fold_bias": np.stack([f.bias for f in without]),
            "temperature": np.asarray(self.temperature),
            "folds": self.folds,
        }
        return {prefix + name: value for name, value in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], prefix: str) -> SecondOpinion:
        """From the arrays of a file."""
        weights, bias, fold_weights, fold_bias, temperature, folds = (
            arrays[prefix + name]
            for name in ("weights", "bias", "fold_weights", "fold_bias", "temperature", "folds")
        )
        without = [LinearScores(w, b) for w, b in zip(fold_weights, fold_bias, strict=True)]
        return cls(CrossFitted(LinearScores(weights, bias), without), float(temperature), folds)
