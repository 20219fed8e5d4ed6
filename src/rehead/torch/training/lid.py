"""Local intrinsic dimensionality, and the epoch at which it begins to grow (Ma et al. 2018)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def lid(features: Tensor, k: int = 20) -> Tensor:
    """Local intrinsic dimensionality of each row, from its k nearest rows.

    ``-k / sum_i log(r_i / r_k + 1e-8)`` over the distances ``r_1 <= ... <= r_k`` to the
    neighbours, the row itself left out: the maximum likelihood estimate.

    Examples
    --------
    >>> import torch
    >>> line = torch.arange(200.0)[:, None] ** 1.01
    >>> bool(0.9 < lid(line).mean() < 1.3)
    True
    """
    if len(features) <= k:
        raise ValueError(f"{k} neighbours need more than {k} samples, got {len(features)}.")
    x = features.flatten(1).double()
    distances = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    distances.fill_diagonal_(math.inf)
    r = distances.topk(k, dim=1, largest=False, sorted=True).values
    return -k / (r / r[:, -1:] + 1e-8).log().sum(dim=1)


def turned(values: Sequence[float], first: int, window: int = 5) -> bool:
    """Whether the newest value is more than two standard deviations above the ``window`` before it.

    Looked for only once there are more than ``first + window`` values.
    """
    if len(values) <= first + window:
        return False
    before = np.asarray(values[-window - 1 : -1])
    return bool(values[-1] > before.mean() + 2 * before.std())


def label_trust(values: Sequence[float], epoch: int, epochs: int) -> float:
    """``alpha = exp(-epoch/epochs * LID / min LID)``, how much of the target the label remains."""
    return math.exp(-epoch / epochs * values[-1] / min(values))
