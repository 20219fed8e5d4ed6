"""Ranking samples by the posterior of their label, judged by estimates that did not see them.

Ranking by distance asks whether a sample is close to the mean of its class. Ranking by posterior
asks whether another class explains it better, which is the question label noise poses: a sample of
another class in the middle of feature space is near in distance and unlikely in posterior.

The estimates that a sample is judged by must not contain it, or wrong labels vouch for themselves.
Refitting without each sample is not needed. Let a sample x of class c have weight w among K_c of
its class and n in all, v = x - mu_c, P = Sigma^-1. Without it (rank-one downdate of the scatter):

    mu_c'    = mu_c - w/(K_c - w) v,
    n Sigma  loses  w K_c/(K_c - w) v v',

so with g = w K_c / ((K_c - w) n), u_k = x - mu_k, and u_c = K_c/(K_c - w) v, Sherman-Morrison gives

    D_k' = (n - w)/n [ u_k' P u_k + g (v' P u_k)^2 / (1 - g v' P v) ].

Where only a share s of Sigma was estimated (the rest is what it was shrunk towards), both terms
that come from the scatter carry s: g becomes s g, and (n - w)/n becomes 1 - s w/n. All terms follow
from one triangular solve and one product with the C means, as for a prediction.
Exact without shrinkage and with priors that do not depend on the samples. With shrinkage, what it
goes towards and n are held fixed; so are empirical priors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.classwise import class_support, fit_of, tie
from rehead.gaussian.kernels import (
    BLOCK,
    MIN_SLACK,
    Rows,
    Subset,
    select_smallest,
    squared_norms,
    whiten,
)
from rehead.gaussian.options import Fit, Options
from rehead.gaussian.rows import ByClass
from rehead.gaussian.threads import ordered_map, ranges
from rehead.gaussian.tied import TiedGaussians


class Kept(NamedTuple):
    """What some estimates are made of.

    ``rows`` tells how much of each row they contain, ``members`` to which class it was counted, and
    ``classes`` how much of each class there is in all.
    """

    rows: Array
    members: Array
    classes: Array


def kept(data: ByClass, subsets: list[Subset]) -> Kept:
    """Tell which rows some estimates were made of."""
    rows, members = np.zeros(len(data.X)), np.zeros(len(data.X), np.int64)
    for c, (index, w) in enumerate(subsets):
        rows[data.rows[c][index]] = 1.0 if w is None else w
        members[data.rows[c]] = c
    return Kept(rows, members, np.bincount(members, weights=rows, minlength=data.n_classes))


def label_scores(
    gaussians: TiedGaussians,
    X: Array,
    codes: Array,
    inside: Kept,
    reduce: Callable[[Array, Array], Array],
) -> Array:
    """Apply ``reduce(scores, codes)`` to blocks of leave-one-out scores and join the results.

    A score is ``log beta_k + log N(x; ...)`` up to a constant, without the sample itself where the
    estimates contain it. (The only sample of a class cannot be left out.) The N x C scores are
    never all in memory.
    """
    G = gaussians.weights @ (gaussians.means - gaussians.centre).T
    dtype = np.float64 if gaussians.factor.slack < MIN_SLACK["f"] else X.dtype
    factor = gaussians.factor._replace(lower=gaussians.factor.lower.astype(dtype))
    W = gaussians.weights.T.astype(dtype)
    with np.errstate(divide="ignore"):
        log_prior = np.log(gaussians.priors).astype(dtype)
    n = float(inside.classes.sum())

    def part(span: slice) -> list[Array]:
        out = []
        for where, block in Rows(X, dtype).blocks(span, gaussians.centre):
            rows = slice(span.start + where.start, span.start + where.stop)
            own = inside.members[rows]
            linear = block @ W
            q = squared_norms(whiten(block, factor))
            one = Removed(own, inside.rows[rows], inside.classes[own], n, gaussians.estimated)
            D = _left_out(q, linear, G, one)
            D *= -0.5
            D += log_prior
            out.append(reduce(D, codes[rows]))
        return out

    flops = float(len(X)) * X.shape[1] ** 2
    spans = ranges(len(X), flops, BLOCK)
    return np.concatenate([p for parts in ordered_map(part, spans, flops) for p in parts])


class Removed(NamedTuple):
    """What is taken out for each row: its class, its weight, of how much, from what in all."""

    own: Array
    weight: Array
    of_class: Array
    of_all: float
    estimated: float


def _left_out(q: Array, linear: Array, G: Array, one: Removed) -> Array:
    """``D_k'`` of the module's docstring, from ``q = x'Px``, ``linear = x'Pm`` and ``G = m'Pm``."""
    dtype, own, K, n = linear.dtype, one.own, one.of_class, one.of_all
    every = np.arange(len(own))
    w = np.minimum(one.weight, 1.0)  # one sample is left out, also where a row counts several times
    w = np.where(w < K, w, 0.0)
    g = one.estimated * w * K / ((K - w).clip(np.finfo(float).tiny) * n)
    a = np.where(w > 0, K / np.where(w > 0, K - w, 1.0), 1.0)
    G = G.astype(dtype)
    of_own = linear[every, own]
    h = q - 2 * of_own + np.diag(G)[own]  # v' P v
    room = np.maximum(1.0 - g * h, np.finfo(dtype).eps)
    cross = None
    if one.estimated > 0:
        cross = G[own]
        cross -= linear
        cross += (q - of_own)[:, None]  # v' P u_k
        cross *= cross
        cross *= (g / room).astype(dtype)[:, None]
    D = linear
    D *= -2
    D += np.diag(G)
    D += q[:, None]  # u_k' P u_k
    if cross is not None:
        D += cross
    D[every, own] = a**2 * h / room
    D *= (1.0 - one.estimated * w / n).astype(dtype)[:, None]
    return D


