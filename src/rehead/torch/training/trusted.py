"""Samples whose labels are known to be right."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._typing import Array


def draw_trusted(
    y: Any, share: float, *, every_class: bool = True, random_state: Any = None
) -> Array:
    """A mask of a share of the samples, at random, with at least one of each class.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any kind.
    share : float
        In (0, 1].
    every_class : bool, default=True
        False: at random only, so that rare classes may be missing.
    random_state : None, int, Generator or RandomState

    Returns
    -------
    boolean array of shape (n_samples,)

    Examples
    --------
    >>> from rehead.torch.training import draw_trusted
    >>> int(draw_trusted([0] * 90 + [1] * 10, 0.1, random_state=0).sum())
    10
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be in (0, 1], got {share!r}. For 1 % pass 0.01.")
    labels = check.check_labels(y)
    rng = check.generator_from(random_state)
    mask = np.zeros(len(labels), bool)
    _, codes = check.encode_labels(labels)
    order = rng.permutation(len(codes))
    # The first sample of each class in a random order, then the rest in that order.
    firsts = order[np.unique(codes[order], return_index=True)[1]] if every_class else order[:1]
    rest = order[~np.isin(order, firsts)]
    n = max(len(firsts), math.floor(share * len(codes) + 1e-9))
    mask[np.concatenate([firsts, rest])[:n]] = True
    return mask
