"""From scores to probabilities and back."""

from __future__ import annotations

import numpy as np

from rehead._typing import Array

LEAST_PROBABILITY = 1e-12
"""Logarithms of smaller probabilities are those of this one."""


def softmax(scores: Array, *, overwrite: bool = False) -> Array:
    """Probabilities along the last axis, in the precision of the scores.

    Never exactly 0, not even in float32, so that logarithms are finite.

    Examples
    --------
    >>> import numpy as np
    >>> softmax(np.array([[0.0, np.log(3.0)], [2000.0, 2000.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    z: Array = np.subtract(
        scores, scores.max(axis=-1, keepdims=True), out=scores if overwrite else None
    )
    np.maximum(z, np.log(np.finfo(z.dtype).tiny), out=z)
    np.exp(z, out=z)
    z /= z.sum(axis=-1, keepdims=True)
    return z


def log_probabilities(posterior: Array) -> Array:
    """Finite logarithms, in double precision."""
    logs: Array = np.log(np.maximum(posterior.astype(np.float64), LEAST_PROBABILITY))
    return logs


def corrected_likelihood(posterior: Array, codes: Array, transition: Array) -> Array:
    """``sum_c p_c T[c, y]``: how likely the label of each sample is, noisy or known."""
    of_label = with_known_labels(transition, codes)[:, codes].T
    likelihood: Array = (posterior * of_label).sum(axis=1)
    return likelihood


def corrected_nll(posterior: Array, codes: Array, transition: Array) -> Array:
    """``-log sum_c p_c T[c, y]`` of each sample: how unlikely its label is, in nats."""
    likelihood = corrected_likelihood(posterior, codes, transition)
    nll: Array = -np.log(np.maximum(likelihood, np.finfo(float).tiny))
    return nll


def with_known_labels(transition: Array, codes: Array) -> Array:
    """T, and columns for labels that are known to be right, where there are such labels.

    Of C classes, a noisy label that says ``c`` has the code ``c``. One that is known to be right
    has ``C + c``: it is as likely as its class.

    Examples
    --------
    >>> import numpy as np
    >>> with_known_labels(np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([0, 1, 2]))
    array([[0.7, 0.3, 1. , 0. ],
           [0.2, 0.8, 0. , 1. ]])
    """
    n_classes = len(transition)
    if codes.max(initial=0) < n_classes:
        return transition
    return np.hstack([transition, np.eye(n_classes)])
