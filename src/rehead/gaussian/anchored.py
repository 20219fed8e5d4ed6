"""Samples weighted by how far their labels are to be trusted, the noise measured at anchors.

Each round estimates the tied Gaussians from weighted samples, scores every sample by estimates that
did not see it (leave-one-out, in closed form), fits the noise model of ``labelnoise.py`` to these
scores, and takes the trust in each label as its weight for the next round. Rounds go on while the
likelihood of the observed labels grows.

Nothing has to be told how much noise there is. With clean labels the transition matrix at the
anchors is close to the identity, so a label that the Gaussians disagree with is taken for a hard
sample, not for a wrong one, and keeps its weight; fixed fractions and plain agreement drop it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array, some_rows
from rehead.gaussian.calibration import Priors, calibrate
from rehead.gaussian.composition import Composition
from rehead.gaussian.fit import Fit
from rehead.gaussian.kernels import MIN_SLACK, Subset
from rehead.gaussian.labelnoise import NoiseModel, fit_noise
from rehead.gaussian.leave_one_out import all_scores, leave_one_out_scores
from rehead.gaussian.options import Options
from rehead.gaussian.probability import corrected_nll
from rehead.gaussian.rows import ByClass, PooledMoments, pooled_moments
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.shrinkage import Shrinkage
from rehead.gaussian.tied import TiedGaussians, from_moments


class Regularisation(NamedTuple):
    """How much the covariance is shrunk, and towards what."""

    shrinkage: Shrinkage
    to_diagonal: bool = False

    def gaussians(self, moments: PooledMoments) -> TiedGaussians:
        """The Gaussians of some moments, regularised like this."""
        return from_moments(moments, shrinkage=self.shrinkage, to_diagonal=self.to_diagonal)


def regularisations(amounts: tuple[float, ...]) -> tuple[Regularisation, ...]:
    """Shrinkage by each of these amounts, towards identity and diagonal."""
    return tuple(Regularisation(a, diagonal) for diagonal in (False, True) for a in amounts)


REGULARISATIONS = regularisations(SETTINGS.shrinkages)
"""What ``shrinkage="auto"`` chooses from here, by the likelihood of the labels."""


class TrainingRows(NamedTuple):
    """The rows, their classes, and how often each counts (0: not at all).

    The noise model is fitted to the ``sampled`` rows; a count of 1 is a weight of ``unit``; moments
    are formed in ``dtype``.
    """

    data: ByClass
    codes: Array
    counts: Array
    sampled: Array
    unit: float = 1.0
    dtype: Any = None

    @property
    def n_classes(self) -> int:
        return self.data.n_classes

    @property
    def for_each_feature(self) -> float:
        """How many samples there are for each feature."""
        return float(self.counts.sum()) / self.data.n_features

    @property
    def sampled_codes(self) -> Array:
        return self.codes[self.sampled]

    @property
    def sampled_doubtful(self) -> Array:
        """How often each sampled row counts for the noise: labels that are known say nothing."""
        counts = self.counts[self.sampled]
        if self.data.trusted is None:
            return counts
        doubtful = np.where(self.data.trusted[self.sampled], 0.0, counts)
        return doubtful if doubtful.any() else counts

    def moments(self, trust: Array) -> PooledMoments:
        """Moments of the classes, samples weighted by trust."""
        w = trust * self.counts
        subsets = [Subset(np.arange(len(r)), w[r]) for r in self.data.rows]
        return pooled_moments(self.data, subsets, self.dtype)

    def composition(self, trust: Array) -> Composition:
        """What such moments contain; one copy of a row, also where it counts more than once."""
        one_copy = trust * np.minimum(self.counts, 1.0)
        totals = np.bincount(self.codes, weights=trust * self.counts, minlength=self.n_classes)
        return Composition(one_copy, self.codes, totals)

    def sampled_scores(self, trust: Array, gaussians: TiedGaussians) -> Array:
        """Leave-one-out scores of the sampled rows."""
        inside = self.composition(trust).take(self.sampled)
        X = some_rows(self.data.X, self.sampled)
        return leave_one_out_scores(gaussians, X, self.sampled_codes, inside, all_scores)


class Round(NamedTuple):
    """Trust, the Gaussians estimated with it, and the noise model of their scores.

    ``nats`` says how unlikely each label is.
    """

    trust: Array
    gaussians: TiedGaussians
    noise: NoiseModel
    regularisation: Regularisation
    nats: Array


class Rounds(NamedTuple):
    """What the best round found, the trust that it led to, and how many rounds there were.

    Its Gaussians are not kept: they are large, and those of the last trust take their place.
    """

    noise: NoiseModel
    regularisation: Regularisation
    nats: Array
    trust: Array
    steps: int


def anchored(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Weight samples by the trust in their labels; rounds while the labels get more likely."""
    rows = training_rows(data, rng)
    everything = np.ones(len(rows.codes))
    choose = options.shrinkage == "auto"
    candidates = _candidates(rows) if choose else (Regularisation(options.shrinkage),)
    rounds = _rounds(rows, _most_likely(rows, everything, candidates), options.max_steps)
    chosen = rounds.regularisation
    # What is best for noisy labels may not be what leads out of them.
    for amount in _others(rows, chosen) if choose else ():
        strong = chosen._replace(shrinkage=amount)
        other = _rounds(rows, _most_likely(rows, everything, (strong,)), options.max_steps)
        if _clearly_better(other.nats, rounds.nats, rows.sampled_doubtful):
            rounds = other
    return _fit(rows, rounds, options.priors)


