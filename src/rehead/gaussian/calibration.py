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

    def with_shift(self, shift: Array) -> Calibration:
        """With other priors, by :attr:`Priors.shift`."""
        return self._replace(offsets=self.offsets + shift)


class Priors(NamedTuple):
    """The class shares that posteriors are to stand for, and those that they stand for.

    Calibrated posteriors stand for the shares of the samples that calibrated them: their mean. For
    samples of other shares, Bayes' rule multiplies each class by ``wanted / present``.
    """

    wanted: Array
    present: Array

    @classmethod
    def of(cls, priors: str | Array, posterior: Array, counts: Array | None = None) -> Priors:
        """From what the user set, and posteriors of samples that each count so often.

        Examples
        --------
        >>> import numpy as np
        >>> posterior = np.array([[1.0, 0.0], [0.5, 0.5]])
        >>> Priors.of("uniform", posterior).wanted, Priors.of("empirical", posterior).wanted
        (array([0.5, 0.5]), array([0.75, 0.25]))
        """
        present = np.average(posterior, axis=0, weights=counts)
        present = np.maximum(present, np.finfo(np.float64).tiny)
        if not isinstance(priors, str):
            return cls(priors, present)
        even = np.full(len(present), 1.0 / len(present))
        return cls(present if priors == "empirical" else even, present)

    @property
    def shift(self) -> Array:
        """What is added to the logarithms of posteriors."""
        with np.errstate(divide="ignore"):
            shift: Array = np.log(self.wanted) - np.log(self.present)
        return shift

    def given_to(self, g: TiedGaussians) -> TiedGaussians:
        """Calibrated Gaussians with the priors that are wanted.

        What the Gaussians know of their priors is divided by the temperature; that is undone.
        """
        offsets = np.zeros(len(self.wanted)) if g.offsets is None else g.offsets
        possible = self.wanted > 0  # a prior of 0 needs no help
        more = np.log(self.wanted[possible] / g.priors[possible])
        change = np.zeros(len(offsets))
        change[possible] = self.shift[possible] - more / g.temperature
        return replace(g, priors=self.wanted, offsets=offsets + change)


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

    # A class whose label does not occur is not known to be rare: it keeps its offset of 0, and the
    # others do not rise together, which would push it down all the same.
    occurs = np.bincount(codes, weights=counts, minlength=n_classes) > 0

    def level(offsets: Array) -> Array:
        """Offsets that are 0 on average where labels occur, if some do not."""
        return offsets if occurs.all() else np.where(occurs, offsets - offsets[occurs].mean(), 0.0)

    def loss(v: Array) -> tuple[float, Array]:
        slope, offsets = np.exp(v[0]), level(v[1:])
        p = softmax(slope * scores + offsets, overwrite=True)
        joint = p * of_label
        likelihood = np.maximum(joint.sum(axis=1), np.finfo(float).tiny)
        towards = (joint / likelihood[:, None] - p) * share[:, None]
        gradient = np.append((towards * scores).sum() * slope, towards.sum(axis=0))
        gradient[1:] = level(gradient[1:] - 2 * ridge * offsets)
        return float(-(share * np.log(likelihood)).sum() + ridge * (offsets**2).sum()), -gradient

    # Gaussians and networks are over-confident, not the other way round: where the noise is
    # overestimated, a lower temperature would make them certain.
    low, high = 0.0, SETTINGS.log_temperatures[1]
    # Where scores are far too large the likelihood is flat, so look around before climbing.
    starts = [np.append(slope, np.zeros(n_classes)) for slope in np.linspace(-high, -low, 15)]
    start = min(starts, key=lambda v: loss(v)[0])
    bounds = [(-high, -low), *[(-10.0, 10.0) if o else (0.0, 0.0) for o in occurs]]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    offsets: Array = level(found.x[1:])
    offsets = offsets - offsets.mean()
    return Calibration(float(np.exp(-found.x[0])), offsets)
