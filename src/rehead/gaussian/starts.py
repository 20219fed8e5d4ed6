"""Initial subsets for the C-steps of one class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh
from scipy.stats import norm, rankdata

from rehead._typing import Array
from rehead.gaussian.kernels import Subset, select_smallest, squared_norms

MAD_TO_STD = 1.4826


def random_start(
    rng: np.random.Generator,
    n: int,
    k: float,
    weights: Array | None = None,
    trusted: Array | None = None,
) -> Subset:
    """Alg. 1, line 2: a uniformly drawn subset. Trusted samples are always in it.

    Examples
    --------
    >>> import numpy as np
    >>> random_start(np.random.default_rng(0), 6, 3).positions
    array([1, 2, 3])
    """
    draw = rng.random(n)
    if trusted is not None:
        draw[trusted] = -1.0
    return select_smallest(draw, k, weights)


def deterministic_starts(
    Z: Array, k: float, weights: Array | None = None, trusted: Array | None = None
) -> Iterator[Subset]:
    """Starts of DetMCD (Hubert, Rousseeuw, Verdonck 2012), from the features of one class.

    Each start takes a robust correlation matrix that is cheap to compute, makes it consistent by
    robust scales along its eigenvectors, and keeps the samples closest under it. Five of the six
    published matrices: tanh of the standardised features, Spearman ranks, normal scores, spatial
    signs, and the half with the smallest norm. The sixth (OGK) costs a robust scale for each
    *pair* of features and is left out. No randomness: the same data give the same starts.

    A row with a whole weight w counts w times. Other weights matter to the C-steps, not here.
    """
    Z, first = Z.astype(np.float64), np.arange(len(Z))
    if weights is not None and (weights == np.floor(weights)).all():
        times = weights.astype(np.int64)
        Z, first = np.repeat(Z, times, axis=0), np.cumsum(times) - times
    Z = (Z - np.median(Z, axis=0)) / _scale(Z)
    for S in _correlations(Z):
        distance = _consistent_distances(Z, S)[first]
        if trusted is not None:
            distance[trusted] = -np.inf
        yield select_smallest(distance, k, weights)


def _scale(Z: Array) -> Array:
    """Median absolute deviation, at the scale of a standard deviation; 1 where it vanishes."""
    mad = MAD_TO_STD * np.median(np.abs(Z - np.median(Z, axis=0)), axis=0)
    return np.where(mad > 0, mad, np.where(Z.std(axis=0) > 0, Z.std(axis=0), 1.0))


def _correlations(Z: Array) -> Iterator[Array]:
    n, _ = Z.shape
    ranks = rankdata(Z, axis=0)
    length = np.sqrt(squared_norms(Z))
    nearest = select_smallest(length, (n + 1) // 2).positions
    yield _correlation(np.tanh(Z))
    yield _correlation(ranks)
    yield _correlation(norm.ppf((ranks - 1.0 / 3.0) / (n + 1.0 / 3.0)))
    signs = Z / np.where(length > 0, length, 1.0)[:, None]
    yield signs.T @ signs / n
    yield np.cov(Z[nearest], rowvar=False, bias=True).reshape(Z.shape[1], -1)


def _correlation(Y: Array) -> Array:
    Y = Y - Y.mean(axis=0)
    std = Y.std(axis=0)
    Y /= np.where(std > 0, std, 1.0)
    correlation: Array = Y.T @ Y / len(Y)
    return correlation


def _consistent_distances(Z: Array, S: Array) -> Array:
    """Distances under S, its eigenvalues replaced by robust variances along its eigenvectors."""
    _, E = eigh(S)
    B = Z @ E
    scale = _scale(B)
    B /= scale
    B -= np.median(B, axis=0)
    return squared_norms(B)
