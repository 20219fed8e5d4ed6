"""Rows of stores, written to another one: in bounded memory, and resumed where it stopped."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.files.joined import Joined
from rehead.files.manifest import IDS, INPUTS, LABELS, ORDER, OUTPUTS
from rehead.files.rows import stored_column
from rehead.files.store import Chunk, FeatureStore, StoreWriter

MEMORY = 2**28
"""Bytes of rows that are held at a time."""


class StoredChunks:
    """All columns of a store, of which rows are taken.

    Features and outputs have the type that they have on disk.
    """

    def __init__(self, store: FeatureStore) -> None:
        files = store.files
        columns = {name: files.manifest.layer_column(name) for name in store.layers}
        rows = {name: stored_column(files, column) for name, column in columns.items()}
        outputs = stored_column(files, OUTPUTS)
        self._layers = {name: X.astype(X.on_disk) for name, X in rows.items()}
        self._outputs = outputs.astype(outputs.on_disk)
        self._flat = {
            name: Joined(files.mapped(name))
            for name in (IDS, LABELS, INPUTS)
            if name in files.manifest.columns
        }
        self._numbered = store.numbered

    @property
    def row_bytes(self) -> int:
        """Bytes of a row on disk, about."""
        every = [*self._layers.values(), self._outputs]
        return sum(X.shape[1] * X.dtype.itemsize for X in every) + 64

    def take(self, rows: Array | slice) -> Chunk:
        """Some rows, in this order."""
        flat = {name: column[rows] for name, column in self._flat.items()}
        return Chunk(
            {name: X[rows] for name, X in self._layers.items()},
            flat.get(LABELS),
            flat[IDS],
            self._outputs[rows],
            self._numbered,
            flat.get(INPUTS),
        )


class Copy(NamedTuple):
    """Rows of a store that go to another one, in this order.

    ``labels`` take the place of those that there are. Where ``first`` is given, ids are numbers
    from there on.
    """

    source: StoredChunks
    rows: Array
    labels: Array | None = None
    first: int | None = None

    def chunk(self, start: int, stop: int) -> Chunk:
        """The rows from here to there; other ids stay as they are, also where they are numbers."""
        rows = self.rows[start:stop]
        found = self.source.take(rows)
        labels = found.labels if self.labels is None else self.labels[rows]
        if self.first is None:
            return found._replace(labels=labels, numbered=False)
        ids = np.arange(self.first + start, self.first + stop)
        return found._replace(labels=labels, ids=ids, numbered=True)


def write_copies(
    target: str | os.PathLike[str],
    copies: Iterable[Copy],
    like: FeatureStore,
    origin: str,
    shard_rows: int,
) -> None:
    """Write rows to a new store, one copy after the other; or go on where it stopped.

    ``origin`` says what the rows are. A store that holds others is not continued.
    """
    manifest = like.files.manifest
    made_from = {**manifest.made_from, ORDER: dict.fromkeys(manifest.layers, origin)}
    writer = StoreWriter(
        target,
        manifest.layers,
        fingerprint=manifest.fingerprint,
        made_from=made_from,
        shard_rows=shard_rows,
    )
    with writer:
        done = writer.n_rows
        if writer.complete:
            return
        for copy in copies:
            start = min(done, len(copy.rows))
            done -= start
            # A piece of what is read is a whole shard, or the last one: so it can be gone on with.
            size = max(MEMORY // copy.source.row_bytes // shard_rows, 1) * shard_rows
            for a in range(start, len(copy.rows), size):
                part = copy.chunk(a, min(a + size, len(copy.rows)))
                for b in range(0, len(part.ids), shard_rows):
                    writer.append(_rows_of(part, slice(b, b + shard_rows)))
        writer.finish()


def _rows_of(chunk: Chunk, rows: slice) -> Chunk:
    return chunk._replace(
        layers={name: X[rows] for name, X in chunk.layers.items()},
        labels=None if chunk.labels is None else chunk.labels[rows],
        ids=chunk.ids[rows],
        outputs=chunk.outputs[rows],
        inputs=None if chunk.inputs is None else chunk.inputs[rows],
    )
