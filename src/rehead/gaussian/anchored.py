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

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.classwise import tie
from rehead.gaussian.kernels import Subset
from rehead.gaussian.labelnoise import NoiseModel, calibrate, fit_noise
from rehead.gaussian.options import Fit, Options
from rehead.gaussian.posterior import Kept, label_scores
from rehead.gaussian.rows import ByClass, pooled_moments
from rehead.gaussian.shrinkage import Shrinkage
from rehead.gaussian.tied import TiedGaussians, from_moments

SHRINKAGES = (0.02, 0.1, 0.3, 0.6, 0.9)
"""What ``shrinkage="auto"`` chooses from here, by the likelihood of the labels."""
SAMPLED = 5_000
"""So many samples are enough to fit the noise model."""
LEAST = 3.0
"""A class never weighs less than so many samples."""


class Round(NamedTuple):
    """Weights, the Gaussians estimated from them, and the noise model of their scores."""

    weights: Array
    gaussians: TiedGaussians
    noise: NoiseModel
    shrinkage: Shrinkage


def anchored(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Weight samples by the trust in their labels; rounds while the labels get more likely."""
    codes = class_codes(data)
    some = _some_rows(data, rng)
    weights = np.ones(len(codes)) if data.weights is None else data.weights.astype(np.float64)
    candidates: tuple[Shrinkage, ...] = SHRINKAGES
    if options.shrinkage != "auto":
        candidates = (options.shrinkage,)
    best = _estimated(data, codes, weights, candidates, some)
    weights = _trust(data, codes, best)
    step = 1
    while step < options.max_steps:
        step += 1
        now = _estimated(data, codes, weights, (best.shrinkage,), some)
        if now.noise.nll >= best.noise.nll:
            break
        best, weights = now, _trust(data, codes, now)
    notes: list[str] = []
    options = replace(options, shrinkage=best.shrinkage)
    gaussians = tie(data, _subsets(data, weights), options, notes)
    scores = _scores(data, codes, weights, gaussians, some)
    honest = calibrate(scores, codes[some], best.noise.transition)
    gaussians = replace(gaussians, temperature=honest.temperature, offsets=honest.offsets)
    members = np.where(weights > 0, codes, -1)
    return Fit(gaussians, weights, members, np.full(data.n_classes, step), notes, best.noise)


def class_codes(data: ByClass) -> Array:
    """The class of each row; rows of weight 0 count to the first."""
    codes = np.zeros(len(data.X), np.int64)
    for c, rows in enumerate(data.rows):
        codes[rows] = c
    return codes


def _some_rows(data: ByClass, rng: np.random.Generator) -> Array:
    """Rows that the noise model is fitted to: all, or a random part."""
    rows = np.sort(np.concatenate(data.rows))
    return rows if len(rows) <= SAMPLED else np.sort(rng.choice(rows, SAMPLED, replace=False))


def _subsets(data: ByClass, weights: Array) -> list[Subset]:
    return [Subset(np.arange(len(rows)), weights[rows]) for rows in data.rows]


def _estimated(
    data: ByClass,
    codes: Array,
    weights: Array,
    candidates: tuple[Shrinkage, ...],
    some: Array,
) -> Round:
    """Gaussians of weighted samples, with the shrinkage under which the labels are most likely."""
    pooled = pooled_moments(data, _subsets(data, weights), np.float64)
    rounds = []
    for shrinkage in candidates:
        gaussians = from_moments(pooled, shrinkage=shrinkage)
        noise = fit_noise(_scores(data, codes, weights, gaussians, some), codes[some])
        rounds.append(Round(weights, gaussians, noise, shrinkage))
    return min(rounds, key=lambda r: r.noise.nll)


def _scores(
    data: ByClass, codes: Array, weights: Array, gaussians: TiedGaussians, some: Array
) -> Array:
    """Leave-one-out scores of some rows."""
    inside = _inside(data, codes, weights)
    of_some = Kept(inside.rows[some], inside.members[some], inside.classes)
    return label_scores(gaussians, data.X[some], codes[some], of_some, lambda s, _: s)


def _inside(data: ByClass, codes: Array, weights: Array) -> Kept:
    present = np.zeros(len(codes), bool)
    present[np.concatenate(data.rows)] = True
    rows = np.where(present, weights, 0.0)
    return Kept(rows, codes, np.bincount(codes, weights=rows, minlength=data.n_classes))


def _trust(data: ByClass, codes: Array, now: Round) -> Array:
    """The weights of the next round; trusted samples keep all of theirs."""
    inside = _inside(data, codes, now.weights)
    trust = label_scores(now.gaussians, data.X, codes, inside, now.noise.trust)
    if data.trusted is not None:
        trust[data.trusted] = 1.0
    given = 1.0 if data.weights is None else data.weights
    weights: Array = trust * given
    for rows in data.rows:
        total = weights[rows].sum()
        if total < min(LEAST, len(rows)):
            # Next to nothing is trusted here; its best samples stand for the class all the same.
            best = rows[np.argsort(-weights[rows], kind="stable")[: int(LEAST)]]
            weights[best] = 1.0
    return weights
