"""What the text sets have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from rehead._typing import Array

SMALLEST_CLASS = 100
"""The paper leaves out classes with fewer training samples."""


def frequent(labels: Sequence[str], least: int = SMALLEST_CLASS) -> set[str]:
    """Classes that have enough training samples."""
    return {label for label, n in Counter(labels).items() if n >= least}


def codes(labels: Sequence[str], class_names: Sequence[str]) -> tuple[Array, Array]:
    """Rows whose class is kept, and their class codes."""
    code = {name: c for c, name in enumerate(class_names)}
    every = np.array([code.get(label, -1) for label in labels], np.int64)
    rows = np.flatnonzero(every >= 0)
    return rows, every[rows]


def objects(values: Sequence[Any]) -> Array:
    """Strings of any length; numpy's own type would pad them all to the longest."""
    return np.array(values, dtype=object)
