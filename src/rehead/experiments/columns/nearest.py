"""A vote of the nearest samples; how many of them vote is chosen by the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from rehead._typing import Array

CANDIDATES = (5, 15, 50)
"""Few where labels are clean and classes small, many where labels are noisy."""


class NearestVote(ClassifierMixin, BaseEstimator):
    """k-NN whose k is that of the votes that agree most often with the labels, leave-one-out.

    Parameters
    ----------
    candidates : sequence of int
        Values of k to choose from. Those that are more than the other samples are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.experiments.columns.nearest import NearestVote
    >>> X = np.r_[np.arange(10), 100 + np.arange(10)][:, None]
    >>> model = NearestVote((3, 15)).fit(X, np.repeat(["a", "b"], 10))
    >>> model.n_neighbors_, model.predict([[4], [104]]).tolist()
    (3, ['a', 'b'])
    """

    def __init__(self, candidates: Sequence[int] = CANDIDATES) -> None:
        self.candidates = candidates

    def fit(self, X: Array, y: Array) -> Self:
        """Choose k, and remember the samples."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        possible = [k for k in self.candidates if k < len(codes)] or [1]
        # Without samples to look up, none is its own neighbour.
        search = NearestNeighbors(n_neighbors=max(possible)).fit(X)
        labels = codes[search.kneighbors(return_distance=False)]
        agreed = {k: _agreement(labels[:, :k], codes) for k in possible}
        self.n_neighbors_ = max(agreed, key=agreed.__getitem__)
        self.model_ = KNeighborsClassifier(self.n_neighbors_).fit(X, y)
        return self

    def predict(self, X: Array) -> Array:
        """The class with most votes."""
        return np.asarray(self.model_.predict(X))

    def predict_proba(self, X: Array) -> Array:
        """Shares of the votes."""
        return np.asarray(self.model_.predict_proba(X))


def _agreement(labels: Array, codes: Array) -> Any:
    """How often the most frequent label of the neighbours is the own one."""
    n, n_classes = len(codes), int(codes.max()) + 1
    cells = n_classes * np.arange(n)[:, None] + labels
    votes = np.bincount(cells.ravel(), minlength=n * n_classes).reshape(n, n_classes)
    return (votes.argmax(axis=1) == codes).mean()