def log_odds(scores: Array, codes: Array) -> Array:
    """``log p_y - log (1 - p_y)`` of the given label: ranks where posteriors saturate at 1.

    Uses up ``scores``.
    """
    every = np.arange(len(scores))
    own = scores[every, codes]
    scores[every, codes] = -np.inf
    # A finite top keeps the odds defined where no other class has a posterior at all.
    top = np.maximum(scores.max(axis=1), np.finfo(scores.dtype).min)
    scores -= top[:, None]
    np.exp(scores, out=scores)
    with np.errstate(divide="ignore"):
        odds: Array = own - top - np.log(scores.sum(axis=1))
    return odds


def trim_by_posterior(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Keep, in each class, the samples whose label has the highest leave-one-out posterior.

    Starts from all samples, so there is no randomness. Each round costs about one covariance and
    one distance pass over the data.

    Made for samples of *other classes*. Far outliers of no class can mislead it, since the first
    estimates contain them and no class explains them; "mcd" is the one to use against those.
    """
    C = data.n_classes
    codes = np.zeros(len(data.X), np.int64)
    for c, rows in enumerate(data.rows):
        codes[rows] = c
    subsets = [data.whole(c) for c in range(C)]
    step = 0
    notes: list[str] = []
    for step in range(1, options.max_steps + 1):
        gaussians = tie(data, subsets, options, [])
        inside = kept(data, subsets)
        odds = label_scores(gaussians, data.X, codes, inside, log_odds)
        previous = subsets
        subsets = [
            select_smallest(
                data.favour_trusted(c, -odds[data.rows[c]]),
                class_support(data, c, options),
                data.class_weights(c),
            )
            for c in range(C)
        ]
        if all(
            np.array_equal(a.positions, b.positions) for a, b in zip(previous, subsets, strict=True)
        ):
            break
    gaussians = tie(data, subsets, options, notes)
    return fit_of(data, gaussians, subsets, [step] * C, notes)
