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
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.composition import Composition
from rehead.gaussian.fit import Fit
from rehead.gaussian.labelnoise import NoiseModel, fit_noise
from rehead.gaussian.leave_one_out import leave_one_out_scores
from rehead.gaussian.lost import Taken, another_start
from rehead.gaussian.options import Options
from rehead.gaussian.probability import corrected_nll
from rehead.gaussian.rows import ByClass
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.tied import TiedGaussians
from rehead.gaussian.training import (
    Regularisation,
    TrainingRows,
    calibrated,
    clearly_better,
    regularisations,
    share_of_wrong,
    training_rows,
)

REGULARISATIONS = regularisations(SETTINGS.shrinkages)
"""What ``shrinkage="auto"`` chooses from here, by the likelihood of the labels."""


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
    return calibrated_fit(rows, trusted_gaussians(rows, options), options.priors)


class Trusted(NamedTuple):
    """Gaussians of samples weighted by the trust in their labels, and how they came about.

    ``scores`` are those of the sampled rows, each without itself; ``steps`` are the rounds.
    """

    gaussians: TiedGaussians
    trust: Array
    scores: Array
    noise: NoiseModel
    steps: int


def trusted_gaussians(rows: TrainingRows, options: Options) -> Trusted:
    """The Gaussians of the last trust, uncalibrated."""
    rounds = _best_rounds(rows, options)
    gaussians = rounds.regularisation.gaussians(rows.moments(rounds.trust))
    scores = rows.sampled_scores(rounds.trust, gaussians)
    right = rounds.noise.trust(scores, rows.sampled_codes)
    noise = rounds.noise._replace(wrong=share_of_wrong(rows, right))
    return Trusted(gaussians, rounds.trust, scores, noise, rounds.steps)


def calibrated_fit(rows: TrainingRows, found: Trusted, priors: str | Array) -> Fit:
    """What Gaussians alone make of the labels."""
    T = found.noise.transition
    classifier = calibrated(rows, found.gaussians, found.scores, T, priors)
    weights = found.trust * rows.counts * rows.unit
    composition = Composition.from_rows(weights, rows.codes, rows.n_classes)
    return Fit(classifier, composition, np.full(rows.n_classes, found.steps), [], found.noise)


def _best_rounds(rows: TrainingRows, options: Options) -> Rounds:
    everything = np.ones(len(rows.codes))
    choose = options.shrinkage == "auto"
    candidates = candidates_for(rows) if choose else (Regularisation(options.shrinkage),)
    rounds = _rounds(rows, most_likely(rows, everything, candidates), options.max_steps)
    chosen = rounds.regularisation
    # What is best for noisy labels may not be what leads out of them.
    for amount in _others(rows, chosen) if choose else ():
        strong = chosen._replace(shrinkage=amount)
        other = _rounds(rows, most_likely(rows, everything, (strong,)), options.max_steps)
        if clearly_better(other.nats, rounds.nats, rows.sampled_doubtful, SETTINGS.clear_gain):
            rounds = other
    return _with_lost_classes(rows, rounds, options.max_steps)


def _with_lost_classes(rows: TrainingRows, best: Rounds, max_steps: int) -> Rounds:
    """Rounds from other starts, where classes seem to be lost; the best of all."""
    for ratio in SETTINGS.exchange_ratios:
        for _ in range(SETTINGS.other_starts):
            start = another_start(_taken(rows, best), ratio)
            if start is None:
                break
            start = rows.with_known(start)
            first = most_likely(rows, start, (best.regularisation,))
            found = _rounds(rows, first, max_steps)
            if found.noise.nll >= best.noise.nll:
                break
            best = found._replace(steps=best.steps + found.steps)
    return best


def _taken(rows: TrainingRows, rounds: Rounds) -> Taken:
    """What the rows are taken for, judged without their labels."""
    gaussians = rounds.regularisation.gaussians(rows.moments(rounds.trust))
    inside = rows.composition(rounds.trust)

    def best(scores: Array, codes: Array) -> Array:
        found: Array = rounds.noise.posterior(scores).argmax(axis=1)
        return found

    taken_for = leave_one_out_scores(gaussians, rows.data.X, rows.codes, inside, best)
    right = 1.0 - rounds.noise.wrong
    return Taken(np.maximum(rows.codes, 0), taken_for, rounds.trust, rows.counts, right)


def candidates_for(rows: TrainingRows) -> tuple[Regularisation, ...]:
    """Shrinkages to choose from."""
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
            now = most_likely(rows, next_trust, (best.regularisation,))
            if now.noise.nll >= best.noise.nll:
                break
            best, next_trust = now, _next_trust(rows, now, power)
            trust = next_trust
    return Rounds(best.noise, best.regularisation, best.nats, trust, steps)


def most_likely(rows: TrainingRows, trust: Array, candidates: tuple[Regularisation, ...]) -> Round:
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
    trust = rows.with_known(trust)
    counted = trust * rows.counts
    for of_class in data.rows:
        if counted[of_class].sum() < min(least, rows.counts[of_class].sum()):
            # Next to nothing is trusted here; its best samples stand for the class all the same.
            ranked = of_class[np.argsort(-trust[of_class], kind="stable")]
            before = np.cumsum(rows.counts[ranked]) - rows.counts[ranked]
            trust[ranked[before < least]] = 1.0
    return trust
