"""Trimmed k-means with a tied covariance: the clustering baseline of table 8."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from rehead._typing import Array, row_spans, some_rows
from rehead.gaussian.classwise import class_support, tie
from rehead.gaussian.fit import Fit, fit_of_subsets
from rehead.gaussian.kernels import Subset, select_smallest
from rehead.gaussian.options import Options
from rehead.gaussian.rows import ByClass, group_by_class
from rehead.gaussian.tied import TiedGaussians, tied_gaussians


def trimmed_kmeans(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Clusters start as the noisy classes, then the labels are no longer looked at.

    Each iteration assigns every sample to the nearest mean under the tied covariance, sets aside
    the farthest samples of the whole set (as many as MCD would), and re-estimates. In the end each
    cluster takes the majority label of its members. Where two clusters have the same majority, the
    assignment with the largest total count decides, so that each class keeps one Gaussian.
    """
    k = sum(class_support(data, c, options) for c in range(data.n_classes))
    notes: list[str] = []
    clusters, subsets = data, _whole(data)
    gaussians = tie(clusters, subsets, options, notes)
    step = 0
    for step in range(1, options.max_steps + 1):
        clusters = _nearest_clusters(data, gaussians, k)
        subsets = _whole(clusters)
        updated = tie(clusters, subsets, options, [] if step < options.max_steps else notes)
        gaussians = _with_means_of_empty(updated, gaussians, clusters)
    order = _majority(clusters, subsets, data.codes)
    gaussians = _in_order(gaussians, order, options)
    fit = fit_of_subsets(clusters, gaussians, subsets, [step] * data.n_classes, notes)
    # The rows of a cluster count for the class that the cluster stands for.
    of_clusters = fit.composition
    counted_as = np.argsort(order)[of_clusters.counted_as]
    totals = of_clusters.class_totals[order]
    composition = of_clusters._replace(counted_as=counted_as, class_totals=totals)
    return fit._replace(composition=composition)


def _whole(clusters: ByClass) -> list[Subset]:
    return [clusters.whole(c) for c in range(clusters.n_classes)]


def _nearest_clusters(data: ByClass, gaussians: TiedGaussians, k: float) -> ByClass:
    """Rows grouped by the nearest mean, the farthest set aside; trusted ones stay as they are."""
    used = np.arange(len(data.X))
    if data.weights is not None:
        used = np.flatnonzero(data.weights > 0)
    assigned, nearest = np.empty(len(used), np.int64), np.empty(len(used), data.X.dtype)
    for span in row_spans(len(used), max(data.n_classes, data.n_features)):
        D = gaussians.distances(some_rows(data.X, used[span]))
        assigned[span], nearest[span] = D.argmin(axis=1), D.min(axis=1)
    if data.trusted is not None:
        trusted = data.trusted[used]
        assigned = np.where(trusted, data.codes[used], assigned)
        nearest = np.where(trusted, -np.inf, nearest)
    chosen = select_smallest(nearest, k, None if data.weights is None else data.weights[used])
    weights = np.zeros(len(data.X))
    weights[used[chosen.positions]] = 1.0 if chosen.weights is None else chosen.weights
    codes = np.full(len(data.X), -1)
    codes[used] = assigned
    return group_by_class(data.X, codes, data.n_classes, weights=weights)


def _with_means_of_empty(
    updated: TiedGaussians, before: TiedGaussians, clusters: ByClass
) -> TiedGaussians:
    """A cluster that lost all its rows keeps the mean it had."""
    empty = [c for c, rows in enumerate(clusters.rows) if not len(rows)]
    if not empty:
        return updated
    means = updated.means.copy()
    means[empty] = before.means[empty]
    return _with_means(updated, means, updated.priors)


def _in_order(gaussians: TiedGaussians, order: Array, options: Options) -> TiedGaussians:
    """Clusters as the classes that they stand for. Priors that were given are those of classes."""
    given = not isinstance(options.priors, str)
    priors = gaussians.priors if given else gaussians.priors[order]
    return _with_means(gaussians, gaussians.means[order], priors)


def _with_means(gaussians: TiedGaussians, means: Array, priors: Array) -> TiedGaussians:
    """The same covariance, and what is known of it, with other means."""
    moved = tied_gaussians(means, gaussians.covariance, priors)
    return replace(moved, estimated=gaussians.estimated, shrunk=gaussians.shrunk)


def _majority(clusters: ByClass, subsets: list[Subset], labels: Array) -> Array:
    """For each class, the cluster that takes its label."""
    C = clusters.n_classes
    counts = np.zeros((C, C))
    for k, subset in enumerate(subsets):
        rows = clusters.rows[k][subset.positions]
        w = None if subset.weights is None else subset.weights
        counts[k] = np.bincount(labels[rows], weights=w, minlength=C)
    cluster, label = linear_sum_assignment(counts, maximize=True)
    order = np.empty(C, np.int64)
    order[label] = cluster
    return order
