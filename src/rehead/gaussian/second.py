"""A second opinion beside the Gaussians: logistic regression, told of the noise that they found.

Both are scores of the true class, found without the row itself: of the Gaussians leave-one-out, of
the regression by the folds that the row is not in. Added up, with slopes that make the noisy labels
most likely, they are one opinion, which is still linear in the features. It is taken where it makes
the labels clearly more likely than the Gaussians do alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._rowhash import fingerprint
from rehead._typing import Array, some_rows
from rehead.gaussian.anchored import Trusted, noise_with_guesses
from rehead.gaussian.at_hand import rows_at_hand
from rehead.gaussian.calibration import Pool, calibrate, pool
from rehead.gaussian.labelnoise import NoiseModel
from rehead.gaussian.linear import SecondOpinion
from rehead.gaussian.logistic import (
    NoisyRows,
    Scaling,
    cross_fit,
    deal,
    fit_logistic,
    scaling_of,
)
from rehead.gaussian.probability import corrected_nll
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.training import TrainingRows, clearly_better


class Joint(NamedTuple):
    """A second opinion, the offsets of the classes beside it, and the noise that both see.

    ``posterior`` is what both make of the sampled rows.
    """

    opinion: SecondOpinion
    offsets: Array
    noise: NoiseModel
    posterior: Array


class Told(NamedTuple):
    """Rows that the noise is found in: scores of the Gaussians, labels, how often each counts.

    ``transition`` is T, as the Gaussians see it.
    """

    scores: Array
    codes: Array
    counts: Array
    transition: Array

    def only(self, kept: Array) -> Told:
        """Some of them."""
        return Told(self.scores[kept], self.codes[kept], self.counts[kept], self.transition)

    def pooled(self, others: Array) -> tuple[Pool, Array]:
        """The best pool with other scores, and how unlikely it makes each label."""
        found = pool(self.scores, others, self.codes, self.transition, self.counts)
        return found, self.nats(found.posterior(self.scores, others))

    def nats_alone(self) -> Array:
        """How unlikely the Gaussians alone make each label."""
        alone = calibrate(self.scores, self.codes, self.transition, self.counts)
        return self.nats(alone.posterior(self.scores))

    def nats(self, posterior: Array) -> Array:
        """How unlikely a posterior makes each label."""
        return corrected_nll(posterior, self.codes, self.transition)

    def mean(self, nats: Array) -> float:
        """Of nats of the rows, as often as each counts."""
        return float(np.average(nats, weights=self.counts))


def second_opinion(rows: TrainingRows, found: Trusted, rng: np.random.Generator) -> Joint | None:
    """Fit it, and take it where the labels get clearly more likely; None where they do not."""
    counts, T = rows.sampled_counts, found.noise.transition
    if (counts > 0).sum() < SETTINGS.fewest_rows_for_second * rows.n_classes:
        return None
    if rows.n_classes > SETTINGS.most_classes_for_second:
        return None
    told = Told(found.scores.astype(np.float64), rows.sampled_evidence, counts, T)
    learnt = rows_to_learn_from(rows, rng)
    noisy = noisy_rows(rows, learnt, T)
    # Features of one map are alike; others have units of their own.
    alike = rows.data.before is not None
    scaling = scaling_of(noisy.X, noisy.rows[noisy.counts > 0], alike=alike)
    same, at = same_features(rows, learnt), np.searchsorted(learnt, rows.sampled)
    held = folds_of(rows.sampled_codes, counts, rng, same[at]) == 0
    ridge = best_ridge(noisy, scaling, told, at, held)
    if ridge is None:
        return None
    folds = np.full(len(rows.codes), -1, np.int8)  # there are few
    folds[learnt] = folds_of(rows.codes[learnt], noisy.counts, rng, same)
    regressions = cross_fit(noisy, scaling, ridge, folds[learnt])
    others = regressions.scores(some_rows(rows.data.X, rows.sampled), folds[rows.sampled])
    best, nats = told.pooled(others)
    counts, errors = rows.sampled_doubtful, SETTINGS.errors_in_the_end
    if not clearly_better(nats, told.nats_alone(), counts, SETTINGS.clear_gain, errors):
        return None
    joint = best.joint(told.scores, others)
    noise = noise_with_guesses(rows, rows.noise_under(joint), joint)
    opinion = SecondOpinion(regressions.times(best.factor), best.temperature, folds)
    return Joint(opinion, best.offsets, noise, best.posterior(told.scores, others))


def rows_to_learn_from(rows: TrainingRows, rng: np.random.Generator) -> Array:
    """The sampled rows, and others that count, up to a number."""
    others = rows.counts > 0
    others[rows.sampled] = False
    more = np.flatnonzero(others)
    room = max(SETTINGS.logistic_rows - len(rows.sampled), 0)
    if len(more) > room:
        more = rng.choice(more, room, replace=False)
    return np.sort(np.concatenate([rows.sampled, more]))


def noisy_rows(rows: TrainingRows, learnt: Array, T: Array) -> NoisyRows:
    """Rows to learn from, and how likely each class makes their labels."""
    codes = rows.codes[learnt]
    X, at = rows_at_hand(rows.data.X, learnt)
    of_label = T[:, codes].T.astype(X.dtype)
    if rows.data.trusted is not None:
        known = rows.data.trusted[learnt]
        of_label[known] = np.eye(len(T))[codes[known]]
    return NoisyRows(X, at, of_label, rows.counts[learnt].astype(np.float64))


def same_features(rows: TrainingRows, learnt: Array) -> Array:
    """A number for each row, which rows that are the same (before a map) have in common."""
    data = rows.data if rows.data.before is None else rows.data.before
    return fingerprint(some_rows(data.X, learnt), np.zeros(len(learnt), np.int64))


def folds_of(
    codes: Array, counts: Array, rng: np.random.Generator, same: Array | None = None
) -> Array:
    """A fold for each row that counts; -1 for the others, of which a fold must not consist."""
    folds, counted = np.full(len(codes), -1), np.flatnonzero(counts > 0)
    folds[counted] = deal(codes[counted], rng, None if same is None else same[counted])
    return folds


def best_ridge(
    noisy: NoisyRows, scaling: Scaling, told: Told, at: Array, held: Array
) -> float | None:
    """The ridge under which labels of one fold are most likely, from strong ones to weak ones.

    ``at`` says where the rows with scores are among those to learn from, ``held`` which of them are
    in that fold. None where none of them
    makes the labels of that fold more likely than the Gaussians alone do: that is the end of it.
    """
    kept = np.zeros(len(noisy.rows), bool)
    kept[at[~held]] = True
    X, of_fold = noisy.X[noisy.rows[at[held]]], told.only(held)
    alone = of_fold.mean(of_fold.nats_alone())
    best, least, worse = None, np.inf, 0
    for ridge in SETTINGS.ridges:
        found = fit_logistic(noisy.only(kept), scaling, ridge)
        nats = of_fold.mean(of_fold.pooled(found.of(X))[1])
        if nats < least:
            best, least, worse = ridge, nats, 0
            continue
        worse += 1
        if worse == 2:  # still weaker ridges would not do
            break
    return best if least < alone else None
