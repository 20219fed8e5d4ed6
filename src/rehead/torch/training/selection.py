"""Which samples of a batch a network learns from, and how much: one weight for each sample.

The objective is the sum of weight times loss, so that the weights carry the normalisation too.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def smallest(losses: Tensor, keep: int) -> Tensor:
    """Equal weights, 1 / keep, for the ``keep`` samples with the smallest losses."""
    weights = torch.zeros_like(losses)
    weights[losses.topk(keep, largest=False).indices] = 1 / max(keep, 1)
    return weights


def kept(n: int, forget: float) -> int:
    """``floor((1 - forget) n)``, at least one; safe against 0.3 * 10 becoming 2."""
    return max(1, math.floor((1 - forget) * n + 1e-9))


def forget_rate(epoch: int, noise_rate: float, ramp: int, exponent: float = 1.0) -> float:
    """Share of samples that co-teaching leaves out: from 0 to the noise rate in ``ramp`` epochs.

    As in the released code, the exponent acts on the rise only: it goes to ``noise_rate **
    exponent``, and after it the noise rate itself is forgotten.

    Examples
    --------
    >>> [round(forget_rate(epoch, 0.45, ramp=10), 2) for epoch in (0, 1, 9, 10)]
    [0.0, 0.05, 0.45, 0.45]
    """
    if epoch >= ramp or ramp == 1:  # of a rise of one epoch, that code leaves out the beginning
        return noise_rate
    reached: float = noise_rate**exponent * epoch / (ramp - 1)
    return reached


def disagreement(z: Tensor, other: Tensor, floor: float = 0.1) -> Tensor:
    """Weights for the samples on which two networks disagree.

    The sum of losses is divided by their number, or by a tenth of the batch if that is more, so
    that a handful of disagreements does not take a full step.
    """
    apart = (z.argmax(dim=1) != other.argmax(dim=1)).to(torch.float32)
    return apart / apart.sum().clamp_min(floor * len(apart))


def below(losses: Tensor, threshold: Tensor) -> Tensor:
    """Self-paced weights, before normalisation: 1 up to the threshold, else 0."""
    return (losses <= threshold).to(losses.dtype)


def falling(losses: Tensor, threshold: Tensor, gamma: float) -> Tensor:
    """Linear weights, before normalisation: ``1 - (loss - threshold) / gamma`` within [0, 1]."""
    return (1 - (losses - threshold) / gamma).clamp(0, 1)
