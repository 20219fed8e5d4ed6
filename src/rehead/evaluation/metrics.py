"""How good predicted probabilities are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._typing import Array


class Scores(NamedTuple):
    """Accuracy, mean negative log likelihood of the labels, and expected calibration error."""

    accuracy: float
    nll: float
    calibration_error: float


def scores(posterior: Array, codes: Array, *, n_bins: int = 15) -> Scores:
    """Score a posterior against labels (class codes).

    Examples
    --------
    >>> import numpy as np
    >>> scores(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 1])).accuracy
    1.0
    """
    every = np.arange(len(codes))
    p = posterior[every, codes].astype(np.float64)
    nll = -np.log(np.maximum(p, np.finfo(np.float64).tiny)).mean()
    right = posterior.argmax(axis=1) == codes
    return Scores(
        float(right.mean()), float(nll), calibration_error(posterior.max(axis=1), right, n_bins)
    )


def calibration_error(confidence: Array, right: Array, n_bins: int = 15) -> float:
    """Mean gap between confidence and accuracy over equal-width bins, weighted by their size.

    Examples
    --------
    >>> import numpy as np
    >>> round(calibration_error(np.array([0.8] * 10), np.array([True] * 8 + [False] * 2)), 6)
    0.0
    """
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    gaps = np.bincount(bins, weights=confidence, minlength=n_bins) - np.bincount(
        bins, weights=right.astype(float), minlength=n_bins
    )
    return float(np.abs(gaps).sum() / max(counts.sum(), 1))
