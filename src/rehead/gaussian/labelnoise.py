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

from rehead._perrow import spans_of
from rehead._typing import Array
from rehead.gaussian.anchors import anchor_transition, variance_of_shares
from rehead.gaussian.likelihood import LabelLikelihood, best_temperature, blocks, precision_of
from rehead.gaussian.probability import corrected_nll, softmax
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.steps import remembered

DOUBTFUL = "wrong, or too hard to tell by these features"
"""What the share stands for: where classes overlap, the two cannot be distinguished."""
MANY = 0.1
"""If more labels than this may be wrong, that none was found does not make them clean."""
OF_HARD_SAMPLES = ("guessed", "least", "most")
"""Fields of a noise model that a file may lack."""


class NoiseModel(NamedTuple):
    """How labels came about.

    ``temperature`` calibrates scores, ``priors`` are the shares of the true classes,
    ``transition`` is T, ``anchors`` how many samples each of its rows was read off at, ``nll`` the
    mean of ``-log P(y | x)``, ``wrong`` the share of labels that are wrong (or too hard to tell by
    these features), judged one by one. ``unseen`` is how much larger that share may be where the
    judge has memorised labels, and vouches for them. ``guessed`` says, from 0 to 1, how far labels
    of hard samples are guesses; ``least`` and ``most`` are shares of wrong labels if they are not,
    and if they are (``guesses.py``). ``checked`` is the number of labels, drawn at random, of
    which it is known whether they were right: they bound these shares.
    """

    temperature: float
    priors: Array
    transition: Array
    anchors: Array
    nll: float
    wrong: float
    unseen: float = 0.0
    guessed: float = 0.0
    least: float = np.nan
    most: float = np.nan
    checked: float = 0.0

    def to_arrays(self, prefix: str) -> dict[str, Array]:
        """Its fields as the arrays of a file."""
        fields = self._asdict()
        if np.isnan(self.least):  # nobody looked at hard samples
            fields = {name: v for name, v in fields.items() if name not in OF_HARD_SAMPLES}
        if not self.checked:
            del fields["checked"]
        return {prefix + name: np.asarray(value) for name, value in fields.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], prefix: str) -> NoiseModel:
        """From the arrays of a file, named by fields."""
        found: dict[str, Any] = {f: arrays.get(prefix + f, np.array(np.nan)) for f in cls._fields}
        for name in ("unseen", "guessed", "checked"):  # earlier files, and most others, lack them
            found[name] = arrays.get(prefix + name, np.array(0.0))
        numbers = {f: float(v) for f, v in found.items() if np.ndim(v) == 0}
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
        if self.checked:
            return f"{_by_checks(self)}."
        if self.unseen > SETTINGS.told_share:
            most = self.wrong + self.unseen
            return (
                f"How many labels are wrong is unclear: {self.wrong:.0%} by judges that have "
                f"memorised some of them, {most:.0%} by held-out labels."
            )
        reach = SETTINGS.standard_errors * self.rate_error
        if is_unclear(self.rate_error, self.least, self.most):
            least, most = self.least, self.most
            if np.isnan(least):
                least, most = max(self.wrong - reach, 0.0), min(self.wrong + reach, 1.0)
            return (
                "How many labels are wrong is unclear from so few clear samples: between "
                f"{least:.0%} and {most:.0%}."
            )
        return f"{_sentence(self, reach)}."

    def posterior(self, scores: Array) -> Array:
        """``p_c``: what the sample is, judged without its label."""
        return _posterior(scores, self.temperature, self.priors)

    def best_class(self, scores: Array) -> Array:
        """The most probable class of each sample, judged without its label."""
        best: Array = (scores / self.temperature + np.log(self.priors)).argmax(axis=1)
        return best

    def nats(self, scores: Array, codes: Array) -> Array:
        """How unlikely each label is; the posteriors of all are never in memory at once."""
        parts = [
            corrected_nll(self.posterior(scores[rows]), codes[rows], self.transition)
            for rows in blocks(scores)
        ]
        return np.concatenate(parts)

    def posterior_given_label(self, scores: Array, codes: Array) -> Array:
        """``P(c | x, y)``: what the sample is, its label taken into account."""
        return self.given_label(self.posterior(scores), codes)

    def given_label(self, posterior: Array, codes: Array) -> Array:
        """``P(c | x, y)`` from a posterior that was found without the label.

        A guess says nothing that the posterior does not say.
        """
        found = _given_label(posterior, self.transition[:, codes].T)
        if self.guessed:
            found *= 1.0 - self.guessed
            found += self.guessed * posterior
            np.minimum(found, 1.0, out=found)  # rounding of single precision
        return found

    def without_guesses(self) -> NoiseModel:
        """As if labels of hard samples came about as those of others."""
        return self._replace(guessed=0.0)

    def trust(self, scores: Array, codes: Array, now: Array | None = None) -> Array:
        """Probability that each label is right; that ``now`` is, where labels have changed since.

        Only ``codes`` are observed: a label that a model has changed says nothing more.
        """
        trust, asked = np.empty(len(codes)), codes if now is None else now
        for rows in blocks(scores):
            own = asked[rows]
            found = self.posterior_given_label(scores[rows], codes[rows])
            trust[rows] = found[np.arange(len(own)), own]
        return trust

    def sample_weights(self, scores: Array, codes: Array, power: float = 1.0) -> Array:
        """How much each sample should count in an estimate: trust, its odds to some power.

        A wrong label harms an estimate more than one more right label helps it, so doubtful ones
        may count for less than the probability that they are right.
        """
        return with_odds_to(power, self.trust(scores, codes))


