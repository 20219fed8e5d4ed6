"""Logistic regression on noisy labels, each row also scored by a regression that did not see it.

Gaussians know how labels come about (``T``), but where classes are many, unequal or not Gaussian a
logistic regression draws better boundaries. It is not misled by wrong labels if it is told of them
(forward correction; Patrini et al., 2017): it minimises

    - mean log sum_c softmax(W x + b)_c T[c, y]  +  ridge / (2 n) |W|^2,      features standardised.

The rows are dealt to a few folds. What a row is, is told by the regression on the other folds, so
that a wrong label does not vouch for itself; copies of a row are in one fold. This loss has more
than one minimum: each search starts from 0, since one that follows a strong ridge down to a weak
one ends in worse minima.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from rehead._typing import Array, Features
from rehead.gaussian.blas import syrk
from rehead.gaussian.kernels import BLOCK, Rows
from rehead.gaussian.linear import CrossFitted, LinearScores
from rehead.gaussian.probability import softmax
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.steps import remembered
from rehead.gaussian.threads import ordered_map, own_threads, ranges

USUAL_CURVATURE = 0.1
"""Of the loss, in the direction of a feature of variance 1: about p (1 - p) of samples in doubt.
Only the speed of the search depends on it."""


class NoisyRows(NamedTuple):
    """Rows to learn from: how likely each class makes its label, and how often each row counts.

    ``of_label[i, c]`` is ``T[c, y_i]``; for a label that is known to be right, 1 and 0.
    """

    X: Features
    rows: Array
    of_label: Array
    counts: Array

    def only(self, kept: Array) -> NoisyRows:
        """Some of them, by a mask."""
        return NoisyRows(self.X, self.rows[kept], self.of_label[kept], self.counts[kept])


class Scaling(NamedTuple):
    """What features are standardised by, and the covariance of standardised ones."""

    centre: Array
    scale: Array
    covariance: Array


@own_threads()
def scaling_of(X: Features, rows: Array, *, alike: bool) -> Scaling:
    """Of some rows. Features that are ``alike`` (of one map) have one scale in common."""
    reader, d = Rows(X, np.float64, most=len(rows)), X.shape[1]
    about = np.asarray(X[rows[:1]], np.float64)[0]
    total, gram = np.zeros(d), np.zeros((d, d), order="F")
    for _, block in reader.blocks(rows, about):
        total += block.sum(axis=0)
        syrk(gram, block, 1.0)
    mean = total / len(rows)
    lower = np.tril(gram / len(rows) - np.outer(mean, mean))
    variances = np.maximum(np.diag(lower), 0.0)
    if alike:
        variances = np.full(d, variances.mean())
    # A constant feature says nothing, whatever its scale.
    scale = np.sqrt(np.where(variances > 0, variances, 1.0))
    covariance = (lower + np.tril(lower, -1).T) / np.outer(scale, scale)
    return Scaling(about + mean, scale, covariance)


@remembered(lambda found: LinearScores(*found))
@own_threads()
def fit_logistic(noisy: NoisyRows, scaling: Scaling, ridge: float) -> LinearScores:
    """The regression of some rows, by L-BFGS from 0.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> rows = NoisyRows(X, np.arange(4), np.eye(2)[y], np.ones(4))
    >>> found = fit_logistic(rows, scaling_of(X, rows.rows, alike=False), 1.0)
    >>> found.of(np.array([[-3.0], [3.0]])).argmax(axis=1)
    array([0, 1])
    """
    # What does not count may be so far away that its scores are no numbers.
    noisy = noisy.only(noisy.counts > 0)
    n_classes, d = noisy.of_label.shape[1], len(scaling.scale)
    total = float(noisy.counts.sum())
    # In these coordinates the loss is about as curved in all directions.
    curvature = USUAL_CURVATURE * scaling.covariance + ridge / total * np.eye(d)
    root = cholesky(curvature, lower=True)
    of_bias = np.sqrt(USUAL_CURVATURE)

    def unpacked(v: Array) -> tuple[Array, Array]:
        u = v.reshape(d + 1, n_classes)
        return solve_triangular(root, u[:-1], lower=True, trans="T"), u[-1] / of_bias

    def loss(v: Array) -> tuple[float, Array]:
        weights, bias = unpacked(v)
        value, slope, slope_of_bias = _loss(noisy, scaling, weights, bias)
        value += 0.5 * ridge / total * float((weights**2).sum())
        slope += ridge / total * weights
        turned = solve_triangular(root, slope, lower=True)
        return value, np.append(turned.ravel(), slope_of_bias / of_bias)

    start = np.zeros((d + 1) * n_classes)
    options = {"maxiter": SETTINGS.logistic_steps, "ftol": 1e-6, "gtol": 1e-6}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    weights, bias = unpacked(found.x)
    weights = (weights / scaling.scale[:, None]).T
    return LinearScores(weights, bias - weights @ scaling.centre)


def _loss(
    noisy: NoisyRows, scaling: Scaling, weights: Array, bias: Array
) -> tuple[float, Array, Array]:
    """Mean loss of the labels, and its slopes; the weights are those of standardised features."""
    X, dtype = noisy.X, noisy.X.dtype
    share = (noisy.counts / noisy.counts.sum()).astype(dtype)
    of_features = (weights / scaling.scale[:, None]).astype(dtype)
    bias = bias.astype(dtype)

    def part(span: slice) -> tuple[float, Array, Array]:
        reader = Rows(X, dtype, most=span.stop - span.start)
        value, slope, slope_of_bias = 0.0, np.zeros(weights.shape), np.zeros(len(bias))
        for where, block in reader.blocks(noisy.rows[span], scaling.centre):
            at = slice(span.start + where.start, span.start + where.stop)
            towards = softmax(block @ of_features + bias, overwrite=True)
            joint = towards * noisy.of_label[at]
            likelihood = np.maximum(joint.sum(axis=1), np.finfo(dtype).tiny)
            towards -= joint / likelihood[:, None]
            towards *= share[at, None]
            value -= float(share[at] @ np.log(likelihood))
            slope += block.T @ towards
            slope_of_bias += towards.sum(axis=0)
        return value, slope, slope_of_bias

    flops = 4.0 * len(noisy.rows) * weights.size
    value, slope, slope_of_bias = 0.0, np.zeros(weights.shape), np.zeros(len(bias))
    for found in ordered_map(part, ranges(len(noisy.rows), flops, BLOCK), flops):
        value += found[0]
        slope += found[1]
        slope_of_bias += found[2]
    return value, slope / scaling.scale[:, None], slope_of_bias


def deal(codes: Array, rng: np.random.Generator, same: Array | None = None) -> Array:
    """A fold for each row, each class in equal parts.

    Rows with the same number in ``same`` get the same fold: a row must not vouch for its copy.

    Examples
    --------
    >>> import numpy as np
    >>> codes, same = np.array([0, 0, 0, 1, 1, 1]), np.array([7, 8, 7, 7, 9, 6])
    >>> folds = deal(codes, np.random.default_rng(0), same)
    >>> bool(folds[0] == folds[2] == folds[3])
    True
    """
    if same is not None:
        _, first, which = np.unique(same, return_index=True, return_inverse=True)
        if len(first) < len(codes):
            kept = np.sort(first)
            of_first = np.empty(len(codes), np.int64)
            of_first[kept] = deal(codes[kept], rng)
            folds: Array = of_first[first[which]]
            return folds
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(codes), np.int64)
    folds[order] = np.arange(len(codes)) % SETTINGS.logistic_folds
    return folds


def cross_fit(noisy: NoisyRows, scaling: Scaling, ridge: float, folds: Array) -> CrossFitted:
    """Regressions of all rows, and of those outside each fold."""
    every = range(SETTINGS.logistic_folds)
    without = [fit_logistic(noisy.only(folds != fold), scaling, ridge) for fold in every]
    return CrossFitted(fit_logistic(noisy, scaling, ridge), without)