def _candidates(rows: TrainingRows) -> tuple[Regularisation, ...]:
    scarce = rows.for_each_feature < SETTINGS.scarce_rows
    return REGULARISATIONS + regularisations(SETTINGS.scarce_shrinkages if scarce else ())


def _others(rows: TrainingRows, chosen: Regularisation) -> list[float]:
    """Shrinkages that are followed to the end as well.

    Where samples are scarce only stronger ones: after some rounds weaker ones look better than they
    are, since samples are trusted by scores that the samples themselves have shaped.
    """
    if rows.for_each_feature >= SETTINGS.ample_rows or isinstance(chosen.shrinkage, str):
        return []
    least = chosen.shrinkage if rows.for_each_feature < SETTINGS.scarce_rows else 0.0
    return [a for a in SETTINGS.strong_shrinkages if a != chosen.shrinkage and a > least]


def _fit(rows: TrainingRows, rounds: Rounds, priors: str | Array) -> Fit:
    """The Gaussians of the last trust, calibrated."""
    trust = rounds.trust
    gaussians = rounds.regularisation.gaussians(rows.moments(trust))
    scores, codes = rows.sampled_scores(trust, gaussians), rows.sampled_codes
    classifier = calibrated(rows, gaussians, scores, rounds.noise.transition, priors)
    weights = trust * rows.counts * rows.unit
    composition = Composition.from_rows(weights, rows.codes, rows.n_classes)
    noise = rounds.noise._replace(wrong=_wrong(rows, rounds.noise.trust(scores, codes)))
    n_iter = np.full(rows.n_classes, rounds.steps)
    return Fit(classifier, composition, n_iter, [], noise)


def calibrated(
    rows: TrainingRows, gaussians: TiedGaussians, scores: Array, transition: Array, priors: Any
) -> TiedGaussians:
    """Gaussians whose posterior is calibrated by leave-one-out scores of the sampled rows."""
    counts = rows.counts[rows.sampled]
    calibration = calibrate(scores, rows.sampled_codes, transition, counts)
    of_classes = Priors.of(priors, calibration.posterior(scores), counts)
    return of_classes.given_to(calibration.applied_to(gaussians))


def _wrong(rows: TrainingRows, right: Array) -> float:
    """Share of wrong labels, of those that are known to be right too."""
    if rows.data.trusted is not None:
        right = np.where(rows.data.trusted[rows.sampled], 1.0, right)
    return 1.0 - float(np.average(right, weights=rows.counts[rows.sampled]))


