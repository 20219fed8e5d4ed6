"""Scores of samples by estimates that do not contain them, in closed form.

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

from rehead._typing import Array, Features
from rehead.gaussian.composition import Composition
from rehead.gaussian.kernels import BLOCK
from rehead.gaussian.threads import ordered_map, own_threads, ranges
from rehead.gaussian.tied import TiedGaussians


def all_scores(scores: Array, codes: Array) -> Array:
    """Nothing left out of what :func:`leave_one_out_scores` finds."""
    return scores


@own_threads()
def leave_one_out_scores(
    gaussians: TiedGaussians,
    X: Features,
    told: Array,
    inside: Composition,
    reduce: Callable[[Array, Array], Array],
) -> Array:
    """Apply ``reduce(scores, told)`` to blocks of leave-one-out scores and join the results.

    ``told`` is what it is told of each row: its label, or its number.

    A score is ``log beta_k + log N(x; ...)`` up to a constant, without the sample itself where the
    estimates contain it. (The only sample of a class cannot be left out.) The N x C scores are
    never all in memory.
    """
    G = gaussians.weights @ (gaussians.means - gaussians.centre).T
    projector = gaussians.projector(X)
    with np.errstate(divide="ignore"):
        log_prior = np.log(gaussians.priors).astype(projector.dtype)
    n = float(inside.class_totals.sum())

    def part(span: slice) -> list[Array]:
        out = []
        for rows, linear, q in projector.both(span):
            own = inside.counted_as[rows]
            removed = Removed(
                own, inside.weights[rows], inside.class_totals[own], n, gaussians.estimated
            )
            D = _distances_without(q, linear, G, removed)
            D *= -0.5
            D += log_prior
            out.append(reduce(D, told[rows]))
        return out

    flops = float(len(X)) * X.shape[1] ** 2
    spans = ranges(len(X), flops, BLOCK)
    return np.concatenate([p for parts in ordered_map(part, spans, flops) for p in parts])


class Removed(NamedTuple):
    """What is taken out for each row: its class, its weight, of how much, from what in all.

    ``estimated`` is the share of the covariance that samples made.
    """

    own: Array
    weight: Array
    of_class: Array
    total: float
    estimated: float


def _distances_without(q: Array, linear: Array, G: Array, removed: Removed) -> Array:
    """``D_k'`` of the module's docstring, from ``q = x'Px``, ``linear = x'Pm`` and ``G = m'Pm``."""
    dtype, own, K, n = linear.dtype, removed.own, removed.of_class, removed.total
    every = np.arange(len(own))
    w = np.minimum(
        removed.weight, 1.0
    )  # one sample is left out, also where a row counts several times
    w = np.where(w < K, w, 0.0)
    g = removed.estimated * w * K / ((K - w).clip(np.finfo(float).tiny) * n)
    a = np.where(w > 0, K / np.where(w > 0, K - w, 1.0), 1.0)
    G = G.astype(dtype)
    of_own = linear[every, own]
    h = q - 2 * of_own + np.diag(G)[own]  # v' P v
    room = np.maximum(1.0 - g * h, np.finfo(dtype).eps)
    cross = None
    if removed.estimated > 0:
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
    D *= (1.0 - removed.estimated * w / n).astype(dtype)[:, None]
    return D
