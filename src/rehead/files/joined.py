"""The shards of a feature store as one array."""

from __future__ import annotations

from typing import Any

import numpy as np

from rehead._typing import Array


class Joined:
    """The shards of a layer as one array of which rows are read: a slice, or by their numbers.

    Joining memory maps would read all of them into memory.
    """

    def __init__(self, shards: list[Array]) -> None:
        self._shards = shards
        self._starts = np.cumsum([0, *(len(shard) for shard in shards)])
        self.shape = (len(self), *shards[0].shape[1:])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, rows: slice | Array) -> Array:
        if not isinstance(rows, slice):
            return self._rows(np.asarray(rows))
        a, b, _ = rows.indices(len(self))
        parts = [
            shard[max(a - start, 0) : max(b - start, 0)]
            for start, shard in zip(self._starts, self._shards, strict=False)
        ]
        parts = [part for part in parts if len(part)] or [self._shards[0][:0]]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _rows(self, rows: Array) -> Array:
        """Rows by their numbers, or by a mask."""
        numbers = np.arange(len(self))[rows]
        # One shard may have longer texts than another.
        dtype = np.result_type(*(shard.dtype for shard in self._shards))
        found = np.empty((len(numbers), *self.shape[1:]), dtype)
        of_shard = np.searchsorted(self._starts, numbers, side="right") - 1
        for i in np.unique(of_shard):
            here = of_shard == i
            found[here] = self._shards[i][numbers[here] - self._starts[i]]
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[: len(self)], dtype)
