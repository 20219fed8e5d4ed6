"""A linear probe, and how its margins tell wrong labels.

Area under the margin: Pleiss, Zhang, Elenberg and Weinberger, "Identifying Mislabeled Data using
the Area Under the Margin Ranking", NeurIPS 2020. Wrong labels are learned late and against the
other samples, so that their margin is small on average over the epochs.

Generalised cross-entropy: Zhang and Sabuncu, "Generalized Cross Entropy Loss for Training Deep
Neural Networks with Noisy Labels", NeurIPS 2018. The loss ``(1 - p_y^q) / q`` lies between
cross-entropy (q = 0) and the absolute error (q = 1), which cares less for samples that do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.experiments.peers.neighbours import row_blocks
from rehead.gaussian.probability import softmax

MOST, STEPS = 256, 20
"""Samples in a batch at most, and batches in an epoch at least."""


class Training(NamedTuple):
    """How a probe is trained.

    The defaults are few and small steps: trained longer, a probe memorises wrong labels, predicts
    worse, and its margins tell less.

    Attributes
    ----------
    q : float in [0, 1]
        Of the generalised cross-entropy; 0 for cross-entropy.
    epochs : int
        Passes over the samples.
    batch : int, optional
        Samples in a batch. Default: 256, or a twentieth of the samples if that is less, since a
        probe that takes too few steps has not learned the clean labels either.
    rate : float
        Step size of Adam.
    decay : float
        Weight decay, apart from the gradient (as in AdamW).
    seed : int
        Of the order of the samples.
    """

    q: float = 0.0
    epochs: int = 20
    batch: int | None = None
    rate: float = 1e-3
    decay: float = 1e-2
    seed: int = 0


CROSS_ENTROPY = Training()
GENERALISED = Training(q=0.7)
"""With the q of the paper."""


class Probe(NamedTuple):
    """A trained probe.

    Attributes
    ----------
    weights : array of shape (d, C)
    bias : array of shape (C,)
    margins : array of shape (n,)
        Margin of the given label of each training sample, averaged over the epochs.
    """

    weights: Array
    bias: Array
    margins: Array

    def scores(self, X: Array) -> Array:
        """Logits of samples."""
        scores: Array = X @ self.weights + self.bias
        return scores


def train_probe(X: Array, y: Array, n_classes: int, training: Training = CROSS_ENTROPY) -> Probe:
    """Train a linear classifier by Adam.

    Features are standardised first; the probe that is returned takes them as they are.

    Parameters
    ----------
    X : array of shape (n, d)
    y : integer array of shape (n,)
        Class numbers.
    n_classes : int
    training : Training

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], 50)
    >>> X = np.random.default_rng(0).normal(size=(100, 2)) + 9 * y[:, None]
    >>> y[0] = 1
    >>> probe = train_probe(X, y, 2, Training(epochs=100, batch=10))
    >>> int(probe.margins.argmin()), int(probe.scores(X)[0].argmax())
    (0, 0)
    """
    if training.epochs < 1:
        raise ValueError(f"epochs must be at least 1, got {training.epochs}.")
    mean, spread = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    spread[spread == 0] = 1
    Z = np.empty(X.shape, np.float32)
    for span in row_blocks(*X.shape):
        Z[span] = (X[span] - mean) / spread
    margins = np.zeros(len(y))
    for weights in _epochs(Z, y, n_classes, training):
        margins += label_margins(Z @ weights[:-1] + weights[-1], y)
    back = weights[:-1] / spread[:, None]
    return Probe(back, weights[-1] - mean @ back, margins / training.epochs)


def label_margins(scores: Array, y: Array) -> Array:
    """Score of the given label minus the largest other one.

    Examples
    --------
    >>> import numpy as np
    >>> label_margins(np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]]), np.array([0, 1]))
    array([ 1., -2.])
    """
    every = np.arange(len(y))
    others = scores.copy()
    others[every, y] = -np.inf
    margins: Array = scores[every, y] - others.max(axis=1)
    return margins


def loss_and_slope(scores: Array, y: Array, q: float) -> tuple[Array, Array]:
    """Generalised cross-entropy of each sample, and its slope by the scores.

    The slope is that of cross-entropy, ``p - 1[y]``, times ``p_y^q``.
    """
    p = softmax(scores)
    every = np.arange(len(y))
    own = p[every, y]
    loss: Array = -np.log(own) if q == 0 else (1 - own**q) / q
    p[every, y] -= 1
    p *= (own**q)[:, None]
    return loss, p


def _epochs(Z: Array, y: Array, n_classes: int, training: Training) -> Iterator[Array]:
    """The weights after each epoch; the last row is the bias."""
    rng = np.random.default_rng(training.seed)
    weights = np.zeros((Z.shape[1] + 1, n_classes), np.float32)
    mean, square, step = np.zeros_like(weights), np.zeros_like(weights), 0
    size = training.batch or max(min(MOST, len(y) // STEPS), 1)
    for _ in range(training.epochs):
        order = rng.permutation(len(y))
        for a in range(0, len(y), size):
            rows, step = order[a : a + size], step + 1
            _, slope = loss_and_slope(Z[rows] @ weights[:-1] + weights[-1], y[rows], training.q)
            gradient = np.vstack([Z[rows].T @ slope, slope.sum(axis=0)]) / len(rows)
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            spread = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            weights[:-1] *= 1 - training.rate * training.decay
            weights -= training.rate * (mean / (1 - 0.9**step)) / spread
        yield weights
