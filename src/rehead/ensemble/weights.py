"""How much each layer counts: mixture weights from the likelihood of held-out labels."""

from __future__ import annotations

import numpy as np

from rehead._typing import Array


def layer_weights(likelihoods: Array, *, tol: float = 1e-9, max_iter: int = 100_000) -> Array:
    """Mixture weights that maximise the mean log likelihood, by EM from equal weights.

    The problem is convex on the simplex, but not strictly: of two equal layers any split is
    optimal. EM from equal weights treats equal layers alike, so the answer is unique. It stops
    when the optimality gap is below ``tol``: for the mixture m, no log likelihood is more than
    ``max_l mean(p_l / m) - 1`` better.

    Parameters
    ----------
    likelihoods : array of shape (n_samples, n_layers)
        ``P_l(y_i | x_i)``.

    Examples
    --------
    >>> import numpy as np
    >>> layer_weights(np.array([[0.9, 0.1], [0.8, 0.3], [0.7, 0.2]])).round(6)
    array([1., 0.])
    """
    p = _scaled(likelihoods)
    alpha = np.full(p.shape[1], 1.0 / p.shape[1])
    for _ in range(max_iter):
        gain = (p / (p @ alpha)[:, None]).mean(axis=0)
        alpha = alpha * gain
        alpha /= alpha.sum()
        if gain.max() - 1.0 < tol:
            break
    return alpha


def authors_weights(likelihoods: Array) -> Array:
    """Weights as the paper's released code finds them.

    Softmax of free logits that start equal; Adam with learning rate 0.02, 20 epochs, batches of
    50 in the given order. No logit can move by more than about 2, so no layer is switched off.
    """
    p = _scaled(likelihoods)
    logits, first, second, step = np.zeros(p.shape[1]), 0.0, 0.0, 0
    for _ in range(20):
        for a in range(0, len(p), 50):
            alpha = np.exp(logits - logits.max())
            alpha /= alpha.sum()
            share = alpha * p[a : a + 50] / (p[a : a + 50] @ alpha + 1e-10)[:, None]
            gradient = (alpha - share).mean(axis=0)
            step += 1
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
            logits = logits - 0.02 * (first / (1 - 0.9**step)) / scale
    weights: Array = np.exp(logits - logits.max())
    weights /= weights.sum()
    return weights


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


def _scaled(likelihoods: Array) -> Array:
    """Each sample's likelihoods relative to its largest: the optimum does not change."""
    p = np.maximum(likelihoods.astype(np.float64), np.finfo(np.float64).tiny)
    scaled: Array = p / p.max(axis=1, keepdims=True)
    return scaled
