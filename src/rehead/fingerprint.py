"""Recognise the rows a model was fitted on, without keeping them."""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.gaussian.kernels import BLOCK

_SEED = 20190610  # any fixed number: fingerprints must agree between sessions


def fingerprint(X: Array, codes: Array) -> Array:
    """A 64-bit hash of each row and its label code.

    The bytes of a row, as integers, times fixed random odd numbers, modulo 2^64. Equal rows have
    equal hashes; unequal ones collide with a probability of about 2^-60.

    Examples
    --------
    >>> import numpy as np
    >>> a = fingerprint(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.5]]), np.array([0, 1, 0]))
    >>> len(set(a.tolist()))
    3
    """
    row_bytes = X.shape[1] * X.dtype.itemsize
    word = np.dtype(np.uint64 if row_bytes % 8 == 0 else np.uint32)
    n_words = row_bytes // word.itemsize
    rng = np.random.default_rng(_SEED)
    odd = rng.integers(2**63, size=n_words + 1, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    out = np.empty(len(X), np.uint64)
    for a in range(0, len(X), BLOCK):
        words = np.ascontiguousarray(X[a : a + BLOCK]).view(word)
        out[a : a + BLOCK] = words.astype(np.uint64, copy=False) @ odd[1:]
    # The label is mixed in by a product of its own: adding it would let rows cancel it.
    hashes: Array = (out ^ (out >> np.uint64(29))) * odd[0] + (
        codes.astype(np.uint64) + np.uint64(1)
    ) * odd[0]
    return hashes
