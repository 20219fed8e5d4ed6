"""The exact MCD, by trying every subset: for a dozen samples."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from rehead._typing import Array
from rehead.gaussian.kernels import Subset

MOST = 20_000
"""Subsets that are tried at most."""


def exact_mcd(X: Array, k: int) -> Subset:
    """The k rows whose covariance has the smallest determinant (equation 2).

    Examples
    --------
    >>> import numpy as np
    >>> exact_mcd(np.array([[0.0], [9.0], [1.0], [5.0], [0.5]]), 3).positions
    array([0, 2, 4])
    """
    n = len(X)
    if not 0 < k <= n:
        raise ValueError(f"k must be between 1 and {n}, the number of samples; got {k}.")
    if comb(n, k) > MOST:
        raise ValueError(
            f"{n} samples have {comb(n, k):,} subsets of {k}, more than {MOST:,}. Take fewer "
            "samples, or C-steps."
        )
    if X.shape[1] >= k:
        raise ValueError(f"{k} samples lie on a plane in {X.shape[1]} dimensions. Keep more.")
    subsets = np.array(list(combinations(range(n), k)))
    centred = X[subsets] - X[subsets].mean(axis=1, keepdims=True)
    # Singular values keep the digits that a determinant of far points would lose.
    widths = np.linalg.svd(centred, compute_uv=False)
    with np.errstate(divide="ignore"):
        log_dets = 2.0 * np.log(widths).sum(axis=1)
    return Subset(subsets[np.argmin(log_dets)])
