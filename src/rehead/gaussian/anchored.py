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

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array, JoinedFeatures, OfRows
from rehead.gaussian.calibration import Calibration
from rehead.gaussian.composition import Composition
from rehead.gaussian.fit import Fit
from rehead.gaussian.guesses import Scored, enough_of_each, with_guesses
from rehead.gaussian.labelnoise import NoiseModel, with_odds_to
from rehead.gaussian.leave_one_out import Reduce, leave_one_out_scores, reduced_in_order
from rehead.gaussian.likelihood import blocks
from rehead.gaussian.lost import Taken, another_start
from rehead.gaussian.moments import PooledMoments
from rehead.gaussian.options import Options
from rehead.gaussian.probability import corrected_nll
from rehead.gaussian.rows import ByClass
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.threads import own_threads
from rehead.gaussian.tied import TiedGaussians
from rehead.gaussian.training import (
    Regularisation,
    TrainingRows,
    all_trusted,
    calibrated,
    clearly_better,
    regularisations,
    share_of_wrong,
    stiff_to,
    training_rows,
)

REGULARISATIONS = regularisations(SETTINGS.shrinkages)
"""What ``shrinkage="auto"`` chooses from here, by the likelihood of the labels."""


class Round(NamedTuple):
    """Trust, the Gaussians estimated with it, and the noise model of their scores.

    ``scores`` are those of the sampled rows, each without itself.
    """

    trust: Array
    gaussians: TiedGaussians
    noise: NoiseModel
    regularisation: Regularisation
    scores: Array

    def led_to(self, trust: Array) -> Round:
        """With the trust that it led to in place of its own: one of both is enough to keep."""
        return self._replace(trust=trust)


class Rounds(NamedTuple):
    """What the best round found, the trust that it led to, and how many rounds there were.

    Its Gaussians are not kept: they are large, and those of the last trust take their place.
    ``at_first`` regularised the Gaussians of all samples alike.
    """

    noise: NoiseModel
    regularisation: Regularisation
    nats: Array
    trust: Array
    steps: int
    at_first: Regularisation

    def gaussians(self, rows: TrainingRows) -> TiedGaussians:
        """The Gaussians of the last trust."""
        return self.regularisation.gaussians(rows.moments(self.trust))


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
    best = _best_rounds(rows, options)
    rounds, gaussians = _with_lost_classes(rows, best, options.max_steps)
    scores = rows.sampled_scores(rounds.trust, gaussians)
    noise = noise_with_guesses(rows, rounds.noise, scores)
    found = Trusted(gaussians, rounds.trust, scores, noise, rounds.steps)
    if are_guesses(found.noise):
        return stiff_gaussians(rows, found, options)
    if enough_of_each(rows.n_samples, rows.n_classes):
        return found
    return unless_all_are_better(rows, found, best.at_first)


def unless_all_are_better(rows: TrainingRows, found: Trusted, at_first: Regularisation) -> Trusted:
    """What was found, unless labels are clearly more likely where all samples count alike.

    Where many classes overlap and have few samples each, next to no sample is easy. Then trust
    falls on what is typical by chance, and each round feeds on the one before, by its own T.
    """
    start = most_likely(rows, all_trusted(len(rows.codes)), (at_first,))
    everything = Trusted(start.gaussians, start.trust, start.scores, start.noise, steps=1)
    now, before = (_calibrated_nats(rows, way) for way in (everything, found))
    if not clearly_better(now, before, rows.sampled_doubtful, SETTINGS.clear_gain):
        return found
    return everything._replace(noise=noise_with_guesses(rows, start.noise, start.scores))


def _calibrated_nats(rows: TrainingRows, found: Trusted) -> Array:
    """How unlikely each sampled label is, by calibrated scores."""
    T, codes = found.noise.transition, rows.sampled_evidence
    parts = blocks(found.scores)
    calibration = rows.calibration_of(found.scores, T)
    nats = [
        corrected_nll(calibration.posterior(found.scores[span]), codes[span], T) for span in parts
    ]
    return np.concatenate(nats)


