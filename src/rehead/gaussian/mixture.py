"""The label-noise mixture: class Gaussians and the transition matrix fitted together, by EM.

A sample of true class c has features N(mu_c, Sigma) and a label drawn from row c of T:

    p(x, y) = sum_c beta_c T[c, y] N(x; mu_c, Sigma).

No label is dropped: a wrong one counts for the class that its sample belongs to. In turns,

    r_ic ~ (beta_c T[c, y_i] N(x_i; mu_c, Sigma))^(1/tau)        what each sample is,
    beta_c, mu_c, T[c, k] = means of r, x and the labels weighted by r,

and, since the scatter of all samples never changes, n Sigma = total scatter - sum_c n_c (mu_c - m)
(mu_c - m)': after the first round no pass over the samples costs d^2. With T free and nothing
shrunk, each turn raises

    F = sum_i tau log sum_c (beta_c T[c, y_i] N(x_i; mu_c, Sigma))^(1/tau),

which is the likelihood for tau = 1 (Neal and Hinton, 1998; for tau > 1 Ueda and Nakano, 1998).
Free, it runs away where classes overlap: over-confident Gaussians move the classes to where the
density is, and T pays for it. So tau is what calibrates the first estimates (``labelnoise.py``),
and T is held back: as many samples as a class has are added to it, spread as the anchors say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from rehead._typing import Array, some_rows
from rehead.gaussian.anchors import dominant
from rehead.gaussian.composition import Composition
from rehead.gaussian.fit import Fit
from rehead.gaussian.kernels import BLOCK
from rehead.gaussian.labelnoise import NoiseModel
from rehead.gaussian.leave_one_out import all_scores, leave_one_out_scores
from rehead.gaussian.moments import Total
from rehead.gaussian.options import Options
from rehead.gaussian.rows import ByClass
from rehead.gaussian.tied import TiedGaussians
from rehead.gaussian.training import Regularisation, TrainingRows, calibrated, training_rows

GAIN = 1e-4
"""Rounds go on while F grows by so much for each sample."""


class Mixture(NamedTuple):
    """The parameters of the model."""

    gaussians: TiedGaussians
    priors: Array
    transition: Array


class Expected(NamedTuple):
    """Sums over samples weighted by what they are: of 1, of x, of the labels; and F.

    ``labels`` are those before any was corrected; ``right`` is how many are right as they are now.
    """

    weights: Array
    totals: Array
    labels: Array
    right: float
    objective: float


class FittedMixture(NamedTuple):
    """The parameters, what the samples are by them, and how these came about.

    ``tau`` tempers, ``first`` is the noise of the first estimates, ``steps`` are the rounds.
    """

    parameters: Mixture
    expected: Expected
    tau: float
    first: NoiseModel
    steps: int

    @property
    def wrong(self) -> float:
        """Share of samples that are not what their label says."""
        return 1.0 - self.expected.right / float(self.expected.labels.sum())

    @property
    def noise(self) -> NoiseModel:
        """How labels came about."""
        now, first = self.parameters, self.first
        return NoiseModel(
            self.tau, now.priors, now.transition, first.anchors, first.nll, self.wrong
        )


def mixture(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Fit the mixture, from sample estimates and the noise at their anchors."""
    rows = training_rows(data, rng)
    found = fit_mixture(rows, Regularisation(options.shrinkage), options.max_steps)
    composition = composition_of(rows, found)
    fit = _fit(rows, found.parameters, composition, options.priors)
    return fit._replace(noise=found.noise, n_iter=np.full(rows.n_classes, found.steps))


def fit_mixture(
    rows: TrainingRows, regularisation: Regularisation, max_steps: int
) -> FittedMixture:
    """The parameters, in rounds."""
    everything = np.ones(len(rows.codes))
    pooled = rows.moments(everything)
    total = Total.from_pooled(pooled)
    gaussians = regularisation.gaussians(pooled)
    scores = rows.sampled_scores(everything, gaussians)
    first = rows.noise_under(scores)
    tau, anchored = max(first.temperature, 1.0), first.transition
    now = Mixture(gaussians, first.priors, anchored)
    expected = expectation(rows, total, now, tau)
    step = 1
    for step in range(1, max_steps + 1):
        following = maximisation(total, expected, regularisation, anchored)
        found = expectation(rows, total, following, tau)
        if not found.objective > expected.objective + GAIN * total.weight:
            break
        now, expected = following, found
    return FittedMixture(now, expected, tau, first, step)


