"""The estimators that Theorem 1 is about, by the library's own code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.experiments.theory.world import Drawn
from rehead.gaussian.classwise import sample, tie
from rehead.gaussian.kernels import Rows, Subset
from rehead.gaussian.mcd import ClassSamples, CSteps, McdResult, mcd, support_size
from rehead.gaussian.options import Options
from rehead.gaussian.rows import ByClass, group_by_class
from rehead.gaussian.starts import random_start

PAPER = CSteps(most=2)
"""Algorithm 1 as printed: two C-steps."""

TO_THE_END = CSteps(most=200)
"""C-steps until the subset no longer changes."""


class Gaussians(NamedTuple):
    """Class means, tied covariance, and for the MCD what it kept.

    Attributes
    ----------
    means : array of shape (C, d)
    covariance : array of shape (d, d)
    outliers_kept : float
        Share of outliers among the samples that were used.
    log_dets : list of float
        Log determinant of each class's kept subset; empty for the sample estimator.
    """

    means: Array
    covariance: Array
    outliers_kept: float
    log_dets: list[float]


ESTIMATORS = ("sample", "mcd", "algorithm_1")
"""Equation 1; equation 2, as the smallest determinant found; Algorithm 1 as printed."""


def estimate_all(drawn: Drawn, delta_mcd: float, rng: np.random.Generator) -> dict[str, Gaussians]:
    """All of :data:`ESTIMATORS`, from the same samples."""
    return {
        "sample": sample_estimate(drawn),
        "mcd": mcd_estimate(drawn, delta_mcd, rng),
        "algorithm_1": algorithm_1(drawn, delta_mcd, rng),
    }


def sample_estimate(drawn: Drawn) -> Gaussians:
    """Equation 1: means and tied covariance of all samples."""
    data = _grouped(drawn)
    g = sample(data, Options(), np.random.default_rng(0)).gaussians  # it draws nothing
    return Gaussians(g.means, g.covariance, float(drawn.outlier.mean()), [])


def algorithm_1(drawn: Drawn, delta_mcd: float, rng: np.random.Generator) -> Gaussians:
    """Algorithm 1 as printed: one random start, two C-steps."""
    data, k = _grouped(drawn), _size(drawn, delta_mcd)
    results = [
        mcd(_of_class(data, c), k, random_start(rng, len(rows), k), PAPER)
        for c, rows in enumerate(data.rows)
    ]
    return _gaussians(drawn, data, results)


def mcd_estimate(drawn: Drawn, delta_mcd: float, rng: np.random.Generator) -> Gaussians:
    """Equation 2 as closely as it can be had: the smallest determinant that is found.

    The search is given what no user has: it also starts from clean samples only, and from the
    outliers. That is fair, as equation 2 asks for the smallest determinant, however it is found.
    """
    data, k = _grouped(drawn), _size(drawn, delta_mcd)
    results = [
        smallest(_of_class(data, c), k, informed_starts(drawn.outlier[rows], k, rng))
        for c, rows in enumerate(data.rows)
    ]
    return _gaussians(drawn, data, results)


def smallest(samples: ClassSamples, k: float, starts: Iterable[Subset]) -> McdResult:
    """Of C-steps to the end from several starts, the one with the smallest determinant."""
    results = (mcd(samples, k, start, TO_THE_END) for start in starts)
    return min(results, key=lambda r: r.log_dets[-1])


def informed_starts(outlier: Array, k: float, rng: np.random.Generator) -> Iterator[Subset]:
    """Subsets of k samples: as clean as there are, as many outliers as there are, any."""
    for wanted in (~outlier, outlier):
        order = rng.permutation(len(outlier))
        order = order[np.argsort(~wanted[order], kind="stable")]
        yield Subset(np.sort(order[: int(k)]))
    yield random_start(rng, len(outlier), k)


def class_samples(X: Array) -> ClassSamples:
    """Samples of a single class."""
    return _of_class(group_by_class(X, np.zeros(len(X), np.int64), 1), 0)


def mean_and_covariance(X: Array, subset: Subset) -> tuple[Array, Array]:
    """Of a subset of the rows; divided by their number, as in Algorithm 1."""
    kept = X[subset.positions]
    return kept.mean(axis=0), np.atleast_2d(np.cov(kept, rowvar=False, bias=True))


def _grouped(drawn: Drawn) -> ByClass:
    return group_by_class(drawn.X, drawn.codes, int(drawn.codes.max()) + 1)


def _of_class(data: ByClass, c: int) -> ClassSamples:
    return ClassSamples(Rows(data.X, most=len(data.rows[c])), data.rows[c], data.shifts[c])


def _size(drawn: Drawn, delta_mcd: float) -> float:
    n = int((drawn.codes == 0).sum())  # A2: as many samples in each class
    return support_size(n, drawn.X.shape[1], delta_mcd)


def _gaussians(drawn: Drawn, data: ByClass, results: list[McdResult]) -> Gaussians:
    subsets = [r.subset for r in results]
    g = tie(data, subsets, Options(), [])
    rows = [rows[s.positions] for rows, s in zip(data.rows, subsets, strict=True)]
    kept = float(drawn.outlier[np.concatenate(rows)].mean())
    return Gaussians(g.means, g.covariance, kept, [r.log_dets[-1] for r in results])
