"""A network and its training behind ``fit`` and ``predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rehead import _validation as check
from rehead._typing import Array
from rehead.torch.training.inputs import as_inputs
from rehead.torch.training.loop import train
from rehead.torch.training.method import Method
from rehead.torch.training.predictions import predict_probabilities
from rehead.torch.training.recipes import Recipe
from rehead.torch.training.run import Run
from rehead.torch.training.task import MakeNet


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """Train a network in ``fit``, with any labels; for semantic noise, or as a baseline.

    Parameters
    ----------
    make_net : callable
        Makes a new network with one output for each class, in sorted order.
    method, recipe
        See :func:`rehead.torch.training.train`.
    seed, device, progress, folder
        See :class:`rehead.torch.training.Run`.

    Examples
    --------
    >>> from functools import partial
    >>> from rehead import data, noise
    >>> from rehead.torch.models import FCN
    >>> from rehead.torch.training import NetworkClassifier, Recipe
    >>> digits = data.load("digits")
    >>> weak = NetworkClassifier(
    ...     partial(FCN, 64, 10), recipe=Recipe(epochs=20, batch_size=32, learning_rate=0.01)
    ... )
    >>> noisy = noise.semantic(digits.train.X, digits.train.y, classifier=weak, random_state=0)
    >>> bool(0.05 < noisy.rate < 0.5)
    True
    """

    def __init__(
        self,
        make_net: MakeNet,
        *,
        method: str | Method = "cross-entropy",
        recipe: str | Recipe = "quick",
        seed: int = 0,
        device: str | None = None,
        progress: bool | None = None,
        folder: str | Path | None = None,
    ) -> None:
        self.make_net = make_net
        self.method = method
        self.recipe = recipe
        self.seed = seed
        self.device = device
        self.progress = progress
        self.folder = folder

    def fit(self, X: Any, y: Any) -> NetworkClassifier:
        """Train a new network."""
        labels = check.check_labels(y)
        classes, codes = check.encode_labels(labels)
        net = train(
            self.make_net,
            X,
            codes,
            method=self.method,
            recipe=self.recipe,
            run=Run(seed=self.seed, device=self.device, progress=self.progress, folder=self.folder),
        ).net
        self.classes_, self.net_ = classes, net  # at once: a fit that fails changes nothing
        return self

    def predict_proba(self, X: Any) -> Array:
        """Softmax of the network's outputs."""
        check_is_fitted(self)
        device = next(self.net_.parameters()).device
        return predict_probabilities(self.net_, as_inputs(X), torch.device(device))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy: the share of these labels that is predicted."""
        return float(super().score(X, check.check_labels(y), sample_weight))

    def predict(self, X: Any) -> Array:
        """The most probable label of each sample."""
        best = self.predict_proba(X).argmax(axis=1)
        labels: Array = self.classes_[best]
        return labels
