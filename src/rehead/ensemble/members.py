"""Members of a consensus: Gaussians of one layer, given what the judges think of the labels.

There are two ways to use that. A doubtful sample can count *less*, by the trust in its label; or it
can count *elsewhere*, to each class by the probability that it belongs there, its label taken into
account. The first is safer. The second uses every sample, and it undoes what a layer has memorised:
there, samples with the same wrong label lie together, and leaving most of them out leaves a biased
few. Held-out labels choose, as they choose the shrinkage.

Both are done on the features as they are and on a map of them, which draws boundaries that are not
straight lines. It is taken where it makes held-out labels more likely by ``clear_gain``. (Logistic
regression beside the Gaussians, as single layers have it, gains nothing here: it finds what a layer
has memorised.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from rehead._progress import step
from rehead._typing import Array, Features, MappedFeatures
from rehead.ensemble.judges import Opinion
from rehead.ensemble.problem import Problem
from rehead.fingerprint import KnownRows
from rehead.fitted import FittedGaussians
from rehead.gaussian import ByClass, Composition, TiedGaussians
from rehead.gaussian.anchored import REGULARISATIONS
from rehead.gaussian.at_hand import rows_at_hand
from rehead.gaussian.calibration import calibrate
from rehead.gaussian.choose_map import landmarks_for
from rehead.gaussian.kernel_map import KernelMap, map_of_rows
from rehead.gaussian.kernels import BLOCK, Subset
from rehead.gaussian.moments import PooledMoments, Total, pooled_moments
from rehead.gaussian.options import FeatureMap
from rehead.gaussian.probability import corrected_nll
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.steps import remembered
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
    """Calibrated Gaussians, what they are composed of, and how likely they make held-out labels.

    ``kernel_map`` is what rows were mapped by.
    """

    gaussians: TiedGaussians
    composition: Composition
    nll: float
    kernel_map: KernelMap | None = None


class Shape(NamedTuple):
    """A layer as it is, or after a map of its rows."""

    layer: str
    kernel_map: KernelMap | None = None

    def seen(self, X: Features) -> Features:
        """Features as its Gaussians see them; what is read many times is made once."""
        if self.kernel_map is None:
            return X
        return rows_at_hand(MappedFeatures(X, self.kernel_map), np.arange(len(X)))[0]


Name = TypeVar("Name", bound=Hashable)
MapOf = Callable[[ByClass], KernelMap | None]
"""Makes a map of some rows, or none."""


def no_map(data: ByClass) -> KernelMap | None:
    """Features stay as they are."""
    return None


def maps_of_members(feature_map: FeatureMap, seed: int) -> MapOf:
    """Maps as wide as where one is asked for; none where there are too few rows, or if forbidden.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian import group_by_class
    >>> X, y = np.random.default_rng(0).normal(size=(90, 2)), np.repeat([0, 1, 2], 30)
    >>> maps_of_members("auto", 0)(group_by_class(X, y, 3)).landmarks.shape
    (50, 2)
    >>> maps_of_members("none", 0)(group_by_class(X, y, 3)) is None
    True
    """

    def map_of(data: ByClass) -> KernelMap | None:
        if len(data.counted) < SETTINGS.fewest_rows_for_map * data.n_classes:
            return None
        rng = np.random.default_rng(seed)
        return map_of_rows(data, rng, landmarks_for(data), SETTINGS.kernel_widths[0])

    return no_map if feature_map == "none" else map_of


def fit_members(
    problem: Problem,
    opinion: Opinion,
    names: Iterable[str],
    map_of: MapOf = no_map,
    transition: Array | None = None,
) -> dict[str, FittedGaussians]:
    """The best Gaussians of each of some layers.

    ``transition`` is that of held-out labels, where it is not that of the training labels.
    """
    assert problem.held_out is not None
    held_out, T = problem.held_out, transition
    T = opinion.noise.transition if T is None else T
    shapes = list(_shapes(problem, names, map_of))
    sums = class_sums(dict(shapes), opinion)
    found: dict[str, Candidate] = {}
    for shape, data in shapes:
        name, kernel_map = shape
        step(f"estimating {name}" + ("" if kernel_map is None else ", mapped"))
        noisy = NoisySamples(shape.seen(held_out.layers[name]), held_out.evidence(len(T)), T)
        best = best_candidate(_both_ways(data, opinion, sums[shape]), noisy)
        if name not in found or best.nll < found[name].nll - SETTINGS.clear_gain:
            found[name] = best._replace(kernel_map=kernel_map)
    return {name: _fitted(problem, problem.grouped[name], best) for name, best in found.items()}


def _shapes(
    problem: Problem, names: Iterable[str], map_of: MapOf
) -> Iterator[tuple[Shape, ByClass]]:
    """Each layer as it is, then mapped if there is a map of it."""
    for name in names:
        data = problem.grouped[name]
        yield Shape(name), data
        kernel_map = map_of(data)
        if kernel_map is not None:
            yield Shape(name, kernel_map), data.mapped(kernel_map, parts=len(problem.layers))


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


def class_sums(layers: Mapping[Name, ByClass], opinion: Opinion) -> dict[Name, ClassSums]:
    """Add up the samples of all layers in one pass, so that what they are is found once."""
    return dict(zip(layers, _sums_of(list(layers.values()), opinion), strict=True))


@remembered(lambda found: [ClassSums(*of_layer) for of_layer in found])
def _sums_of(layers: list[ByClass], opinion: Opinion) -> list[ClassSums]:
    n = len(opinion.trust)
    most, shares = np.zeros(n, np.int64), np.zeros(n)
    sums = [(np.zeros(data.n_classes), np.zeros(data.shifts.shape)) for data in layers]
    for a in range(0, n if layers else 0, BLOCK):
        part = slice(a, a + BLOCK)
        of_classes = opinion.class_shares(part)
        most[part], shares[part] = of_classes.argmax(axis=1), of_classes.max(axis=1)
        for (weights, totals), data in zip(sums, layers, strict=True):
            near = of_classes * data.near[part, None]
            weights += near.sum(axis=0)
            totals += near.T @ data.X[part]
    return [
        ClassSums(*of_layer, most, np.where(data.near, shares, 0.0))
        for of_layer, data in zip(sums, layers, strict=True)
    ]


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
    weights, counted_as = best.composition.weights, best.composition.counted_as
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
        kernel_map=best.kernel_map,
    )
