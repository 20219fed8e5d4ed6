"""Rows that are read many times, at hand where that takes little memory."""

from __future__ import annotations

import numpy as np

from rehead._typing import BLOCK, Array, Features, MappedFeatures

IN_MEMORY = 64 * 2**20
"""Bytes that mapped or joined rows may take; more are made anew each time they are read."""


def rows_at_hand(X: Features, rows: Array) -> tuple[Features, Array]:
    """Some rows that are read many times, and their numbers in what holds them.

    What is made each time it is asked for is made once, where that is little: mapped rows, which
    cost most, and others if they are few of all, or small.
    """
    size = len(rows) * X.shape[1] * X.dtype.itemsize
    little = max(IN_MEMORY, len(X) * X.shape[1] * X.dtype.itemsize // 4)
    if isinstance(X, np.ndarray) or (size > little and not isinstance(X, MappedFeatures)):
        return X, rows
    made = np.empty((len(rows), X.shape[1]), X.dtype)
    for a in range(0, len(rows), BLOCK):
        made[a : a + BLOCK] = X[rows[a : a + BLOCK]]
    return made, np.arange(len(rows))
