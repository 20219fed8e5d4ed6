"""Recognise the rows a model was fitted on, without keeping them."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from rehead._typing import Array, Features
from rehead.gaussian import Composition

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
    of_label = (codes.astype(np.uint64) + np.uint64(1)) * odd[0, 0]
    out = np.empty(len(X), np.uint64)
    for a in range(0, len(X), ROWS):
        with np.errstate(over="ignore"):  # a row that does not fit was not among the others
            block = X[a : a + ROWS].astype(dtype, copy=False)
        words = np.ascontiguousarray(block + dtype.type(0)).view(word)  # -0 is 0
        forward = words.astype(np.uint64, copy=False) @ odd[:, 0]
        backward = words.byteswap().astype(np.uint64, copy=False) @ odd[:, 1]
        out[a : a + ROWS] = forward + (backward ^ (backward >> np.uint64(31)))
    # A product of its own keeps the label from cancelling against a feature.
    hashes: Array = (out ^ (out >> np.uint64(29))) * odd[-1, 1] + of_label
    return hashes


class Recognised(NamedTuple):
    """Which rows are known, how much of them counted, to which class, and their folds (or -1)."""

    known: Array
    weights: Array
    counted_as: Array
    folds: Array


class KnownRows(NamedTuple):
    """How much of each training row some estimates contain, found again by its fingerprint.

    Sorted by ``fingerprints``; weights and classes are those of a :class:`Composition`. ``folds``
    are those of a second opinion, where there is one.
    """

    fingerprints: Array
    weights: Array
    counted_as: Array
    folds: Array | None = None

    @classmethod
    def from_training(
        cls, X: Features, codes: Array, composition: Composition, folds: Array | None = None
    ) -> Self:
        """Of training rows and their labels."""
        found = fingerprint(X, codes)
        order = np.argsort(found)
        return cls(
            found[order],
            composition.weights[order],
            composition.counted_as[order],
            None if folds is None else folds[order],
        )

    def look_up(self, X: Features, codes: Array, dtype: Any = None) -> Recognised:
        """What is known of some rows with these labels.

        ``dtype`` is that of the training rows (default: the same as that of these).
        """
        wanted = fingerprint(X, codes, dtype)
        at = np.searchsorted(self.fingerprints, wanted).clip(max=len(self.fingerprints) - 1)
        known: Array = self.fingerprints[at] == wanted
        counted = known & (self.weights[at] > 0)
        weights = np.where(counted, self.weights[at], 0.0)
        counted_as = np.where(counted, self.counted_as[at], codes)
        folds = np.full(len(at), -1) if self.folds is None else np.where(known, self.folds[at], -1)
        return Recognised(known, weights, counted_as, folds)