def _rounds(rows: TrainingRows, best: Round, max_steps: int) -> Rounds:
    """Estimate and trust in turns, while the labels get more likely.

    First with trust as it is, which does not commit itself early. Then doubtful samples count for
    less, where that makes the labels more likely still.
    """
    first, *_ = SETTINGS.trust_powers
    trust = next_trust = _next_trust(rows, best, first)
    steps = 1
    for power in SETTINGS.trust_powers:
        if power != first:
            next_trust = _next_trust(rows, best, power)
        for _ in range(max_steps - 1):
            steps += 1
            now = _most_likely(rows, next_trust, (best.regularisation,))
            if now.noise.nll >= best.noise.nll:
                break
            best, next_trust = now, _next_trust(rows, now, power)
            trust = next_trust
    return Rounds(best.noise, best.regularisation, best.nats, trust, steps)


def _clearly_better(now: Array, before: Array, counts: Array) -> bool:
    """Whether labels became more likely than chance would have it."""
    share, gain = counts / counts.sum(), before - now
    mean = share @ gain
    error = np.sqrt(share**2 @ (gain - mean) ** 2)
    return bool(mean > max(SETTINGS.clear_gain, SETTINGS.standard_errors * error))


def training_rows(data: ByClass, rng: np.random.Generator) -> TrainingRows:
    """Rows that count: those of positive weight that are not far from everything."""
    present = np.zeros(len(data.X), bool)
    present[np.concatenate(data.rows)] = True
    counts = np.where(present, 1.0 if data.weights is None else data.weights, 0.0)
    # Weights may sum to 1; that does not make samples few.
    unit = min(1.0, float(counts[present].mean()))
    counts = np.where(data.near, counts / unit, 0.0)
    sampled = np.flatnonzero(present)
    if len(sampled) > SETTINGS.noise_sample:
        sampled = np.sort(rng.choice(sampled, SETTINGS.noise_sample, replace=False))
    rows = TrainingRows(data, data.codes, counts, sampled, unit)
    weakest = Regularisation(SETTINGS.shrinkages[0]).gaussians(rows.moments(np.ones(len(counts))))
    # Single precision does where what is shrunk least has an inverse in it.
    weak = weakest.factor.slack < MIN_SLACK["f"] or weakest.shrunk > 0
    return rows._replace(dtype=np.float64) if weak else rows


def _most_likely(rows: TrainingRows, trust: Array, candidates: tuple[Regularisation, ...]) -> Round:
    """Gaussians of weighted samples, regularised so that the labels are most likely."""
    moments = rows.moments(trust)
    codes = rows.sampled_codes

    def estimated(candidate: Regularisation) -> Round:
        gaussians = candidate.gaussians(moments)
        scores = rows.sampled_scores(trust, gaussians)
        noise = fit_noise(scores, codes, counts=rows.sampled_doubtful)
        nats = corrected_nll(noise.posterior(scores), codes, noise.transition)
        return Round(trust, gaussians, noise, candidate, nats)

    # One after the other: the covariances of all at once would be large.
    return min(map(estimated, candidates), key=lambda r: r.noise.nll)


def _next_trust(rows: TrainingRows, now: Round, power: float) -> Array:
    """The trust of the next round; known labels keep all of theirs."""
    data, inside, least = rows.data, rows.composition(now.trust), SETTINGS.least_class_weight
    weights = partial(now.noise.sample_weights, power=power)
    trust: Array = leave_one_out_scores(now.gaussians, data.X, rows.codes, inside, weights)
    if data.trusted is not None:
        trust[data.trusted] = 1.0
    counted = trust * rows.counts
    for of_class in data.rows:
        if counted[of_class].sum() < min(least, rows.counts[of_class].sum()):
            # Next to nothing is trusted here; its best samples stand for the class all the same.
            ranked = of_class[np.argsort(-trust[of_class], kind="stable")]
            before = np.cumsum(rows.counts[ranked]) - rows.counts[ranked]
            trust[ranked[before < least]] = 1.0
    return trust
