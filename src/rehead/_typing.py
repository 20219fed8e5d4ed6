"""Types used everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class NamedFeatures:
    """Features whose columns have names, read from a table.

    Behaves as an array of which rows are taken. Checks of features know the names, as they know
    those of a data frame.
    """

    def __init__(self, values: Array, names: Sequence[str]) -> None:
        self.values, self.names = values, list(names)
        self.shape = values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> NamedFeatures:
        return NamedFeatures(self.values[rows], self.names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype)