def are_guesses(noise: NoiseModel) -> bool:
    """Whether labels of hard samples are mostly guesses."""
    return noise.guessed > SETTINGS.mostly_guessed


def stiff_gaussians(rows: TrainingRows, found: Trusted, options: Options) -> Trusted:
    """One more estimate, stiff, in which labels count less that are guesses.

    The likelihood of labels, which chose the shrinkage, rewards what guesses as people do. More
    rounds of this kind would feed on themselves: each costs accuracy.
    """
    trust = _next_trust(rows, found, power=1.0)
    moments = rows.moments(trust)
    given = options.shrinkage
    stiff = stiff_to(moments, SETTINGS.stiff_shrinkage if given == "auto" else given)
    gaussians = stiff.gaussians(moments)
    scores = rows.sampled_scores(trust, gaussians)
    noise = noise_with_guesses(rows, rows.noise_under(scores), scores, found.noise.guessed)
    return Trusted(gaussians, trust, scores, noise, found.steps + 1)


def noise_with_guesses(
    rows: TrainingRows, noise: NoiseModel, scores: Array, at_least: float = 0.0
) -> NoiseModel:
    """The noise that scores of the sampled rows show, with what is known about hard samples."""
    mapped = rows.data.before is not None
    counts, now = rows.sampled_doubtful, rows.sampled_codes
    told = Scored(scores, rows.sampled_noisy, counts, mapped, rows.n_samples, now)
    noise = with_guesses(noise, told, partial(share_of_wrong, rows), at_least)
    return noise._replace(most=max(noise.most, rows.share_alone))


def calibrated_fit(rows: TrainingRows, found: Trusted, priors: str | Array) -> Fit:
    """What Gaussians alone make of the labels."""
    if are_guesses(found.noise):
        # Offsets would move boundaries to where people guess.
        calibration = Calibration(found.noise.temperature, np.zeros(rows.n_classes))
    else:
        calibration = rows.calibration_of(found.scores, found.noise.transition)
    classifier = calibrated(rows, found.gaussians, found.scores, calibration, priors)
    weights = found.trust * rows.counts
    weights *= rows.unit
    composition = Composition.from_rows(weights, rows.codes, rows.n_classes)
    return Fit(classifier, composition, np.full(rows.n_classes, found.steps), [], found.noise)


def _best_rounds(rows: TrainingRows, options: Options) -> Rounds:
    everything = all_trusted(len(rows.codes))
    choose = options.shrinkage == "auto"
    candidates = candidates_for(rows) if choose else (Regularisation(options.shrinkage),)
    rounds = _rounds(rows, most_likely(rows, everything, candidates), options.max_steps)
    at_first = rounds.at_first
    chosen = rounds.regularisation
    # What is best for noisy labels may not be what leads out of them.
    for amount in _others(rows, chosen) if choose else ():
        strong = chosen._replace(shrinkage=amount)
        other = _rounds(rows, most_likely(rows, everything, (strong,)), options.max_steps)
        if clearly_better(other.nats, rounds.nats, rows.sampled_doubtful, SETTINGS.clear_gain):
            rounds = other
    return rounds._replace(at_first=at_first)


def _with_lost_classes(
    rows: TrainingRows, best: Rounds, max_steps: int
) -> tuple[Rounds, TiedGaussians]:
    """Rounds from other starts, where classes seem to be lost: the best of all, their Gaussians."""
    gaussians = best.gaussians(rows)
    taken = _taken(rows, best, gaussians)
    for ratio in SETTINGS.exchange_ratios:
        for _ in range(SETTINGS.other_starts):
            start = another_start(taken, ratio)
            if start is None:
                break
            start = rows.with_known(start)
            first = most_likely(rows, start, (best.regularisation,))
            found = _rounds(rows, first, max_steps)
            if found.noise.nll >= best.noise.nll:
                break
            best = found._replace(steps=best.steps + found.steps)
            gaussians = best.gaussians(rows)
            taken = _taken(rows, best, gaussians)
    return best, gaussians


