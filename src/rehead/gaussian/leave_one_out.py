"""Scores of samples by estimates that do not contain them, in closed form.

The estimates that a sample is judged by must not contain it, or wrong labels vouch for themselves.
So copies of it are left out, too, but not all of many: rows of a table with few values are alike
because there are few values, and each says something about the others.
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

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from rehead._typing import Array, Features, cut_rows
from rehead.gaussian.composition import Composition
from rehead.gaussian.kernels import BLOCK
from rehead.gaussian.projections import Projector
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.steps import remembered
from rehead.gaussian.tasks import map_parts
from rehead.gaussian.threads import own_threads, ranges
from rehead.gaussian.tied import TiedGaussians

Told = Features | tuple[Features, ...]
"""What is told of each row: labels, or several such things, of which rows are taken."""
Reduce = Callable[[Array, Any], Array]
"""Makes rows of a result from scores and what it is told of these rows; it can be sent away."""


def all_scores(scores: Array, codes: Array) -> Array:
    """Nothing left out of what :func:`leave_one_out_scores` finds."""
    return scores


class RowsToScore(NamedTuple):
    """Some rows, what they are scored by, and what is made of the scores.

    ``gram`` are inner products of the class means, ``estimated`` is the share of the covariance
    that samples made. ``spread`` is the mean squared distance of samples from their class, where
    there are many classes; else 0.
    """

    projector: Projector
    told: Told
    inside: Composition
    log_prior: Array
    gram: Array
    estimated: float
    spread: float
    reduce: Reduce

    @property
    def features(self) -> Features:
        return self.projector.X

    @property
    def row_numbers(self) -> Array | None:
        return None

    def cut(self, span: slice) -> RowsToScore:
        """Those of a span, without the others."""
        return self._replace(
            projector=self.projector.on(cut_rows(self.features, span)),
            told=_each(self.told, lambda of_rows: cut_rows(of_rows, span)),
            inside=self.inside.take(span),
        )


def reduced_scores(part: RowsToScore) -> list[Array]:
    """What is made of the scores, block by block."""
    out, inside = [], part.inside.in_samples()
    n = float(inside.class_totals.sum())
    for rows, linear, q in part.projector.both(slice(0, len(part.features))):
        own = inside.counted_as[rows]
        weight = np.minimum(inside.weights[rows], SETTINGS.copies_left_out)
        removed = Removed(own, weight, inside.class_totals[own], n, part.estimated)
        D = _distances_without(q, linear, part.gram, removed)
        if part.spread:
            _as_of_new_rows(D, removed, part.spread)
        D *= -0.5
        D += part.log_prior
        out.append(part.reduce(D, _each(part.told, lambda of_rows: of_rows[rows])))  # noqa: B023
    return out


def _each(told: Told, take: Callable[[Features], Any]) -> Any:
    return tuple(map(take, told)) if isinstance(told, tuple) else take(told)


@remembered(np.asarray)
@own_threads()
def leave_one_out_scores(
    gaussians: TiedGaussians,
    X: Features,
    told: Told,
    inside: Composition,
    reduce: Reduce,
) -> Array:
    """Apply ``reduce(scores, told)`` to blocks of leave-one-out scores and join the results.

    ``told`` is what it is told of each row: its label, or several things. Features among them are
    read block by block.

    A score is ``log beta_k + log N(x; ...)`` up to a constant, without the sample itself where the
    estimates contain it. (The only sample of a class cannot be left out.) The N x C scores are
    never all in memory.
    """
    out, at = np.empty(0), 0
    for found in reduced_in_order(gaussians, X, told, inside, reduce):
        if not at:
            out = np.empty((len(X), *found.shape[1:]), found.dtype)
        out[at : at + len(found)] = found
        at += len(found)
    return out


def reduced_in_order(
    gaussians: TiedGaussians,
    X: Features,
    told: Told,
    inside: Composition,
    reduce: Reduce,
) -> Iterator[Array]:
    """What :func:`leave_one_out_scores` joins, one block of rows after the other.

    The caller has taken the threads over (:func:`own_threads`).
    """
    projector = gaussians.projector(X)
    G = gaussians.weights @ (gaussians.means - gaussians.centre).T
    with np.errstate(divide="ignore"):
        log_prior = np.log(gaussians.priors).astype(projector.dtype)
    many = len(gaussians.means) > SETTINGS.few_classes
    every = RowsToScore(
        projector,
        told,
        inside,
        log_prior,
        G.astype(projector.dtype),
        gaussians.estimated,
        _mean_distance(gaussians) if many else 0.0,
        reduce,
    )
    flops = float(len(X)) * X.shape[1] ** 2
    # No row depends on another, so parts may be small also where one thread does them all.
    parts = (every.cut(span) for span in ranges(len(X), np.inf, BLOCK))
    for of_part in map_parts(reduced_scores, parts, flops, X):
        yield from of_part


class Removed(NamedTuple):
    """What is taken out for each row: its class, its weight, of how much, from what in all.

    ``estimated`` is the share of the covariance that samples made.
    """

    own: Array
    weight: Array
    of_class: Array
    total: float
    estimated: float


def _mean_distance(gaussians: TiedGaussians) -> float:
    """Mean of ``v' P v`` over the samples: d, less what shrinkage takes.

    The covariance is a share of the samples' own one, and for the rest as varied as its diagonal.
    """
    if gaussians.fixed:
        return 0.0
    lower, share = gaussians.factor.lower, gaussians.estimated
    inverse = solve_triangular(lower, np.eye(len(lower)), lower=True)
    of_diagonal = float((inverse**2).sum(axis=0) @ np.diag(gaussians.covariance))
    return float(np.clip((len(lower) - (1.0 - share) * of_diagonal) / share, 0.0, len(lower)))


def _as_of_new_rows(D: Array, removed: Removed, spread: float) -> None:
    """Distances to their own class as new rows have them.

    A mean of K samples lies ``spread / K`` away from the true one, on average. Without the row its
    class has fewer, and so seems farther than others. With few samples a class that is more than
    what tells classes apart, and rows with wrong labels, whose true class has lost nothing, would
    look surest.
    """
    every, K = np.arange(len(D)), removed.of_class
    w = np.where(removed.weight < K, removed.weight, 0.0)
    more = spread * (1.0 / np.maximum(K - w, 1e-9) - 1.0 / np.maximum(K, 1e-9))
    own = D[every, removed.own]
    D[every, removed.own] = np.maximum(own - more, 0.0)


def _distances_without(q: Array, linear: Array, G: Array, removed: Removed) -> Array:
    """``D_k'`` of the module's docstring, from ``q = x'Px``, ``linear = x'Pm`` and ``G = m'Pm``."""
    dtype, own, K, n = linear.dtype, removed.own, removed.of_class, removed.total
    every = np.arange(len(own))
    w = np.where(removed.weight < K, removed.weight, 0.0)
    g = removed.estimated * w * K / ((K - w).clip(np.finfo(float).tiny) * n)
    a = np.where(w > 0, K / np.where(w > 0, K - w, 1.0), 1.0)
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
