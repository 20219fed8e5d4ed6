"""Rows so far away that they would rule every moment; no label has to be looked at for that."""

from __future__ import annotations

import numpy as np

from rehead._perrow import rows_where
from rehead._typing import Array, Features
from rehead.gaussian.at_hand import rows_at_hand
from rehead.gaussian.kernels import BLOCK, evenly_spaced, squared_norms
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.steps import remembered

COLUMNS = 16
"""Features that are looked at together, so that the medians take little memory."""


@remembered(np.asarray)
def far_rows(X: Features, counts: Array | None = None) -> Array:
    """A mask of the rows that are far from everything.

    Distance from the median of each feature, in units of its median absolute deviation, or of half
    the mean one where that is more. Features of which more than half of the values are the same
    have none, and are left out.
    """
    middle, scale = _middle_and_scale(X, counts)
    if not (scale > 0).any():
        return np.zeros(len(X), bool)
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0).astype(X.dtype)
    middle = middle.astype(X.dtype)
    squares = np.empty(len(X))
    for a in range(0, len(X), BLOCK):
        z = X[a : a + BLOCK] - middle
        with np.errstate(over="ignore"):  # what is infinitely far is far
            z *= inverse
            squares[a : a + BLOCK] = squared_norms(z)
    usual = float(_medians(squares[:, None], counts)[0])
    far: Array = squares > SETTINGS.far_ratio * max(usual, np.finfo(float).tiny)
    return far


def _middle_and_scale(X: Features, counts: Array | None) -> tuple[Array, Array]:
    """The median of each feature and its scale, from a sample of the rows that count."""
    present = np.ones(len(X), bool) if counts is None else counts > 0
    sampled = rows_where(present, evenly_spaced(int(present.sum()), SETTINGS.noise_sample))
    w = None if counts is None else counts[sampled]
    X, sampled = rows_at_hand(X, sampled)
    middle, scale = np.empty(X.shape[1]), np.empty(X.shape[1])
    for a in range(0, X.shape[1], COLUMNS):
        part = slice(a, a + COLUMNS)
        values = X[sampled, part].astype(np.float64)
        middle[part] = _medians(values, w)
        values = np.abs(np.subtract(values, middle[part], out=values), out=values)
        deviation = _medians(values, w)
        # A feature that is often silent has a small median deviation; it is not that precise.
        mean = np.average(values, axis=0, weights=w)
        scale[part] = np.where(deviation > 0, np.maximum(deviation, mean / 2), 0.0)
    return middle, scale


def _medians(values: Array, counts: Array | None) -> Array:
    """Median of each column; with counts, as if rows were repeated."""
    if counts is None:
        medians: Array = np.median(values, axis=0)
        return medians
    order = np.argsort(values, axis=0, kind="stable")
    reached = np.cumsum(counts[order], axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    half = counts.sum() / 2.0
    at = [(reached >= half).argmax(axis=0), (reached > half).argmax(axis=0)]
    middle: Array = np.mean([np.take_along_axis(ranked, i[None], axis=0)[0] for i in at], axis=0)
    return middle