def _taken(rows: TrainingRows, rounds: Rounds, gaussians: TiedGaussians) -> Taken:
    """What the rows are taken for, judged without their labels."""
    inside, noise = rows.composition(rounds.trust), rounds.noise
    best = partial(_best, noise)
    taken_for = leave_one_out_scores(gaussians, rows.data.X, rows.codes, inside, best)
    right = 1.0 - noise.wrong
    return Taken(rows.codes, taken_for, rounds.trust, rows.counts, right)


def _best(noise: NoiseModel, scores: Array, _: Array) -> Array:
    return noise.best_class(scores).astype(np.int32)


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
    at_first = best.regularisation
    trust = next_trust = _next_trust(rows, best, first)
    best, steps = best.led_to(trust), 1
    for power in SETTINGS.trust_powers:
        if power != first:
            next_trust = rows.no_class_empty(with_odds_to(power / first, trust))
        for _ in range(max_steps - 1):
            steps += 1
            now = most_likely(rows, next_trust, (best.regularisation,), best.noise.temperature)
            if now.noise.nll >= best.noise.nll:
                break
            trust = next_trust = _next_trust(rows, now, power)
            change = rows.mean_change(trust, now.trust)
            best = now.led_to(trust)
            del now
            if change < SETTINGS.settled_trust:
                break
    nats = best.noise.nats(best.scores, rows.sampled_evidence)
    return Rounds(best.noise, best.regularisation, nats, trust, steps, at_first)


def most_likely(
    rows: TrainingRows,
    trust: Array,
    candidates: tuple[Regularisation, ...],
    temperature: float | None = None,
) -> Round:
    """Gaussians of weighted samples, regularised so that the labels are most likely.

    ``temperature`` is about that of their scores, where it is known.
    """
    moments = rows.moments(trust)

    def estimated(candidate: Regularisation) -> Round:
        gaussians = candidate.gaussians(moments)
        scores = rows.sampled_scores(trust, gaussians)
        noise = rows.noise_under(scores, temperature)
        return Round(trust, gaussians, noise, candidate, scores)

    if len(candidates) > SETTINGS.screened and (few := rows.fewer()) is not rows:
        candidates = _best_on(few, trust, moments, candidates)
    # One after the other: the covariances of all at once would be large.
    return min(map(estimated, candidates), key=lambda r: r.noise.nll)


def _best_on(
    rows: TrainingRows,
    trust: Array,
    moments: PooledMoments,
    candidates: tuple[Regularisation, ...],
) -> tuple[Regularisation, ...]:
    """Some candidates that make the labels of some rows most likely."""

    def nll(candidate: Regularisation) -> float:
        scores = rows.sampled_scores(trust, candidate.gaussians(moments))
        return rows.noise_under(scores).nll

    return tuple(sorted(candidates, key=nll)[: SETTINGS.screened])


@own_threads()
def _next_trust(rows: TrainingRows, now: Round | Trusted, power: float) -> Array:
    """The trust of the next round; known labels keep all of theirs."""
    weights = partial(now.noise.sample_weights, power=power)
    trust = np.empty(len(rows.codes))
    trust[rows.sampled] = weights(now.scores, rows.sampled_codes)
    others, at = rows.not_sampled, 0
    for found in _scored_others(rows, now, weights):
        trust[others[at : at + len(found)]] = found
        at += len(found)
    return rows.no_class_empty(rows.with_known(trust))


def _scored_others(rows: TrainingRows, now: Round | Trusted, reduce: Reduce) -> Iterator[Array]:
    """Leave-one-out scores of the rows that are not sampled, reduced, in order."""
    others: Any = rows.not_sampled
    if not len(others):
        return iter(())

    def trusted(numbers: Array) -> Array:
        return now.trust[numbers] * rows.counts[numbers]

    codes: Any = OfRows(others, lambda numbers: rows.codes[numbers])
    weights: Any = OfRows(others, trusted)
    inside = Composition(weights, codes, rows.totals(now.trust))
    X = JoinedFeatures([rows.data.X], others)
    return reduced_in_order(now.gaussians, X, codes, inside, reduce)