def expectation(rows: TrainingRows, total: Total, now: Mixture, tau: float) -> Expected:
    """What the samples are, added up block by block."""
    X, C, g = rows.data.X, rows.n_classes, now.gaussians
    dtype = rows.dtype or X.dtype
    middle = total.mean.astype(dtype)
    weights, totals, labels = np.zeros(C), np.zeros((C, X.shape[1])), np.zeros((C, C))
    right = objective = 0.0
    for a in range(0, len(X), BLOCK):
        part = slice(a, a + BLOCK)
        block = X[part].astype(dtype, copy=False) - middle
        counts = rows.counts[part, None].astype(np.float64)
        joint = log_joint(rows, now, part) / tau
        norm = logsumexp(joint, axis=1, keepdims=True)
        objective += tau * float((counts * norm).sum())
        r = np.exp(joint - norm) * counts
        weights += r.sum(axis=0)
        totals += r.T.astype(dtype) @ block
        np.add.at(labels.T, rows.data.noisy_codes[part], r)
        right += float(r[np.arange(len(r)), rows.codes[part]].sum())
    totals += weights[:, None] * (middle - total.mean)
    # The quadratic term that all classes share, of all samples at once.
    offset = total.mean - g.centre
    scatter = np.tril(total.scatter) + np.tril(total.scatter, -1).T
    scatter += total.weight * np.outer(offset, offset)
    whitened = solve_triangular(g.factor.lower, scatter, lower=True)
    quadratic = np.trace(solve_triangular(g.factor.lower, whitened.T, lower=True))
    constant = total.weight * (g.factor.log_det + len(scatter) * np.log(2 * np.pi))
    objective -= 0.5 * float(quadratic + constant)
    return Expected(weights, totals, labels, right, objective)


def log_joint(rows: TrainingRows, now: Mixture, part: slice) -> Array:
    """``log beta_c T[c, y] N(x; mu_c, Sigma)`` up to a term that all classes share."""
    codes = rows.codes[part]
    uniform = np.log(len(now.priors))  # the prior that the Gaussians' own scores contain
    scores = now.gaussians.scores(rows.data.X[part]).astype(np.float64) + uniform
    seen = rows.data.noisy_codes[part]  # what T is of: a model may have changed some since
    joint: Array = scores + np.log(now.priors) + np.log(now.transition)[:, seen].T
    if rows.data.trusted is not None:
        known = rows.data.trusted[part]
        joint[known] = np.where(np.eye(len(now.priors), dtype=bool)[codes], joint, -1e30)[known]
    return joint


def maximisation(
    total: Total, e: Expected, regularisation: Regularisation, anchored: Array
) -> Mixture:
    """The parameters under which the samples, being what they are, are most likely."""
    weights = np.maximum(e.weights, np.finfo(float).tiny)
    means = total.mean + e.totals / weights[:, None]
    gaussians = regularisation.gaussians(total.within(weights, means))
    # As if each class had been seen once more at its anchors.
    T = (e.labels / weights[:, None] + anchored) / 2.0
    return Mixture(gaussians, weights / weights.sum(), dominant(T))


def composition_of(rows: TrainingRows, found: FittedMixture) -> Composition:
    """The class that each sample counted for most, and how much of it did."""
    best, share = np.zeros(len(rows.codes), np.int64), np.zeros(len(rows.codes))
    for a in range(0, len(best), BLOCK):
        part = slice(a, a + BLOCK)
        joint = log_joint(rows, found.parameters, part) / found.tau
        best[part] = joint.argmax(axis=1)
        share[part] = np.exp(joint.max(axis=1) - logsumexp(joint, axis=1))
    return Composition(share, best, found.expected.weights)


def _fit(rows: TrainingRows, now: Mixture, composition: Composition, priors: str | Array) -> Fit:
    """The classifier, calibrated by samples that it is asked about without themselves."""
    counted = composition._replace(weights=composition.weights * rows.counts)
    scores = leave_one_out_scores(
        now.gaussians,
        some_rows(rows.data.X, rows.sampled),
        rows.sampled_codes,
        counted.take(rows.sampled),
        all_scores,
    )
    calibration = rows.calibration_of(scores, now.transition)
    classifier = calibrated(rows, now.gaussians, scores, calibration, priors)
    weights, totals = counted.weights * rows.unit, counted.class_totals * rows.unit
    inside = composition._replace(weights=weights, class_totals=totals)
    return Fit(classifier, inside, np.zeros(rows.n_classes, np.int64), [])
