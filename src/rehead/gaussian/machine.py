"""Labels that a machine made: Gaussians that are too stiff to follow its errors.

The label of a machine is a function of the features. What follows labels closely (a regression, a
kernel map, offsets of the classes, held-out labels as a judge) learns that function with its
errors, and nothing in labels and features tells these from the truth. So this is a prior, which
users ask for: classes are clusters, and labels only say which cluster is which.

1. The covariance is shrunk strongly, so that no direction that labels favour stands out.
2. The label-noise mixture (``mixture.py``) moves the Gaussians to where the samples are.
3. Where it takes many samples for another class than the first estimates do, classes are no
   clusters that it could find, and it runs away. Then labels are believed, but for those that
   estimates without them disagree with (as in ``agreement.py``).
4. A temperature makes labels most likely; classes have no offsets of their own.

What such Gaussians disagree with is wrong, or too hard to tell. Errors inside a cluster are unseen.
How many there are at least, and at most, nothing tells.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rehead._typing import Array, some_rows
from rehead.gaussian.anchors import dominant
from rehead.gaussian.calibration import Priors
from rehead.gaussian.composition import Composition
from rehead.gaussian.fit import Fit
from rehead.gaussian.labelnoise import NoiseModel, fit_noise
from rehead.gaussian.leave_one_out import all_scores, leave_one_out_scores
from rehead.gaussian.mixture import FittedMixture, composition_of, fit_mixture
from rehead.gaussian.options import Options
from rehead.gaussian.probability import softmax
from rehead.gaussian.rows import ByClass
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.tied import TiedGaussians
from rehead.gaussian.training import (
    Regularisation,
    TrainingRows,
    share_of_wrong,
    stiff_to,
    training_rows,
)

MIXTURE, AGREEMENT = "mixture", "agreement"
"""The ways that Gaussians of machine labels are found."""
SETTLED = 0.005
"""Rounds of agreement end when no more than this share of the samples comes or goes."""


class Found(NamedTuple):
    """Gaussians, what they are composed of (counts of rows included), how labels came about."""

    gaussians: TiedGaussians
    composition: Composition
    noise: NoiseModel
    steps: int


def machine(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """The mixture; agreement where the mixture runs away."""
    rows = training_rows(data, rng)
    pooled = rows.moments(np.ones(len(rows.codes)))
    stiff = stiff_to(pooled, options.shrinkage)
    found = fit_mixture(rows, stiff, options.max_steps)
    if moved_share(rows, stiff.gaussians(pooled), found) > SETTINGS.most_moved:
        return _fit(rows, _agreeing(rows, stiff), options.priors, AGREEMENT)
    return _fit(rows, _mixed(rows, found), options.priors, MIXTURE)


def moved_share(rows: TrainingRows, start: TiedGaussians, found: FittedMixture) -> float:
    """Share of samples that the mixture takes for another class than sample estimates do."""
    X, counts = some_rows(rows.data.X, rows.sampled), rows.sampled_counts
    before, after = start.scores(X), found.parameters.gaussians.scores(X)
    return float(np.average(before.argmax(axis=1) != after.argmax(axis=1), weights=counts))


def _mixed(rows: TrainingRows, found: FittedMixture) -> Found:
    of_one = composition_of(rows, found)
    composition = of_one._replace(weights=of_one.weights * rows.counts)
    return Found(found.parameters.gaussians, composition, found.noise, found.steps)


def _agreeing(rows: TrainingRows, stiff: Regularisation) -> Found:
    """Gaussians of the samples whose label is what they are taken for without it."""
    keep, step = np.ones(len(rows.codes)), 0
    for step in range(1, SETTINGS.agreement_rounds + 1):
        agrees = _agrees(rows, stiff, keep)
        changed = rows.mean_change(agrees, keep)
        keep = agrees
        if changed <= SETTLED:
            break
    gaussians = stiff.gaussians(rows.moments(keep))
    composition = Composition.from_rows(keep * rows.counts, rows.codes, rows.n_classes)
    return Found(gaussians, composition, _noise(rows, gaussians, keep), step)


def _agrees(rows: TrainingRows, stiff: Regularisation, keep: Array) -> Array:
    """1 for samples whose label is what they are taken for, or known; no class is left empty."""
    gaussians, inside = stiff.gaussians(rows.moments(keep)), rows.composition(keep)
    margin = leave_one_out_scores(gaussians, rows.data.X, rows.codes, inside, _margin)
    agrees = rows.with_known((margin >= 0).astype(float))
    return rows.no_class_empty(agrees, margin)


def _margin(scores: Array, codes: Array) -> Array:
    """How much more likely a label is than all others."""
    every = np.arange(len(codes))
    own = scores[every, codes].copy()
    scores[every, codes] = -np.inf
    margin: Array = own - scores.max(axis=1)
    return margin


def _noise(rows: TrainingRows, gaussians: TiedGaussians, keep: Array) -> NoiseModel:
    """How labels came about, counted at all samples.

    Its anchors would say that they are right: they are so by the machine's own lights.
    """
    scores, codes = rows.sampled_scores(keep, gaussians), rows.sampled_noisy
    read = fit_noise(scores, codes, counts=rows.sampled_doubtful)
    posterior = softmax(scores.astype(np.float64) / read.temperature)
    counted = posterior * rows.sampled_doubtful[:, None]
    labels = np.stack([np.bincount(codes, p, minlength=rows.n_classes) for p in counted.T])
    totals = labels.sum(axis=1, keepdims=True)
    # One sample more for each class, so that none is without.
    T = dominant((labels + read.transition) / (totals + 1.0))
    noise = read._replace(transition=T, priors=(totals / totals.sum()).ravel())
    right = noise.trust(scores, codes, rows.sampled_codes)
    return noise._replace(wrong=share_of_wrong(rows, right))


def _fit(rows: TrainingRows, found: Found, priors: str | Array, way: str) -> Fit:
    """With a temperature, and the priors that are wanted."""
    gaussians = replace(found.gaussians.without_priors(), temperature=found.noise.temperature)
    whole = found.composition
    inside = whole.take(rows.sampled)
    X = some_rows(rows.data.X, rows.sampled)
    scores = leave_one_out_scores(gaussians, X, rows.sampled_codes, inside, all_scores)
    posterior = softmax(scores.astype(np.float64) / gaussians.temperature)
    of_classes = Priors.of(priors, posterior, rows.sampled_counts)
    composition = whole._replace(
        weights=whole.weights * rows.unit, class_totals=whole.class_totals * rows.unit
    )
    steps = np.full(rows.n_classes, found.steps)
    # Overlap disagrees with stiff Gaussians too, and errors inside a cluster do not.
    noise = found.noise._replace(least=0.0, most=1.0)
    return Fit(of_classes.given_to(gaussians), composition, steps, [], noise, way=way)
