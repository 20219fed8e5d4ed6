"""A hash of each row: rows that are the same have the same, in every session."""

from __future__ import annotations

from typing import Any

import numpy as np

from rehead._typing import Array, Features

ROWS = 256  # a block's copies stay small beside the features
_SEED = 20190610  # any fixed number: fingerprints must agree between sessions


def fingerprint(X: Features, codes: Array, dtype: Any = None) -> Array:
    """A 64-bit hash of each row, in the precision ``dtype`` (default: its own), and its label code.

    The bytes of a row, as integers read in both byte orders, times fixed random odd numbers, modulo
    2^64. (A product modulo 2^64 loses high bits, and whole numbers differ in nothing else.)

    Examples
    --------
    >>> import numpy as np
    >>> a = fingerprint(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.5]]), np.array([0, 1, 0]))
    >>> len(set(a.tolist()))
    3
    """
    dtype = np.dtype(X.dtype if dtype is None else dtype)
    row_bytes = X.shape[1] * dtype.itemsize
    word = np.dtype(np.uint64 if row_bytes % 8 == 0 else np.uint32)
    n_words = row_bytes // word.itemsize
    rng = np.random.default_rng(_SEED)
    odd = rng.integers(2**63, size=(n_words, 2), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    out = np.empty(len(X), np.uint64)
    for a in range(0, len(X), ROWS):
        with np.errstate(over="ignore"):  # a row that does not fit was not among the others
            block = X[a : a + ROWS].astype(dtype, copy=False)
        words = np.ascontiguousarray(block + dtype.type(0)).view(word)  # -0 is 0
        forward = words.astype(np.uint64, copy=False) @ odd[:, 0]
        backward = words.byteswap().astype(np.uint64, copy=False) @ odd[:, 1]
        both = forward + (backward ^ (backward >> np.uint64(31)))
        of_label = (codes[a : a + ROWS].astype(np.uint64) + np.uint64(1)) * odd[0, 0]
        # A product of its own keeps the label from cancelling against a feature.
        out[a : a + ROWS] = (both ^ (both >> np.uint64(29))) * odd[-1, 1] + of_label
    return out
