"""The paper's estimators that look at one class at a time: sample, MCD, identity, LTS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array, Features
from rehead.gaussian.fit import Fit, fit_of_subsets
from rehead.gaussian.kernels import (
    MIN_SLACK,
    IllConditionedError,
    Moments,
    Rows,
    Subset,
    select_smallest,
    squared_norms,
)
from rehead.gaussian.mcd import ClassSamples, CSteps, Estimate, McdResult, mcd, support_size
from rehead.gaussian.moments import ClassSums, PooledMoments, from_sums, pooled_moments
from rehead.gaussian.options import Options
from rehead.gaussian.rows import ByClass
from rehead.gaussian.shrinkage import invertible
from rehead.gaussian.split import PART_ROWS, moments, n_parts
from rehead.gaussian.starts import deterministic_starts, random_start
from rehead.gaussian.steps import Each, each_remembered
from rehead.gaussian.tasks import are_sent, can_be_sent, map_parts, n_workers
from rehead.gaussian.tied import TiedGaussians, from_moments

IN_DOUBLE = (
    "The features are too ill-conditioned for float32: some are almost linear combinations of "
    "others. Double precision was used where needed. Remove nearly duplicate features, or set "
    "shrinkage='auto', to stay in float32."
)


def sample(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Equation 1: class means and tied covariance of all samples. Not robust."""
    subsets = [data.whole(c) for c in range(data.n_classes)]
    notes: list[str] = []
    return fit_of_subsets(data, tie(data, subsets, options, notes), subsets, None, notes)


