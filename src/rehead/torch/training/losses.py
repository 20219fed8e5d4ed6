"""Losses for noisy labels: logits and labels in, one loss for each sample out.

``z`` are logits, ``p = softmax(z)``, ``T[i, j] = P(observed j | true i)``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

SMALLEST = 1e-7
"""Probabilities below this have no part in the backward correction (see there)."""


def cross_entropy(z: Tensor, y: Tensor) -> Tensor:
    """``-log p_y``."""
    return functional.cross_entropy(z.float(), y, reduction="none")


def bootstrap_hard(z: Tensor, y: Tensor, beta: float | Tensor) -> Tensor:
    """``-sum_k [beta e_y + (1 - beta) e_argmax(p)]_k log p_k``; no gradient through the argmax."""
    log_p = functional.log_softmax(z.float(), dim=1)
    given, own = _at(log_p, y), log_p.max(dim=1).values
    return -beta * given - (1 - beta) * own


def bootstrap_soft(z: Tensor, y: Tensor, beta: float) -> Tensor:
    """``beta * cross-entropy + (1 - beta) * entropy(p)``.

    The gradient goes through both p of ``p log p``. With a constant target the second term would
    have no gradient at all, and the loss would be a rescaled cross-entropy.
    """
    log_p = functional.log_softmax(z.float(), dim=1)
    entropy = -(log_p.exp() * log_p).sum(dim=1)
    return -beta * _at(log_p, y) + (1 - beta) * entropy


def forward_corrected(z: Tensor, y: Tensor, T: Tensor, trusted: Tensor | None = None) -> Tensor:
    """``-log sum_i p_i T[i, y]``, as a log-sum-exp: exact however small the numbers are.

    For trusted samples T is the identity, which makes it cross-entropy.
    """
    log_p = functional.log_softmax(z.float(), dim=1)
    of_label = T.T[y]
    if trusted is not None:
        own = functional.one_hot(y, len(T)).to(of_label)
        of_label = torch.where(trusted[:, None], own, of_label)
    return -torch.logsumexp(log_p + of_label.log().to(log_p), dim=1)


def backward_corrected(z: Tensor, y: Tensor, inverse: Tensor) -> Tensor:
    """``sum_k inv(T)[y, k] (-log p_k)``: row y, so that the mean over T's row i is ``-log p_i``.

    Some weights are negative and reward ``log p_k -> -infinity``, so the loss has no lower bound.
    Cutting ``log p`` at log(1e-7) bounds it, as clipping did in the reference code.
    """
    log_p = functional.log_softmax(z.float(), dim=1).clamp_min(math.log(SMALLEST))
    return -(inverse.to(log_p)[y] * log_p).sum(dim=1)


def _at(log_p: Tensor, y: Tensor) -> Tensor:
    return log_p.gather(1, y[:, None]).squeeze(1)
