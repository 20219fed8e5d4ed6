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
    likelihood = _Likelihood.of([scores], codes, transition, counts)
    # Gaussians and networks are over-confident, not the other way round: where the noise is
    # overestimated, a lower temperature would make them certain.
    low, high = 0.0, SETTINGS.log_temperatures[1]
    # Where scores are far too large the likelihood is flat, so look around before climbing.
    starts = [np.array([slope]) for slope in np.linspace(-high, -low, 15)]
    start = min(starts, key=lambda log_slopes: likelihood.loss(likelihood.vector(log_slopes))[0])
    log_slopes, offsets = likelihood.climb(start, [(-high, -low)])
    return Calibration(float(np.exp(-log_slopes[0])), offsets)


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
    """Slopes of two scores and one offset a class that make noisy labels most likely.

    A product of opinions, not a mean of them: it stays linear in the features where both are.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1, 1])
    >>> knows, guesses = 4.0 * np.eye(2)[y], np.eye(2)[[0, 1, 0, 1]]
    >>> found = pool(knows, guesses, y, np.eye(2))
    >>> found.temperature < 1.01, found.factor < 0.01
    (True, True)
    """
    likelihood = _Likelihood.of([scores, others], codes, transition, counts)
    alone = calibrate(scores, codes, transition, counts)
    start = np.log([0.5 / alone.temperature, 0.5])
    (slope, factor), offsets = likelihood.climb(start, LOG_SLOPES)
    return Pool(float(np.exp(-slope)), float(np.exp(factor)), offsets)


LOG_SLOPES = [(-SETTINGS.log_temperatures[1], 0.0), (-8.0, 1.0)]
"""How far two slopes may go. The second opinion was held back by a ridge, so it may grow."""


class _Likelihood(NamedTuple):
    """Of noisy labels, under slopes of some scores and one offset a class."""

    scores: list[Array]
    of_label: Array
    share: Array
    ridge: float
    occurs: Array

    @classmethod
    def of(
        cls, scores: list[Array], codes: Array, transition: Array, counts: Array | None
    ) -> _Likelihood:
        counts = np.ones(len(codes)) if counts is None else counts
        centred = []
        for s in scores:
            s = s.astype(np.float64)
            centred.append(s - s.mean(axis=1, keepdims=True))
        # A class whose label does not occur is not known to be rare: it keeps its offset of 0, and
        # the others do not rise together, which would push it down all the same.
        occurs = np.bincount(codes, weights=counts, minlength=len(transition)) > 0
        ridge = SETTINGS.offset_ridge / counts.sum()
        return cls(centred, transition[:, codes].T, counts / counts.sum(), ridge, occurs)

    def vector(self, log_slopes: Array) -> Array:
        """Slopes, and offsets of 0."""
        return np.append(log_slopes, np.zeros(len(self.occurs)))

    def level(self, offsets: Array) -> Array:
        """Offsets that are 0 on average where labels occur, if some do not."""
        if self.occurs.all():
            return offsets
        return np.where(self.occurs, offsets - offsets[self.occurs].mean(), 0.0)

    def loss(self, v: Array) -> tuple[float, Array]:
        """Mean loss with a ridge on the offsets, and its slopes."""
        n = len(self.scores)
        slopes, offsets, share = np.exp(v[:n]), self.level(v[n:]), self.share
        z = offsets + sum(a * s for a, s in zip(slopes, self.scores, strict=True))
        p = softmax(np.asarray(z), overwrite=True)
        joint = p * self.of_label
        likelihood = np.maximum(joint.sum(axis=1), np.finfo(float).tiny)
        towards = (joint / likelihood[:, None] - p) * share[:, None]
        of_slopes = [
            (towards * s).sum() * a for a, s in zip(slopes, self.scores, strict=True)
        ]
        of_offsets = self.level(towards.sum(axis=0) - 2 * self.ridge * offsets)
        value = -(share * np.log(likelihood)).sum() + self.ridge * (offsets**2).sum()
        return float(value), -np.append(of_slopes, of_offsets)

    def climb(
        self, start: Array, bounds: list[tuple[float, float]]
    ) -> tuple[Array, Array]:
        """The best logarithms of slopes within bounds, and offsets that are 0 on average."""
        of_offsets = [(-10.0, 10.0) if o else (0.0, 0.0) for o in self.occurs]
        found = minimize(
            self.loss,
            self.vector(start),
            jac=True,
            method="L-BFGS-B",
            bounds=[*bounds, *of_offsets],
        )
        n = len(self.scores)
        offsets = self.level(found.x[n:])
        return found.x[:n], offsets - offsets.mean()
