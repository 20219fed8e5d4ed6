"""A model of label noise on top of class scores: how wrong labels come about, and which they are.

Scores s_c of a sample (log densities that did not see it) become a posterior of its *true* class,
p_c ~ beta_c exp(s_c / tau). Its observed label y is drawn from row c of T. So

    P(y | x) = sum_c p_c T[c, y],         P(c | x, y) ~ p_c T[c, y],

and the second one, at c = y, is the probability that the label is right: its *trust*.

A free model runs away: p and T can trade the same noise between them, and a p that reproduces the
noise with T = I is as likely as the clean p with the true T. Two things hold it:

- T is not fitted. It is read off at anchors (``anchors.py``).
- Gaussians in high dimension are over-confident. The temperature tau calibrates them: it
  maximises the likelihood of the observed labels, given T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from rehead._typing import Array
from rehead.gaussian.anchors import anchor_transition, variance_of_shares
from rehead.gaussian.probability import LEAST_PROBABILITY, softmax
from rehead.gaussian.settings import SETTINGS

DOUBTFUL = "wrong, or too hard to tell by these features"
"""What the share stands for: where classes overlap, the two cannot be distinguished."""


class NoiseModel(NamedTuple):
    """How labels came about.

    ``temperature`` calibrates scores, ``priors`` are the shares of the true classes,
    ``transition`` is T, ``anchors`` how many samples each of its rows was read off at, ``nll`` the
    mean of ``-log P(y | x)``, ``wrong`` the share of labels that are wrong (or too hard to tell by
    these features), judged one by one. ``unseen`` is how much larger that share may be where the
    judge has memorised labels, and vouches for them.
    """

    temperature: float
    priors: Array
    transition: Array
    anchors: Array
    nll: float
    wrong: float
    unseen: float = 0.0

    def to_arrays(self, prefix: str) -> dict[str, Array]:
        """Its fields as the arrays of a file."""
        return {prefix + name: np.asarray(value) for name, value in self._asdict().items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], prefix: str) -> NoiseModel:
        """From the arrays of a file, named by fields."""
        found: dict[str, Any] = {f: arrays.get(prefix + f, np.array(np.nan)) for f in cls._fields}
        found["unseen"] = arrays.get(prefix + "unseen", np.array(0.0))  # new in version 2
        numbers = {f: float(found[f]) for f in ("temperature", "nll", "wrong", "unseen")}
        noise = cls(**{**found, **numbers})
        return noise if np.isfinite(noise.wrong) else noise._replace(wrong=noise.rate)

    @property
    def rate(self) -> float:
        """Share of wrong labels that the matrix stands for, of any labels it makes."""
        return float(1.0 - (self.priors * np.diag(self.transition)).sum())

    @property
    def rate_error(self) -> float:
        """Counting error of the rate only: what counting labels at so few anchors leaves open.

        Not in it: where classes overlap, hard samples are taken for wrong labels, which can make
        the rate larger by far more than this. (What memorised judges cannot see is in it: two
        counting errors reach as far.)
        """
        variance = variance_of_shares(np.diag(self.transition), self.anchors)
        counting = np.sqrt((self.priors**2 * variance).sum())
        return float(np.hypot(counting, self.unseen / SETTINGS.standard_errors))

    def verdict(self) -> str:
        """How many labels are wrong, in words, and no more exactly than is known."""
        if self.unseen > SETTINGS.told_share:
            most = self.wrong + self.unseen
            return (
                f"How many labels are wrong is unclear: {self.wrong:.0%} by judges that have "
                f"memorised some of them, {most:.0%} by held-out labels."
            )
        reach = SETTINGS.standard_errors * self.rate_error
        if self.rate_error > SETTINGS.told_share:
            least, most = max(self.wrong - reach, 0.0), min(self.wrong + reach, 1.0)
            return (
                "How many labels are wrong is unclear from so few clear samples: between "
                f"{least:.0%} and {most:.0%}."
            )
        if self.wrong <= reach:
            return "The labels are nearly clean."
        return f"{about(self.wrong).capitalize()} of the labels are {DOUBTFUL}."

    def posterior(self, scores: Array) -> Array:
        """``p_c``: what the sample is, judged without its label."""
        return _posterior(scores, self.temperature, self.priors)

    def posterior_given_label(self, scores: Array, codes: Array) -> Array:
        """``P(c | x, y)``: what the sample is, its label taken into account."""
        return self.given_label(self.posterior(scores), codes)

    def given_label(self, posterior: Array, codes: Array) -> Array:
        """``P(c | x, y)`` from a posterior that was found without the label."""
        return _given_label(posterior, self.transition[:, codes].T)

    def trust(self, scores: Array, codes: Array) -> Array:
        """Probability that each label is right."""
        every = np.arange(len(codes))
        trust: Array = self.posterior_given_label(scores, codes)[every, codes]
        return trust

    def sample_weights(self, scores: Array, codes: Array, power: float = 1.0) -> Array:
        """How much each sample should count in an estimate: trust, its odds to some power.

        A wrong label harms an estimate more than one more right label helps it, so doubtful ones
        may count for less than the probability that they are right.
        """
        trust = self.trust(scores, codes)
        weights: Array = trust**power / (trust**power + (1.0 - trust) ** power)
        return weights


def fit_noise(
    scores: Array,
    codes: Array,
    transition: Array | None = None,
    counts: Array | None = None,
) -> NoiseModel:
    """Transition matrix at anchors (or as given), then temperature and priors by likelihood.

    ``counts`` says how often each sample counts.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> true = rng.integers(2, size=2000)
    >>> labels = np.where(rng.random(2000) < 0.3, 1 - true, true)
    >>> noise = fit_noise(8.0 * np.eye(2)[true], labels)
    >>> noise.transition.round(1)
    array([[0.7, 0.3],
           [0.3, 0.7]])
    """
    scores = scores.astype(np.float64)
    n_classes = scores.shape[1]
    counts = np.ones(len(codes)) if counts is None else counts
    share = counts / counts.sum()
    T, anchors = anchor_transition(scores, codes, counts)
    T = T if transition is None else transition
    of_label = T[:, codes].T
    priors = np.full(n_classes, 1.0 / n_classes)
    log_tau = 0.0
    for _ in range(3):

        def nll(log_tau: float, priors: Array = priors) -> float:
            p = _posterior(scores, np.exp(log_tau), priors)
            likelihood = np.maximum((p * of_label).sum(axis=1), LEAST_PROBABILITY)
            return float(-(share * np.log(likelihood)).sum())

        least = minimize_scalar(nll, bounds=SETTINGS.log_temperatures, method="bounded")
        log_tau = float(least.x)
        for _ in range(5):  # expectation-maximisation for the shares of the classes
            joint = _given_label(_posterior(scores, np.exp(log_tau), priors), of_label)
            priors = np.maximum(share @ joint, 1e-4)
            priors = priors / priors.sum()
    found = NoiseModel(float(np.exp(log_tau)), priors, T, anchors, nll(log_tau, priors), 0.0)
    return found._replace(wrong=1.0 - float(share @ found.trust(scores, codes)))


def mean_noise(measured: Sequence[NoiseModel], weights: Array | None = None) -> NoiseModel:
    """What several models of the same labels say on average."""
    means: dict[str, Any] = {
        name: np.average([getattr(noise, name) for noise in measured], axis=0, weights=weights)
        for name in NoiseModel._fields
    }
    numbers = {f: float(v) for f, v in means.items() if v.ndim == 0}
    return NoiseModel(**{**means, **numbers})


def about(share: float) -> str:
    """A share that is not known exactly.

    Examples
    --------
    >>> about(0.246), about(0.004)
    ('about 25%', 'less than 1%')
    """
    return f"about {share:.0%}" if share >= 0.01 else "less than 1%"


def _posterior(scores: Array, temperature: float, priors: Array) -> Array:
    z: Array = scores / temperature
    z = np.add(z, np.log(priors), out=z if z.dtype == np.float64 else None)
    return softmax(z, overwrite=True)


def _given_label(posterior: Array, of_label: Array) -> Array:
    joint: Array = posterior * of_label
    joint /= np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return joint
