"""Trimmed k-means with a tied covariance: the clustering baseline of table 8."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from rehead.gaussian.classwise import class_support, tie
from rehead.gaussian.composition import Composition
from rehead.gaussian.fit import Fit, fit_of_subsets
from rehead.gaussian.kernels import Subset, select_smallest
from rehead.gaussian.options import Options
from rehead.gaussian.rows import ByClass, group_by_class
from rehead.gaussian.tied import tied_gaussians


def trimmed_kmeans(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Clusters start as the noisy classes, then the labels are no longer looked at.

    Each iteration assigns every sample to the nearest mean under the tied covariance, sets aside
    the farthest samples of the whole set (as many as MCD would), and re-estimates. In the end each
    cluster takes the majority label of its members. Where two clusters have the same majority, the
    assignment with the largest total count decides, so that each class keeps one Gaussian.
    """
    C = data.n_classes
    labels = np.full(len(data.X), -1)
    for c, rows in enumerate(data.rows):
        labels[rows] = c
    k = sum(class_support(data, c, options) for c in range(C))
    used = np.flatnonzero(labels >= 0)
    trusted = None if data.trusted is None else data.trusted[used]
    w = None if data.weights is None else data.weights[used]
    notes: list[str] = []
    clusters, subsets = data, [data.whole(c) for c in range(C)]
    gaussians = tie(clusters, subsets, options, notes)
    step = 0
    for step in range(1, options.max_steps + 1):
        D = gaussians.distances(data.X[used] if len(used) < len(data.X) else data.X)
        assigned, nearest = D.argmin(axis=1), D.min(axis=1)
        if trusted is not None:
            assigned = np.where(trusted, labels[used], assigned)
            nearest = np.where(trusted, -np.inf, nearest)
        chosen = select_smallest(nearest, k, w)
        weights = np.zeros(len(data.X))
        weights[used[chosen.positions]] = 1.0 if chosen.weights is None else chosen.weights
        codes = np.full(len(data.X), -1)
        codes[used] = assigned
        clusters = group_by_class(data.X, codes, C, weights=weights)
        subsets = [clusters.whole(c) for c in range(C)]
        updated = tie(clusters, subsets, options, [] if step < options.max_steps else notes)
        empty = [c for c in range(C) if not len(clusters.rows[c])]
        if empty:
            means = updated.means.copy()
            means[empty] = gaussians.means[empty]
            updated = tied_gaussians(means, updated.covariance, updated.priors)
        gaussians = updated
    order = _majority(clusters, subsets, labels)
    gaussians = tied_gaussians(
        gaussians.means[order], gaussians.covariance, gaussians.priors[order]
    )
    fit = fit_of_subsets(clusters, gaussians, subsets, [step] * C, notes)
    # The rows of a cluster count for the class that the cluster stands for.
    of_clusters = fit.composition
    counted_as = np.argsort(order)[of_clusters.counted_as]
    composition = Composition(of_clusters.weights, counted_as, of_clusters.class_totals[order])
    return fit._replace(composition=composition)


def _majority(clusters: ByClass, subsets: list[Subset], labels: np.ndarray) -> np.ndarray:
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