def identity(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Sample means and covariance I: the nearest mean in Euclidean distance (figure 2a)."""
    subsets = [data.whole(c) for c in range(data.n_classes)]
    gaussians = _spherical(data, subsets, options)
    return fit_of_subsets(data, gaussians, subsets, None, _too_close(gaussians))


def lts(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Least trimmed squares means and covariance I (figure 2a).

    ``min sum_{i <= K} |x_i - mu|^2`` for each class, by concentration steps from a random subset:
    mean of the subset, then the K samples nearest to it.
    """
    rows = Rows(data.X)
    subsets, n_iter = [], []
    for c, seed in enumerate(class_seeds(rng, data)):
        index, w, shift = data.rows[c], data.class_weights(c), data.shifts[c]
        k = class_support(data, c, options)
        subset, step = next(iter(_random_starts(data, c, k, 1, seed))), 0
        for step in range(1, options.max_steps + 1):
            centre = shift + _mean(rows, index, subset, shift)
            score = np.concatenate([squared_norms(b) for _, b in rows.blocks(index, centre)])
            previous, subset = subset, select_smallest(data.favour_trusted(c, score), k, w)
            if np.array_equal(previous.positions, subset.positions):
                break
        subsets.append(subset)
        n_iter.append(step)
    gaussians = _spherical(data, subsets, options)
    return fit_of_subsets(data, gaussians, subsets, n_iter, _too_close(gaussians))


def _mean(rows: Rows, index: Array, subset: Subset, shift: Array) -> Array:
    """Mean of a subset relative to the shift."""
    total = np.zeros(rows.n_features)
    w = np.ones(len(subset.positions)) if subset.weights is None else subset.weights
    for where, block in rows.blocks(index[subset.positions], shift):
        total += w[where] @ block
    mean: Array = (total / w.sum()).astype(rows.dtype)
    return mean


LEAST_APART = 1e-12
"""Squared distances between classes below which rounding decides between them, under I."""


def _spherical(data: ByClass, subsets: list[Subset], options: Options) -> TiedGaussians:
    rows = Rows(data.X)
    sizes = np.array([len(s.positions) if s.weights is None else s.weights.sum() for s in subsets])
    means = [
        data.shifts[c] + _mean(rows, data.rows[c], s, data.shifts[c]) for c, s in enumerate(subsets)
    ]
    m = PooledMoments(sizes, np.stack(means), np.eye(data.n_features) * sizes.sum())
    gaussians = from_moments(m, priors=options.priors, shrinkage=options.shrinkage)
    return replace(gaussians, estimated=0.0)


def _too_close(gaussians: TiedGaussians) -> list[str]:
    """What to say about classes that are far closer to each other than the covariance I is wide."""
    apart = float(gaussians.norms.max())
    if not 0 < apart < LEAST_APART:
        return []
    return [
        f"The classes are {apart**0.5:.0e} apart, which is nothing compared with the covariance I "
        "that this estimator assumes, so all are equally likely. Bring the features to a common "
        "scale, or use estimator='sample'."
    ]


NO_MOMENTS = Moments(0.0, np.empty(0), np.empty((0, 0)))
BATCHES = 64
"""Parts that classes are cut into, at most. It must not depend on the number of workers."""


class ClassBatch(NamedTuple):
    """Some classes, by their numbers in ``data``, and what their MCDs are found with.

    ``first`` has an estimate for each class, where the first distances are not their own.
    """

    data: ByClass
    classes: range
    options: Options
    seeds: list[int]
    first: list[Estimate] | None

    @property
    def features(self) -> Features:
        return self.data.X

    @property
    def row_numbers(self) -> Array | None:
        return np.concatenate(self.data.rows[self.classes.start : self.classes.stop])

    def cut(self) -> ClassBatch:
        """Without the other classes."""
        of = slice(self.classes.start, self.classes.stop)
        return self._replace(data=self.data.of_classes(of), classes=range(len(self.classes)))


class BatchResult(NamedTuple):
    """The MCD of each class (without its moments), and sums of all; who needed double precision."""

    results: list[McdResult]
    sums: ClassSums
    in_double: bool

    @classmethod
    def from_plain(cls, found: tuple[Any, ...]) -> BatchResult:
        """From tuples in place of all that it consists of."""
        results, sums, in_double = found
        of_classes = [
            McdResult(Subset(*subset), NO_MOMENTS, list(log_dets), *rest)
            for subset, _, log_dets, *rest in results
        ]
        return cls(of_classes, ClassSums(*sums), in_double)


MCD_STEPS = Each("mcd", ClassBatch.cut, BatchResult.from_plain)


def mcd_tied(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """RoG: (a) Algorithm 1 for each class, (b) one covariance, classes weighted by K_c."""
    seeds = class_seeds(rng, data)
    first = _pooled_estimates(data, options, seeds) if options.start == "pooled" else None
    results: list[McdResult] = []
    in_double, C, d = False, data.n_classes, data.n_features
    weights, totals, gram = np.zeros(C), np.zeros((C, d)), np.zeros((d, d), order="F")
    batches = [_batch(data, part, options, seeds, first) for part in class_batches(data)]
    of_batches = partial(_mcd_of_batches, data)
    for found in each_remembered(MCD_STEPS, of_batches, batches):
        of = slice(len(results), len(results) + len(found.results))
        results += found.results
        weights[of], totals[of] = found.sums.weights, found.sums.totals
        gram += found.sums.gram
        in_double |= found.in_double
    pooled = from_sums(data, weights, totals, gram)
    subsets, n_iter = [r.subset for r in results], [r.n_steps for r in results]
    notes = [IN_DOUBLE] if in_double else []
    if options.support_fraction is None:
        notes += _nothing_trimmed(data, n_iter)
    gaussians = tie(data, subsets, options, notes, pooled)
    return fit_of_subsets(data, gaussians, subsets, n_iter, notes)


def _mcd_of_batches(data: ByClass, batches: list[ClassBatch]) -> Iterator[BatchResult]:
    """In their order: batches side by side; large classes by themselves, their rows side by side.

    Which way a class goes changes no bit of it.
    """
    sent = are_sent() and can_be_sent(data.X)
    sizes = np.array([len(rows) for rows in data.rows])
    split = classes_to_split(sizes, n_workers(data.X))
    flops = 3.0 * len(data.X) * data.n_features**2
    for alone, some in groupby(batches, lambda batch: batch.classes.start in split):
        if alone:
            yield from map(mcd_of_batch, some)
        else:
            parts = (batch.cut() if sent else batch for batch in some)
            yield from map_parts(mcd_of_batch, parts, flops, data.X)


def classes_to_split(sizes: Array, workers: int) -> set[int]:
    """Classes that others would have to wait for, where all workers on each of them are quicker.

    Examples
    --------
    >>> classes_to_split(np.array([900_000, 50_000, 50_000]), workers=4)
    {0}
    >>> classes_to_split(np.array([500_000, 500_000]), workers=2)  # one for each worker
    set()
    """
    large = np.flatnonzero(sizes * workers > sizes.sum())
    parts = [n_parts(int(sizes[c])) for c in large]
    one_after_the_other = sum(-(-n // workers) for n in parts)
    return set(large.tolist()) if one_after_the_other < max(parts, default=0) else set()


def class_batches(data: ByClass) -> list[range]:
    """Classes one after the other, in batches of about as many rows; large ones by themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian import group_by_class
    >>> class_batches(group_by_class(np.eye(4), np.array([0, 1, 1, 2]), 3))
    [range(0, 1), range(1, 2), range(2, 3)]
    """
    if data.n_classes <= BATCHES:
        return [range(c, c + 1) for c in range(data.n_classes)]
    sizes = np.array([len(rows) for rows in data.rows])
    reached, large = np.cumsum(sizes), np.flatnonzero(sizes > PART_ROWS)
    shares = reached[-1] * np.arange(1, BATCHES) / BATCHES
    found = np.searchsorted(reached, shares)
    cuts = np.unique([0, *found, *large, *(large + 1), data.n_classes])
    return [range(a, b) for a, b in pairwise(cuts.tolist())]


def _batch(
    data: ByClass, classes: range, options: Options, seeds: list[int], first: list[Estimate] | None
) -> ClassBatch:
    of = slice(classes.start, classes.stop)
    return ClassBatch(data, classes, options, seeds[of], None if first is None else first[of])


def mcd_of_batch(batch: ClassBatch) -> BatchResult:
    """Algorithm 1 for each class of a batch."""
    n, d = len(batch.classes), batch.data.n_features
    sums = ClassSums(np.zeros(n), np.zeros((n, d)), np.zeros((d, d), order="F"))
    results, in_double = [], False
    for i in range(n):
        try:
            found = _mcd_class(batch, i)
        except IllConditionedError:
            found = _mcd_class(batch, i, np.float64)
            # Where double precision finds no inverse either, it was not the precision's fault:
            # in a small class, two features may vary in the same single sample.
            in_double |= not found.singular
        sums.weights[i], sums.totals[i] = found.moments.weight, found.moments.total
        np.add(sums.gram, found.moments.gram, out=sums.gram)
        results.append(found._replace(moments=NO_MOMENTS))
    return BatchResult(results, sums, in_double)


def _mcd_class(batch: ClassBatch, i: int, dtype: Any = None) -> McdResult:
    """Algorithm 1 for one class: the best of its starts. The same seed gives the same starts."""
    data, c, options = batch.data, batch.classes[i], batch.options
    index, w, shift = data.rows[c], data.class_weights(c), data.shifts[c]
    rows = Rows(data.X, dtype, most=len(index))
    k = class_support(data, c, options)
    if k >= data.class_size(c):
        return McdResult(data.whole(c), moments(rows, index, shift, w), [], 0)
    trusted = class_trusted(data, c)
    if options.start == "deterministic":
        starts: Iterable[Subset] = deterministic_starts(data.X[index], k, w, trusted)
    else:
        starts = _random_starts(data, c, k, options.n_starts, batch.seeds[i])
    samples = ClassSamples(rows, index, shift, w, trusted)
    steps = CSteps(options.max_steps, options.leave_one_out, options.shrinkage)
    first = None if batch.first is None else batch.first[i]
    results = (mcd(samples, k, start, steps, first) for start in starts)
    return min(results, key=lambda r: r.log_dets[-1])


def _pooled_estimates(data: ByClass, options: Options, seeds: list[int]) -> list[Estimate]:
    """Means of a random subset of each class, and one covariance of all these subsets."""
    subsets = [
        next(iter(_random_starts(data, c, class_support(data, c, options), 1, seed)))
        for c, seed in enumerate(seeds)
    ]
    m = pooled_moments(data, subsets)
    factor = invertible(m.covariance, options.shrinkage, float(m.weights.sum())).factor
    return [Estimate(m.means[c] - data.shifts[c], factor) for c in range(data.n_classes)]


def _random_starts(data: ByClass, c: int, k: float, n_starts: int, seed: int) -> Iterator[Subset]:
    n, w, trusted = len(data.rows[c]), data.class_weights(c), class_trusted(data, c)
    for i in range(n_starts):
        yield random_start(np.random.default_rng((seed, i)), n, k, w, trusted)


def class_seeds(rng: np.random.Generator, data: ByClass) -> list[int]:
    """One seed a class, so that no class's draws depend on those of another."""
    return [int(s) for s in rng.integers(2**62, size=data.n_classes)]


def class_support(data: ByClass, c: int, options: Options) -> float:
    """K_c; trusted samples are kept even if they are more."""
    k = support_size(data.class_size(c), data.n_features, options.support_fraction)
    return max(k, data.trusted_size(c))


def class_trusted(data: ByClass, c: int) -> Array | None:
    """The trusted mask of one class."""
    return None if data.trusted is None else data.trusted[data.rows[c]]


def tie(
    data: ByClass,
    subsets: list[Subset],
    options: Options,
    notes: list[str],
    pooled: PooledMoments | None = None,
) -> TiedGaussians:
    """Step (b): the tied Gaussians of the kept samples; double precision where it is needed."""
    pooled = pooled_moments(data, subsets) if pooled is None else pooled
    gaussians = from_moments(pooled, priors=options.priors, shrinkage=options.shrinkage)
    weak = gaussians.factor.slack < MIN_SLACK["f"] or gaussians.shrunk > 0
    if weak and data.X.dtype == np.float32:
        pooled = pooled_moments(data, subsets, np.float64)
        gaussians = from_moments(pooled, priors=options.priors, shrinkage=options.shrinkage)
        if IN_DOUBLE not in notes:
            notes.append(IN_DOUBLE)
    if gaussians.shrunk > 0:
        notes.append(
            f"The tied covariance is singular ({pooled.weights.sum():.0f} kept samples, "
            f"{data.n_features} features); it was shrunk by {gaussians.shrunk:.2g} "
            "towards a multiple of the identity. Choose the amount yourself with shrinkage=, or "
            "remove duplicate features."
        )
    return gaussians


def _nothing_trimmed(data: ByClass, n_iter: list[int]) -> list[str]:
    untrimmed = [c for c, steps in enumerate(n_iter) if steps == 0]
    if not untrimmed:
        return []
    smallest = min(data.class_size(c) for c in untrimmed)
    return [
        f"{len(untrimmed)} of {data.n_classes} classes have too few samples to trim any (the "
        f"smallest has {smallest:.0f} for {data.n_features} features): K_c = (N_c + d + 1) / 2 "
        "reaches N_c, so all their samples were kept, wrong labels included. Set "
        "support_fraction (0.5, say) with shrinkage='auto', or estimator='posterior'."
    ]
