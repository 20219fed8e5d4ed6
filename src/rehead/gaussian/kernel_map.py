"""A map of features on which tied Gaussians draw boundaries that are not straight lines.

A row becomes its similarities to m rows that were drawn as landmarks, ``exp(-gamma |z - l|^2)`` in
standardised units, times ``K_mm^(-1/2)``: inner products of mapped rows are then those of the
Gaussian kernel, as far as the landmarks span them (Nystroem's method; Williams and Seeger, 2001).
What comes after is linear in the map, so leave-one-out, shrinkage and export stay as they are.

What is similar to no landmark is mapped to 0, be it near or far. So a map that is to tell how
strange a row is has to be asked itself: how far is it from the landmarks (``remoteness``)?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.special import logsumexp

from rehead._typing import BLOCK, Array, Features
from rehead.gaussian.at_hand import rows_at_hand
from rehead.gaussian.kernels import evenly_spaced, squared_norms
from rehead.gaussian.rows import ByClass
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.threads import own_threads

FARTHEST = 1e15
"""Standard deviations from the middle, at most; squares of them are numbers."""
SMALLEST_EIGENVALUE = 1e-6
"""Directions of the landmarks below this share of the largest one are rounding, and are dropped."""
SAME = 1e-9
"""A row whose similarity to a landmark differs from 1 by less than this is the landmark."""
COLUMNS = 64
"""Features that are looked at together, so that a sample of the rows takes little memory."""


@dataclass(frozen=True, eq=False)
class KernelMap:
    """A Gaussian-kernel map of features.

    Attributes
    ----------
    centre, scale : arrays of shape (d,)
        What features are standardised by; a constant one has the scale 1. The scale is larger where
        columns are of less importance.
    landmarks : array of shape (m, d)
        In standardised units.
    gamma : float
        How fast similarity falls with the squared distance.
    projection : array of shape (m, r)
        From similarities to mapped features.
    importance : array of shape (d,) or None
        What the scale was divided by; None where all columns are alike. Nothing is computed from
        it, but it tells which columns count.

    Examples
    --------
    >>> import numpy as np
    >>> middle = KernelMap(np.zeros(1), np.ones(1), np.zeros((1, 1)), 1.0, np.ones((1, 1)))
    >>> middle(np.array([[0.0], [1.0], [1e300]])).ravel().round(2).tolist()
    [1.0, 0.37, 0.0]
    """

    centre: Array
    scale: Array
    landmarks: Array
    gamma: float
    projection: Array
    importance: Array | None = None

    @property
    def n_features(self) -> int:
        """How many features it maps."""
        return int(self.landmarks.shape[1])

    @property
    def n_columns(self) -> int:
        """How many features there are after it."""
        return int(self.projection.shape[1])

    def __call__(self, block: Array) -> Array:
        """Some rows, mapped, in their precision; what is absurdly far away becomes 0.

        The work is done in double precision: the projection magnifies rounding by up to a thousand.
        """
        mapped: Array = np.exp(self.exponents(block)) @ self.projection
        return mapped.astype(block.dtype, copy=False)

    def exponents(self, block: Array) -> Array:
        """``-gamma |z - l|^2`` of some rows and all landmarks; shape (n, m)."""
        z = standardised(block, self.centre, self.scale)
        exponents = squared_distances(z, self.landmarks)
        exponents *= -self.gamma
        return exponents

    @own_threads()
    def remoteness(self, X: Features) -> Array:
        """``-log mean_l exp(-gamma |z - l|^2)``: 0 among the landmarks, a squared distance far off.

        A landmark does not speak for itself.
        """
        found = np.empty(len(X))
        for a in range(0, len(X), BLOCK):
            exponents = self.exponents(X[a : a + BLOCK])
            if len(self.landmarks) > 1:
                nearest = np.arange(len(exponents)), exponents.argmax(axis=1)
                itself = exponents[nearest] > -SAME
                exponents[nearest] = np.where(itself, -np.inf, exponents[nearest])
            found[a : a + BLOCK] = np.log(len(self.landmarks)) - logsumexp(exponents, axis=1)
        return found

    def to_arrays(self, prefix: str) -> dict[str, Array]:
        """Its fields as the arrays of a file."""
        found = {prefix + f.name: getattr(self, f.name) for f in fields(self)}
        return {name: np.asarray(value) for name, value in found.items() if value is not None}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], prefix: str) -> KernelMap:
        """From the arrays of a file, named by fields."""
        found: dict[str, Any] = {f.name: arrays.get(prefix + f.name) for f in fields(cls)}
        return cls(**{**found, "gamma": float(found["gamma"])})


def standardised(block: Array, centre: Array, scale: Array) -> Array:
    """Rows in units of the scale, in double precision, at most so far away that squares exist."""
    with np.errstate(over="ignore"):  # what is infinitely far is far
        z: Array = np.subtract(block, centre, dtype=np.float64) / scale
    return np.clip(z, -FARTHEST, FARTHEST, out=z)


def squared_distances(a: Array, b: Array) -> Array:
    """Between all rows of the one and of the other, from products; rounding never makes one < 0."""
    distances: Array = a @ b.T
    distances *= -2.0
    distances += squared_norms(a)[:, None]
    distances += squared_norms(b)
    return np.maximum(distances, 0.0, out=distances)


@own_threads()
def make_kernel_map(
    X: Features,
    n_landmarks: int,
    width: float,
    rng: np.random.Generator,
    rows: Array | None = None,
    weights: Array | None = None,
    importance: Array | None = None,
) -> KernelMap:
    """A map whose landmarks are drawn from some rows (all by default); no label is looked at.

    A row of a larger one of the ``weights`` is drawn more probably, but once at most. ``gamma`` is
    ``width`` for each median squared distance between landmarks. Differences in a column count in
    proportion to its ``importance``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> kernel_map = make_kernel_map(X, 20, 1.0, np.random.default_rng(0))
    >>> kernel_map.landmarks.shape, kernel_map(X).shape
    ((20, 3), (200, 20))
    """
    rows = np.arange(len(X)) if rows is None else rows
    w = np.ones(len(rows)) if weights is None else weights
    some = evenly_spaced(len(rows), SETTINGS.noise_sample)
    centre, scale = _middle_and_scale(X, rows[some], w[some])
    if importance is not None:
        scale = scale / importance
    share = None if (w == w[0]).all() else w / w.sum()
    drawn = np.sort(rng.choice(rows, min(n_landmarks, len(rows)), replace=False, p=share))
    landmarks = standardised(X[drawn], centre, scale)
    distances = squared_distances(landmarks, landmarks)
    gamma = width / _usual(distances[np.triu_indices(len(drawn), 1)])
    projection = _inverse_root(np.exp(-gamma * distances))
    return KernelMap(centre, scale, landmarks, gamma, projection, importance)


def map_of_rows(
    data: ByClass,
    rng: np.random.Generator,
    n_landmarks: int,
    width: float,
    importance: Array | None = None,
) -> KernelMap:
    """A map made of the rows that count: of positive weight, and not far from everything."""
    rows = data.counted
    weights = None if data.weights is None else data.weights[rows]
    return make_kernel_map(data.X, n_landmarks, width, rng, rows, weights, importance)


def _middle_and_scale(X: Features, rows: Array, weights: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each feature; a constant one has the scale 1."""
    share = weights / weights.sum()
    X, rows = rows_at_hand(X, rows)
    centre, scale = np.empty(X.shape[1]), np.empty(X.shape[1])
    for a in range(0, X.shape[1], COLUMNS):
        part = slice(a, a + COLUMNS)
        values = X[rows, part].astype(np.float64)
        # In units of the largest value, whose square may be too large for a number.
        unit = np.abs(values).max(axis=0)
        values /= np.where(unit > 0, unit, 1.0)
        constant = values.min(axis=0) == values.max(axis=0)
        # As the features can say it, so that single precision subtracts it exactly.
        mean = share @ values
        centre[part] = (np.where(constant, values[0], mean) * unit).astype(X.dtype)
        deviation = np.sqrt(share @ (values - mean) ** 2) * unit
        scale[part] = np.where(constant | (deviation == 0), 1.0, deviation)
    return centre, scale


def _usual(distances: Array) -> float:
    """The median distance, or the mean one where most landmarks are the same row."""
    if not distances.any():
        return 1.0
    return float(np.median(distances)) or float(np.mean(distances))


def _inverse_root(kernel: Array) -> Array:
    """``K^(-1/2)``, without the directions that are only rounding; the widest direction first."""
    values, vectors = eigh(kernel)
    kept = values > SMALLEST_EIGENVALUE * values[-1]
    root: Array = vectors[:, kept] / np.sqrt(values[kept])
    return np.ascontiguousarray(root[:, ::-1])
