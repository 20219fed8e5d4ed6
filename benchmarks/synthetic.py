"""Features with wrong labels, on which a linear classifier is good and not perfect."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from rehead import noise

Array = np.ndarray[Any, Any]

RANK = 16
"""Directions in which a class varies more than its isotropic noise."""
ERROR = 0.05
"""Union bound on the error of the best linear classifier; sets how far apart the means are."""


class Size(NamedTuple):
    """Rows, features and classes of a data set."""

    n: int
    d: int
    n_classes: int


SIZES = {
    "A": Size(50_000, 512, 10),
    "B": Size(50_000, 342, 100),
    "E": Size(14_000, 256, 19),
    "D": Size(200_000, 1_024, 100),
}


class Data(NamedTuple):
    """Training features with noisy labels and their clean ones, and clean held-out samples."""

    X: Array
    noisy: Array
    clean: Array
    X_test: Array
    y_test: Array
    size: Size


class Model(NamedTuple):
    """Class means and loadings: class c is ``N(means[c], loadings[c] loadings[c]' + I)``."""

    means: Array
    loadings: Array


def make(
    size: Size,
    *,
    kind: str = "uniform",
    rate: float = 0.4,
    unlike: float = 0.1,
    seed: int = 0,
    error: float = ERROR,
    smallest: int | None = None,
) -> Data:
    """Draw a data set.

    Parameters
    ----------
    size : Size
    kind : {"uniform", "flip"}
        Where wrong labels go: to all other classes alike, or to the next one.
    rate : float
        Share of wrong labels.
    unlike : float
        How much the class covariances differ: 0 is the tied covariance that the classifier
        assumes. Decides how many rows a C-step exchanges, and with it the work that shortcuts save
        (on size A: 6 % of the subset in the first step at 0.1, 32 % at 0.5).
    seed : int
    error : float
        Union bound on the error of the best linear classifier: how far apart the means are.
    smallest : int or None
        Sizes of training classes fall from the first to the last, which has so many samples (a long
        tail); None: they are equal. Held-out classes are equal.
    """
    of_model, of_train, of_test, of_noise = np.random.default_rng(seed).spawn(4)
    model = _model(size, unlike, error, of_model)
    of_classes = np.arange(size.n) % size.n_classes
    if smallest is not None:
        of_classes = np.repeat(np.arange(size.n_classes), long_tail(size, smallest))
    X, clean = _draw(model, of_classes, of_train)
    X_test, y_test = _draw(
        model, np.arange(max(min(10_000, size.n // 2), 5_000)) % size.n_classes, of_test
    )
    corrupt = {"uniform": noise.uniform, "flip": noise.flip}[kind]
    noisy = corrupt(clean, rate, random_state=of_noise).labels
    return Data(X, noisy, clean, X_test, y_test, size)


def long_tail(size: Size, smallest: int) -> Array:
    """Sizes of classes, the largest first: powers of their rank that end with the smallest one."""
    rank = np.arange(1.0, size.n_classes + 1.0)

    def sizes(power: float) -> Array:
        found: Array = np.round(smallest * (size.n_classes / rank) ** power).astype(np.int64)
        return found

    low, high = 0.0, 5.0
    for _ in range(50):
        power = (low + high) / 2
        low, high = (power, high) if sizes(power).sum() < size.n else (low, power)
    return sizes(low)


def _model(size: Size, unlike: float, error: float, rng: np.random.Generator) -> Model:
    """Loadings that resemble each other, and random means at the distance that gives ERROR."""
    _, d, n_classes = size
    common = rng.standard_normal((d, RANK))
    own = rng.standard_normal((n_classes, d, RANK))
    loadings = (common + unlike * own) / 2.0
    tied = np.eye(d) + np.einsum("cir,cjr->ij", loadings, loadings, optimize=True) / n_classes
    means = rng.standard_normal((n_classes, d))
    half = np.linalg.solve(np.linalg.cholesky(tied), (means - means.mean(axis=0)).T)
    distance = np.sqrt(2.0 * (half**2).sum(axis=0).mean())
    wanted = 2.0 * norm.isf(error / (n_classes - 1))
    means *= wanted / distance
    return Model(means.astype(np.float32), loadings.astype(np.float32))


def _draw(model: Model, of_classes: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows in random order, as in a data set that nobody has sorted by class."""
    n_classes, d = model.means.shape
    y = rng.permutation(of_classes)
    X = np.empty((len(y), d), np.float32)
    for c in range(n_classes):
        rows = np.flatnonzero(y == c)
        block = rng.standard_normal((len(rows), d), np.float32)
        block += rng.standard_normal((len(rows), RANK), np.float32) @ model.loadings[c].T
        block += model.means[c]
        X[rows] = block
    return X, y
