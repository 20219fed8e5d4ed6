"""Calibration: a temperature and one offset a class, by the likelihood of noisy labels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from rehead._typing import Array
from rehead.gaussian.probability import softmax
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.tied import TiedGaussians


class Calibration(NamedTuple):
    """``softmax(scores / temperature + offsets)`` as a calibrated posterior of the true class."""

    temperature: float
    offsets: Array

    def posterior(self, scores: Array) -> Array:
        """Apply it to scores."""
        return softmax(scores.astype(np.float64) / self.temperature + self.offsets, overwrite=True)

    def applied_to(self, gaussians: TiedGaussians) -> TiedGaussians:
        """The same Gaussians with a calibrated posterior."""
        return replace(gaussians, temperature=self.temperature, offsets=self.offsets)


def calibrate(
    scores: Array, codes: Array, transition: Array, counts: Array | None = None
) -> Calibration:
    """Temperature and one offset a class that maximise ``mean log sum_c p_c T[c, y]``.

    ``counts`` says how often each sample counts.
    """
    counts = np.ones(len(codes)) if counts is None else counts
    share = counts / counts.sum()
    scores = scores.astype(np.float64)
    scores = scores - scores.mean(axis=1, keepdims=True)
    of_label = transition[:, codes].T
    n_classes = scores.shape[1]
    ridge = SETTINGS.offset_ridge / counts.sum()

    def loss(v: Array) -> tuple[float, Array]:
        slope, offsets = np.exp(v[0]), v[1:]
        p = softmax(slope * scores + offsets, overwrite=True)
        joint = p * of_label
        likelihood = np.maximum(joint.sum(axis=1), np.finfo(float).tiny)
        towards = (joint / likelihood[:, None] - p) * share[:, None]
        gradient = np.append((towards * scores).sum() * slope, towards.sum(axis=0))
        gradient[1:] -= 2 * ridge * offsets
        return float(-(share * np.log(likelihood)).sum() + ridge * (offsets**2).sum()), -gradient

    # Gaussians and networks are over-confident, not the other way round: where the noise is
    # overestimated, a lower temperature would make them certain.
    low, high = 0.0, SETTINGS.log_temperatures[1]
    # Where scores are far too large the likelihood is flat, so look around before climbing.
    starts = [np.append(slope, np.zeros(n_classes)) for slope in np.linspace(-high, -low, 15)]
    start = min(starts, key=lambda v: loss(v)[0])
    # A class whose label does not occur is not known to be rare: it keeps its offset of 0.
    occurs = np.bincount(codes, weights=counts, minlength=n_classes) > 0
    bounds = [(-high, -low), *[(-10.0, 10.0) if o else (0.0, 0.0) for o in occurs]]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    offsets: Array = found.x[1:] - found.x[1:].mean()
    return Calibration(float(np.exp(-found.x[0])), offsets)
