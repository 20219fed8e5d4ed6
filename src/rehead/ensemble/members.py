"""Members of a consensus: Gaussians of one layer, given what a judge says of the labels.

There are two ways to use that. A doubtful sample can count *less*, by the trust in its label; or it
can count *elsewhere*, to each class by the probability that it belongs there, its label taken into
account. The first is safer. The second uses every sample, and it undoes what a layer has memorised:
there, samples with the same wrong label lie together, and leaving most of them out leaves a biased
few. Held-out labels choose, as they choose the shrinkage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian import group_by_class
from rehead.gaussian.anchored import LEAST, Regularisation, sane_rows
from rehead.gaussian.kernels import BLOCK, Subset
from rehead.gaussian.labelnoise import Calibration, calibrate, corrected_nll
from rehead.gaussian.rows import ByClass, PooledMoments, Total, pooled_moments
from rehead.gaussian.tied import TiedGaussians, from_moments

CANDIDATES = tuple(Regularisation(a, d) for d in (False, True) for a in (0.02, 0.1, 0.3, 0.6))
"""What the members' regularisation is chosen from."""
PRIOR, OF_JUDGE = 1.0, 5.0
"""Every member starts with the weight of so many held-out samples, the judge with more."""


class Judged(NamedTuple):
    """What a judge says of the training samples.

    ``trust`` is how far each label is to be trusted, ``classes`` gives ``P(c | x, y)`` of some
    rows: N x C is never all in memory.
    """

    trust: Array
    classes: Callable[[slice], Array]


class Member(NamedTuple):
    """Gaussians of a layer, calibrated, and how likely they make held-out labels."""

    gaussians: TiedGaussians
    nll: float


def best_member(
    moments: Iterator[PooledMoments], held_out: Array, held_out_codes: Array, transition: Array
) -> Member:
    """Gaussians from what makes held-out labels most likely; so for their shrinkage."""

    def member(pooled: PooledMoments, candidate: Regularisation) -> Member:
        gaussians = from_moments(pooled, **candidate._asdict())
        scores = gaussians.scores(held_out)
        honest = calibrate(scores, held_out_codes, transition)
        nll = float(corrected_nll(honest.posterior(scores), held_out_codes, transition).mean())
        return Member(with_calibration(gaussians, honest), nll)

    members = (member(pooled, candidate) for pooled in moments for candidate in CANDIDATES)
    return min(members, key=lambda m: m.nll)


def members_of(
    layers: Mapping[str, Array],
    codes: Array,
    n_classes: int,
    judged: Judged,
    held_out: Mapping[str, Array],
    held_out_codes: Array,
    transition: Array,
) -> dict[str, Member]:
    """The best member of each layer."""
    grouped = {name: group_by_class(X, codes, n_classes) for name, X in layers.items()}
    sums = relabelled_sums(grouped, judged)

    def moments(name: str) -> Iterator[PooledMoments]:
        data, trust = grouped[name], np.where(sums[name].near, judged.trust, 0.0)
        for rows in data.rows:
            if not trust[rows].any():
                trust[rows] = 1.0  # a class is never left empty
        yield by_trust(data, trust)
        if sums[name].weights.min() >= LEAST:
            yield relabelled(data, sums[name])

    return {
        name: best_member(moments(name), held_out[name], held_out_codes, transition)
        for name in layers
    }


def by_trust(data: ByClass, trust: Array) -> PooledMoments:
    """Moments of the classes, samples weighted by trust."""
    subsets = [Subset(np.arange(len(rows)), trust[rows]) for rows in data.rows]
    return pooled_moments(data, subsets, np.float64)


class Sums(NamedTuple):
    """Samples of a layer that are not far off; their weight and total by what they are."""

    near: Array
    weights: Array
    totals: Array


def relabelled_sums(layers: Mapping[str, ByClass], judged: Judged) -> dict[str, Sums]:
    """Add up the samples by what they are, all layers in one pass."""
    sums = {
        name: Sums(sane_rows(data), np.zeros(data.n_classes), np.zeros(data.shifts.shape))
        for name, data in layers.items()
    }
    for a in range(0, len(judged.trust) if layers else 0, BLOCK):
        part = slice(a, a + BLOCK)
        classes = judged.classes(part)
        for name, data in layers.items():
            share = classes * sums[name].near[part, None]
            sums[name].weights[:] += share.sum(axis=0)
            sums[name].totals[:] += share.T @ data.X[part]
    return sums


def relabelled(data: ByClass, sums: Sums) -> PooledMoments:
    """Moments of the classes, samples counted to what they are.

    The scatter of all samples does not depend on what they are, so it is the usual one with the
    class means moved.
    """
    total = Total.of(by_trust(data, sums.near.astype(float)))
    return total.within(sums.weights, sums.totals / sums.weights[:, None])


def with_calibration(gaussians: TiedGaussians, honest: Calibration) -> TiedGaussians:
    """The same Gaussians with an honest posterior."""
    return replace(gaussians, temperature=honest.temperature, offsets=honest.offsets)


def mixture_weights(
    posteriors: list[Array], codes: Array, transition: Array, prior: Any = PRIOR, n_iter: int = 500
) -> Array:
    """Weights of members under which noisy labels are most likely, by EM.

    Each member counts as if some more held-out samples (``prior``, one number or one a member)
    spoke for it, so that a few samples cannot switch one off.
    """
    of_label = transition[:, codes].T
    likelihoods = np.stack([(p * of_label).sum(axis=1) for p in posteriors], axis=1)
    likelihoods /= np.maximum(likelihoods.max(axis=1, keepdims=True), np.finfo(float).tiny)
    weights = np.full(len(posteriors), 1.0 / len(posteriors))
    for _ in range(n_iter):
        share = likelihoods * weights
        share /= np.maximum(share.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        weights = share.sum(axis=0) + prior
        weights /= weights.sum()
    return weights


def log_of(posterior: Array) -> Array:
    """Logarithms that are finite."""
    logs: Array = np.log(np.maximum(posterior.astype(np.float64), 1e-12))
    return logs
