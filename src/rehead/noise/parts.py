"""Part-dependent noise: where a wrong label goes is read off the features (Xia et al., 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from scipy.stats import truncnorm

from rehead._typing import Array
from rehead.noise.containers import as_features
from rehead.noise.instance import InstanceLabels, asked, new_seed, spread
from rehead.noise.labels import floor_of

SPREAD = 0.1
"""Standard deviation of the rates of samples, as in the paper."""


@dataclass(frozen=True)
class Projections:
    """A random matrix for each class.

    Attributes
    ----------
    rate : float
    mean, scale : array of shape (n_features,)
        Of the first samples, to standardise with.
    n_classes : int
    seed : tuple of int
        Of the matrices, which are not kept.
    """

    rate: float
    mean: Array
    scale: Array
    n_classes: int
    seed: tuple[int, ...]

    def __call__(self, X: Any, codes: Array, rng: np.random.Generator) -> Array:
        """Probability of each label."""
        q = flip_rates(len(codes), self.rate, rng)
        features = as_features(X)
        scores = np.empty((len(codes), self.n_classes))
        for c in np.unique(codes).tolist():
            rows = np.flatnonzero(codes == c)
            scores[rows] = (features[rows] - self.mean) / self.scale @ self.matrix(c)
            scores[rows, c] = -np.inf
        return spread(q, softmax(scores, axis=1), codes)

    def matrix(self, c: int) -> Array:
        """The projection of a class, of shape (n_features, n_classes)."""
        rng = np.random.default_rng([*self.seed, c])
        W: Array = rng.normal(size=(len(self.mean), self.n_classes))
        return W


def part_dependent(
    X: Any, y: Any, rate: float, *, classes: Any = None, random_state: Any = None
) -> InstanceLabels:
    """Change labels to where random projections of the features point (Xia et al., 2020).

    Each sample has a rate q of its own, from a normal distribution of mean `rate` and standard
    deviation 0.1, cut to [0, 1]. Its wrong label j has probability proportional to
    exp(x · W[y, :, j]), with a standard normal matrix W[y] for each true class (algorithm 2 of
    "Part-dependent label noise", which makes the synthetic noise of that paper). Who is wrong does
    not depend on how hard a sample is, but samples that are alike get the same wrong label.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Inputs: features or images, as numbers. They are flattened and standardised.
    y : array-like of shape (n_samples,)
        True labels, as in :func:`uniform`.
    rate : float
        Share of wrong labels: ``floor(rate * n_samples)`` of them, in all classes together.
    classes : array-like, optional
        All classes, in order, if some of them may not occur in `y`.
    random_state : None, int, Generator or RandomState
        Draws matrices and labels. The order of rows matters.

    Returns
    -------
    InstanceLabels

    Examples
    --------
    >>> from rehead import noise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> noisy = noise.part_dependent(X, y, 0.4, random_state=0)
    >>> int(noisy.changed.sum()) == int(0.4 * len(y))
    True
    """
    given = asked(X, y, rate, classes, random_state)
    features = as_features(X)
    mean, scale = _standard(features)
    C = len(given.labels.classes)
    chances = Projections(float(rate), mean, scale, C, new_seed(given.rng))
    return given.noisy(chances(features, given.labels.codes, given.rng), chances)


def flip_rates(n: int, rate: float, rng: np.random.Generator) -> Array:
    """A rate for each of n samples; their sum is ``floor(rate * n)``.

    The mean of a normal distribution that was cut off is no longer its centre, and that of few
    draws is another one again: rates, or what they leave, are scaled to the sum.
    """
    low, high = -rate / SPREAD, (1.0 - rate) / SPREAD
    q: Array = truncnorm.rvs(low, high, loc=rate, scale=SPREAD, size=n, random_state=rng)
    wanted = floor_of(rate, n)
    if q.sum() >= wanted:
        q *= wanted / q.sum()
    else:
        q = 1.0 - (1.0 - q) * ((n - wanted) / (1.0 - q).sum())
    return q


def _standard(features: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each feature; 1 for one that is constant."""
    mean = features.mean(axis=0, dtype=np.float64)
    deviation = features.std(axis=0, dtype=np.float64)
    # Rounding gives constant features a deviation.
    return mean, np.where(np.ptp(features, axis=0) > 0, deviation, 1.0)
