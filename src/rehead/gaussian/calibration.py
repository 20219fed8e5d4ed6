"""Calibration: a temperature and one offset a class, by the likelihood of noisy labels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from rehead._typing import Array
from rehead.gaussian.likelihood import LabelLikelihood
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
        """The same Gaussians with a calibrated posterior; the scores were theirs as they are."""
        return replace(
            gaussians,
            temperature=gaussians.temperature * self.temperature,
            offsets=self.offsets
            + (0.0 if gaussians.offsets is None else gaussians.offsets / self.temperature),
            added=None if gaussians.added is None else gaussians.added.times(1 / self.temperature),
        )

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
    likelihood = _Likelihood.of(scores, codes, transition, counts)
    # Gaussians and networks are over-confident, not the other way round: where the noise is
    # overestimated, a lower temperature would make them certain.
    low, high = 0.0, SETTINGS.log_temperatures[1]
    # Where scores are far too large the likelihood is flat, so look around before climbing.
    start = likelihood.best_start(np.linspace(-high, -low, 15))
    log_slope, offsets = likelihood.climb(start, (-high, -low))
    return Calibration(float(np.exp(-log_slope)), offsets)


class Pool(NamedTuple):
    """``softmax(scores / temperature + factor * others + offsets)``: two opinions as one."""

    temperature: float
    factor: float
    offsets: Array

    def joint(self, scores: Array, others: Array) -> Array:
        """The scores of both, without the offsets."""
        joint: Array = scores / self.temperature + self.factor * others
        return joint

    def posterior(self, scores: Array, others: Array) -> Array:
        """What both make of samples."""
        return softmax(self.joint(scores, others) + self.offsets, overwrite=True)


def pool(
    scores: Array,
    others: Array,
    codes: Array,
    transition: Array,
    counts: Array | None = None,
) -> Pool:
    """Two opinions with an equal voice: each calibrated on its own, then both together.

    A product of opinions, not a mean of them: it stays linear in the features where both are.
    Voices of their own would make noisy labels more likely still, but not predictions better:
    under noise that follows the boundaries, the one that follows the labels would be heard alone.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1, 1])
    >>> knows, guesses = 4.0 * np.eye(2)[y], np.eye(2)[[0, 1, 0, 1]]
    >>> pool(knows, guesses, y, np.eye(2)).posterior(knows, guesses).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    alone = calibrate(scores, codes, transition, counts)
    of_others = _Likelihood.of(others, codes, transition, counts)
    log_factor, _ = of_others.climb(0.0, LOG_FACTORS)
    factor = float(np.exp(log_factor))
    joint = scores / alone.temperature + factor * others
    of_both = _Likelihood.of(joint, codes, transition, counts)
    log_share, offsets = of_both.climb(np.log(0.5), LOG_SHARES)
    share = float(np.exp(log_share))
    return Pool(alone.temperature / share, share * factor, offsets)


LOG_FACTORS = (-8.0, 1.0)
"""How far the second opinion may be scaled. A ridge has held it back, so it may grow."""
LOG_SHARES = (-3.0, 1.0)
"""How far both may be, together: half of each, if they say the same."""


class _Likelihood(NamedTuple):
    """Of noisy labels, under a slope of scores and one offset a class."""

    labels: LabelLikelihood
    ridge: float
    occurs: Array

    @classmethod
    def of(
        cls, scores: Array, codes: Array, transition: Array, counts: Array | None
    ) -> _Likelihood:
        counts = np.ones(len(codes)) if counts is None else counts
        # A class whose label does not occur is not known to be rare: it keeps its offset of 0, and
        # the others do not rise together, which would push it down all the same.
        n_classes = len(transition)
        occurs = np.bincount(codes % n_classes, weights=counts, minlength=n_classes) > 0
        ridge = SETTINGS.offset_ridge / counts.sum()
        return cls(LabelLikelihood.of(scores, codes, transition, counts), ridge, occurs)

    def level(self, offsets: Array) -> Array:
        """Offsets that are 0 on average where labels occur, if some do not."""
        if self.occurs.all():
            return offsets
        return np.where(self.occurs, offsets - offsets[self.occurs].mean(), 0.0)

    def best_start(self, slopes: Array) -> float:
        """The best logarithm of a slope for offsets of 0, on some of the rows."""
        some, even = self.labels.some(), np.ones(len(self.occurs))
        return float(min(slopes, key=lambda slope: some.value(slope, even)))

    def loss(self, v: Array) -> tuple[float, Array]:
        """Mean loss with a ridge on the offsets, and its slopes."""
        offsets = self.level(v[1:])
        found = self.labels.at(v[0], np.exp(offsets), of_classes=True)
        of_offsets = self.level(found.of_classes + 2 * self.ridge * offsets)
        value = found.value + self.ridge * float((offsets**2).sum())
        return value, np.append(found.slope, of_offsets)

    def climb(self, log_slope: float, bounds: tuple[float, float]) -> tuple[float, Array]:
        """The logarithm of the best slope within bounds, and offsets that are 0 on average."""
        of_offsets = [(-10.0, 10.0) if o else (0.0, 0.0) for o in self.occurs]
        found = minimize(
            self.loss,
            np.append(log_slope, np.zeros(len(self.occurs))),
            jac=True,
            method="L-BFGS-B",
            bounds=[bounds, *of_offsets],
        )
        offsets = self.level(found.x[1:])
        return float(found.x[0]), offsets - offsets.mean()
