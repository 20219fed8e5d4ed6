"""How much each member counts: mixture weights from the likelihood of held-out labels."""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.gaussian.probability import softmax

TOLERANCE = 1e-9
"""Nats a sample by which other weights may be better, at most."""
MOST_ROUNDS = 2_000
"""What is left to gain then is far below the noise of the samples."""


def mixture_weights(likelihoods: Array, prior: Array | float = 0.0) -> Array:
    """Weights of a mixture that maximise the mean log likelihood, by EM from equal weights.

    The problem is convex on the simplex, but not strictly: of two equal members any split is
    optimal. EM from equal weights treats equal members alike, so the answer is unique. It stops
    when the optimality gap is below the tolerance: for the mixture m, no log likelihood is more
    than ``max_l mean(p_l / m) - 1`` better. Where members are nearly equal EM creeps, so two steps
    are extrapolated (SQUAREM; Varadhan and Roland, 2008) wherever that is better still.

    Parameters
    ----------
    likelihoods : array of shape (n_samples, n_members)
        ``P_l(y_i | x_i)``.
    prior : float or array of shape (n_members,), default=0
        Each member counts as if this many more samples spoke for it, so that a few samples cannot
        switch it off.

    Examples
    --------
    >>> import numpy as np
    >>> mixture_weights(np.array([[0.9, 0.1], [0.8, 0.3], [0.7, 0.2]])).round(6)
    array([1., 0.])
    """
    p = _relative(likelihoods)
    n_samples, n_members = p.shape
    prior = np.broadcast_to(np.asarray(prior, np.float64), n_members)
    total = n_samples + prior.sum()

    def gain(alpha: Array) -> Array:
        """What EM multiplies the weights by: above 1 for members that should weigh more."""
        spoken = np.divide(prior, alpha, out=np.zeros(n_members), where=prior > 0)
        ratio: Array = ((p / (p @ alpha)[:, None]).sum(axis=0) + spoken) / total
        return ratio

    def objective(alpha: Array) -> float:
        spoken = prior[prior > 0] @ np.log(alpha[prior > 0])
        return float(np.log(p @ alpha).sum() + spoken)

    alpha = np.full(n_members, 1.0 / n_members)
    for _ in range(MOST_ROUNDS):
        grown = gain(alpha)
        if grown.max() - 1.0 < TOLERANCE:
            break
        first = _normalised(alpha * grown)
        second = _normalised(first * gain(first))
        further = _extrapolated(alpha, first, second)
        alpha = further if objective(further) > objective(second) else second
    return alpha


def _extrapolated(start: Array, first: Array, second: Array) -> Array:
    """Where EM is going, from its last two steps; no weight falls to 0 by that."""
    step, bend = first - start, second - 2.0 * first + start
    size = float(np.linalg.norm(step) / max(np.linalg.norm(bend), np.finfo(float).tiny))
    further = start + 2.0 * size * step + size**2 * bend
    return _normalised(np.where(further > 0, further, 1e-4 * second))


def _normalised(weights: Array) -> Array:
    normalised: Array = weights / weights.sum()
    return normalised


def authors_weights(likelihoods: Array) -> Array:
    """Weights as the paper's released code finds them.

    Softmax of free logits that start equal; Adam with learning rate 0.02, 20 epochs, batches of
    50 in the given order. No logit can move by more than about 2, so no layer is switched off.
    """
    p = _relative(likelihoods)
    logits, first, second, step = np.zeros(p.shape[1]), 0.0, 0.0, 0
    for _ in range(20):
        for a in range(0, len(p), 50):
            alpha = softmax(logits)
            share = alpha * p[a : a + 50] / (p[a : a + 50] @ alpha + 1e-10)[:, None]
            gradient = (alpha - share).mean(axis=0)
            step += 1
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
            logits = logits - 0.02 * (first / (1 - 0.9**step)) / scale
    return softmax(logits)


def estimate_transition(posterior: Array, codes: Array) -> Array:
    """``T[c, k]``: how often class c carries the label k, from posteriors and noisy labels.

    Row c adds up the posteriors of class c by given label. A class that no sample belongs to keeps
    its labels.

    Examples
    --------
    >>> import numpy as np
    >>> estimate_transition(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    C = posterior.shape[1]
    joint = np.stack(
        [posterior[codes == k].sum(axis=0, dtype=np.float64) for k in range(C)], axis=1
    )
    total = joint.sum(axis=1, keepdims=True)
    transition: Array = np.where(total > 0, joint / np.where(total > 0, total, 1.0), np.eye(C))
    return transition


def _relative(likelihoods: Array) -> Array:
    """Each sample's likelihoods relative to its largest: the optimum does not change."""
    p = np.maximum(likelihoods.astype(np.float64), np.finfo(np.float64).tiny)
    relative: Array = p / p.max(axis=1, keepdims=True)
    return relative
