"""Members of a consensus: Gaussians of one layer, given what the judges think of the labels.

There are two ways to use that. A doubtful sample can count *less*, by the trust in its label; or it
can count *elsewhere*, to each class by the probability that it belongs there, its label taken into
account. The first is safer. The second uses every sample, and it undoes what a layer has memorised:
there, samples with the same wrong label lie together, and leaving most of them out leaves a biased
few. Held-out labels choose, as they choose the shrinkage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from rehead._progress import step
from rehead._typing import Array, Features
from rehead.ensemble.judges import Opinion
from rehead.ensemble.problem import Problem
from rehead.fingerprint import KnownRows
from rehead.fitted import FittedGaussians
from rehead.gaussian import ByClass, Composition, TiedGaussians
from rehead.gaussian.anchored import REGULARISATIONS
from rehead.gaussian.calibration import calibrate
from rehead.gaussian.kernels import BLOCK, Subset
from rehead.gaussian.probability import corrected_nll
from rehead.gaussian.rows import PooledMoments, Total, pooled_moments
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.training import Regularisation


class Counted(NamedTuple):
    """Moments of the classes, and what they are composed of."""

    moments: PooledMoments
    composition: Composition


class NoisySamples(NamedTuple):
    """Held-out samples of a layer, their noisy labels, and how these come about."""

    X: Features
    codes: Array
    transition: Array


class Candidate(NamedTuple):
    """Calibrated Gaussians, what they are composed of, and how likely they make held-out labels."""

    gaussians: TiedGaussians
    composition: Composition
    nll: float


def fit_members(
    problem: Problem, opinion: Opinion, names: Iterable[str]
) -> dict[str, FittedGaussians]:
    """The best Gaussians of each of some layers."""
    assert problem.held_out is not None
    grouped = {name: problem.grouped[name] for name in names}
    sums = class_sums(grouped, opinion)
    members = {}
    for name, data in grouped.items():
        step(f"estimating {name}")
        noisy = NoisySamples(
            problem.held_out.layers[name], problem.held_out.codes, opinion.noise.transition
        )
        best = best_candidate(_both_ways(data, opinion, sums[name]), noisy)
        members[name] = _fitted(problem, data, best)
    return members


def best_candidate(ways: Iterable[Counted], noisy: NoisySamples) -> Candidate:
    """Gaussians from what makes held-out labels most likely; so for their shrinkage."""

    def candidate(counted: Counted, regularisation: Regularisation) -> Candidate:
        gaussians = regularisation.gaussians(counted.moments)
        scores = gaussians.scores(noisy.X)
        calibration = calibrate(scores, noisy.codes, noisy.transition)
        nll = corrected_nll(calibration.posterior(scores), noisy.codes, noisy.transition).mean()
        return Candidate(calibration.applied_to(gaussians), counted.composition, float(nll))

    every = (candidate(counted, r) for counted in ways for r in REGULARISATIONS)
    return min(every, key=lambda c: c.nll)


def _both_ways(data: ByClass, opinion: Opinion, sums: ClassSums) -> Iterator[Counted]:
    """Samples that count less, and samples that count elsewhere if every class has enough."""
    yield counted_less(data, opinion.trust)
    if sums.weights.min() >= SETTINGS.least_class_weight:
        yield counted_elsewhere(data, sums)


def counted_less(data: ByClass, trust: Array) -> Counted:
    """Samples weighted by trust, those that are far off not at all."""
    weights = np.where(data.near, trust, 0.0)
    for rows in data.rows:
        if not weights[rows].any():
            weights[rows] = 1.0  # a class is never left empty
    composition = Composition.from_rows(weights, data.codes, data.n_classes)
    return Counted(weighted_moments(data, weights), composition)


def weighted_moments(data: ByClass, weights: Array) -> PooledMoments:
    """Moments of the classes; rows count by their weights."""
    subsets = [Subset(np.arange(len(rows)), weights[rows]) for rows in data.rows]
    return pooled_moments(data, subsets, np.float64)


class ClassSums(NamedTuple):
    """Samples of a layer that are not far off, added up by what they are.

    ``weights`` and ``totals`` of the classes; and of each sample the class that it most probably
    is (``most``), with its probability (``shares``, 0 for far ones).
    """

    weights: Array
    totals: Array
    most: Array
    shares: Array


def class_sums(layers: Mapping[str, ByClass], opinion: Opinion) -> dict[str, ClassSums]:
    """Add up the samples of all layers in one pass, so that what they are is found once."""
    n = len(opinion.trust)
    most, shares = np.zeros(n, np.int64), np.zeros(n)
    sums = {
        name: (np.zeros(data.n_classes), np.zeros(data.shifts.shape))
        for name, data in layers.items()
    }
    for a in range(0, n if layers else 0, BLOCK):
        part = slice(a, a + BLOCK)
        of_classes = opinion.class_shares(part)
        most[part], shares[part] = of_classes.argmax(axis=1), of_classes.max(axis=1)
        for name, data in layers.items():
            weights, totals = sums[name]
            near = of_classes * data.near[part, None]
            weights += near.sum(axis=0)
            totals += near.T @ data.X[part]
    return {
        name: ClassSums(*sums[name], most, np.where(data.near, shares, 0.0))
        for name, data in layers.items()
    }


def counted_elsewhere(data: ByClass, sums: ClassSums) -> Counted:
    """Samples counted for what they are.

    The scatter of all samples does not depend on what they are, so it is the usual one with the
    class means moved.
    """
    total = Total.from_pooled(weighted_moments(data, data.near.astype(float)))
    moments = total.within(sums.weights, sums.totals / sums.weights[:, None])
    return Counted(moments, Composition(sums.shares, sums.most, sums.weights))


def _fitted(problem: Problem, data: ByClass, best: Candidate) -> FittedGaussians:
    """A member as a value like any other; but it neither measured noise nor what is usual."""
    weights, counted_as, _ = best.composition
    # Where a sample counted for another class, that much of its label is not trusted.
    trust = np.where(counted_as == problem.codes, weights, 1.0 - weights)
    return FittedGaussians(
        classes=problem.classes,
        gaussians=best.gaussians,
        known_rows=KnownRows.from_training(data.X, problem.codes, best.composition),
        class_totals=best.composition.class_totals,
        trust=trust,
        support=(weights > 0.5) & (counted_as == problem.codes),
        n_iter=np.zeros(problem.n_classes, np.int64),
        dtype=data.X.dtype,
    )