def with_odds_to(power: float, trust: Array) -> Array:
    """Probabilities, their odds to some power.

    Examples
    --------
    >>> import numpy as np
    >>> with_odds_to(2.0, np.array([0.0, 0.25, 1.0]))     # odds of 1 to 3, then 1 to 9
    array([0. , 0.1, 1. ])
    """
    weights = np.empty(len(trust))
    for span in spans_of(len(trust)):
        to_power = trust[span] ** power
        weights[span] = to_power / (to_power + (1.0 - trust[span]) ** power)
    return weights


@remembered(lambda found: NoiseModel(*found))
def fit_noise(
    scores: Array,
    codes: Array,
    transition: Array | None = None,
    counts: Array | None = None,
    start: float | None = None,
    evidence: Array | None = None,
) -> NoiseModel:
    """Transition matrix at anchors (or as given), then temperature and priors by likelihood.

    ``counts`` says how often each sample counts; ``start`` is a temperature to search from.
    ``evidence`` are codes in which some labels are known to be right, where that is so: these are
    to be likely, while T is read off all labels as they came.

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
    counts = np.ones(len(codes)) if counts is None else counts
    T, anchors = anchor_transition(scores, codes, counts)
    T = T if transition is None else transition
    labels = LabelLikelihood.of(scores, codes if evidence is None else evidence, T, counts)
    n_classes = scores.shape[1]
    priors = np.full(n_classes, 1.0 / n_classes)
    log_tau = None if start is None else float(np.log(start))
    for _ in range(3):
        log_tau = best_temperature(labels, priors, SETTINGS.log_temperatures, log_tau)
        for _ in range(5):  # expectation-maximisation for the shares of the classes
            priors = np.maximum(labels.shares(-log_tau, priors), least_prior(n_classes))
            priors = priors / priors.sum()
    assert log_tau is not None
    nll = labels.value(-log_tau, priors)
    wrong = 1.0 - float(labels.share @ labels.trust(-log_tau, priors))
    return NoiseModel(float(np.exp(log_tau)), priors, T, anchors, nll, wrong)


def least_prior(n_classes: int) -> float:
    """A share that no class is below; of many classes, each has less than this of a few."""
    return min(1e-4, 0.1 / n_classes)


def mean_noise(measured: Sequence[NoiseModel], weights: Array | None = None) -> NoiseModel:
    """What several models of the same labels say on average."""
    means: dict[str, Any] = {
        name: np.average([getattr(noise, name) for noise in measured], axis=0, weights=weights)
        for name in NoiseModel._fields
    }
    numbers = {f: float(v) for f, v in means.items() if v.ndim == 0}
    return NoiseModel(**{**means, **numbers})


def is_unclear(error: float, least: float, most: float) -> bool:
    """Whether so few anchors leave the share unclear, and nothing else makes it clear.

    Where classes are far apart, it is plain which labels are wrong, however few the anchors.

    Examples
    --------
    >>> is_unclear(0.08, 0.1, 0.4), is_unclear(0.08, 0.28, 0.32), is_unclear(0.01, 0.1, 0.4)
    (True, False, False)
    """
    wide = np.isnan(least) or most - least > 2.0 * SETTINGS.told_share
    return bool(wide and error > SETTINGS.told_share)


def about(share: float) -> str:
    """A share that is not known exactly.

    Examples
    --------
    >>> about(0.246), about(0.004)
    ('about 25%', 'less than 1%')
    """
    return f"about {share:.0%}" if share >= 0.01 else "less than 1%"


def between(least: float, most: float) -> str:
    """A range of shares, in brackets; nothing where there is none, or it is too narrow to be one.

    Examples
    --------
    >>> between(0.031, 0.274), between(0.0, 0.04), between(float("nan"), float("nan"))
    (' (3% to 27%)', ' (at most 4%, or about clean)', '')
    >>> between(0.296, 0.304), between(0.14, 1.0), between(0.0, 1.0)
    ('', ' (14% or more)', '')
    """
    nothing_known = round(least, 2) == 0 and round(most, 2) == 1
    if np.isnan(least) or nothing_known or f"{least:.0%}" == f"{most:.0%}" != "0%":
        return ""
    if round(least, 2) == 0:
        return f" (at most {max(most, 0.01):.0%}, or about clean)"
    return f" ({least:.0%} or more)" if most >= 1.0 else f" ({least:.0%} to {most:.0%})"


def at_most(most: float) -> str:
    """How many labels may be wrong where none seems so; nothing where nobody knows.

    Errors of a machine, or of a rule, look like right labels.

    Examples
    --------
    >>> at_most(0.034), at_most(float("nan"))
    (': at most 3% wrong, unless a machine made them', '')
    """
    if np.isnan(most):
        return ""
    return f": at most {max(most, 0.01):.0%} wrong, unless a machine made them"


def _by_checks(noise: NoiseModel) -> str:
    told = f"as {noise.checked:.0f} that were checked tell"
    if round(noise.wrong, 2) == 0:
        return f"At most {max(noise.most, 0.01):.0%} of the labels are wrong, {told}"
    wrong = about(noise.wrong).capitalize()
    return f"{wrong} of the labels are wrong, {told}{between(noise.least, noise.most)}"


def _sentence(noise: NoiseModel, reach: float) -> str:
    if noise.wrong <= reach and noise.most > MANY:
        many = f"up to {noise.most:.0%} may be"
        return f"These features do not tell how many labels are wrong: {many}"
    if noise.wrong <= reach:
        return "The labels are about clean" + at_most(noise.most)
    wrong = f"{about(noise.wrong).capitalize()} of the labels are {DOUBTFUL}"
    return wrong + between(noise.least, noise.most)


def _posterior(scores: Array, temperature: float, priors: Array) -> Array:
    z: Array = scores.astype(precision_of(scores)) / temperature
    z += np.log(priors).astype(z.dtype)
    return softmax(z, overwrite=True)


def _given_label(posterior: Array, of_label: Array) -> Array:
    joint: Array = posterior * of_label
    joint /= np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return joint
