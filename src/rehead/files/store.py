"""Features on disk: a folder of ``.npy`` shards and a ``manifest.json``.

The manifest is written last, after each shard, so that it never names a file that is not whole. A
writer that was killed finds in it how far it came, and goes on from there; the finished store has
the same bytes as one that was written without a break.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from rehead._typing import Array
from rehead._warnings import warn
from rehead.files.lock import FolderLock, LockedError
from rehead.files.manifest import (
    IDS,
    INPUTS,
    LABELS,
    MANIFEST,
    ORDER,
    OUTPUTS,
    VERSION,
    Manifest,
    Shard,
    StoreError,
    file_name,
    read_manifest,
    write_manifest,
)
from rehead.files.npy import read_npy_header
from rehead.files.persist import write_atomically
from rehead.files.rows import StoredRows, stored_column
from rehead.files.shards import ShardFiles, check_form, check_same_form

SHARD_ROWS = 16_384


class Chunk(NamedTuple):
    """Features, labels, ids and network outputs of a few samples.

    ``numbered`` tells that the ids are only numbers in the order the samples came. ``inputs`` has a
    hash of what the network was given for each sample.
    """

    layers: dict[str, Array]
    labels: Array | None
    ids: Array
    outputs: Array
    numbered: bool = False
    inputs: Array | None = None


class StoreWriter:
    """Writes chunks to a store, or continues one that was left unfinished.

    There is one writer at a time. A complete store is never changed.

    Parameters
    ----------
    path : folder, made if missing
    layers : names of the layers, in order
    fingerprint : str
        Of the network; a store that another network began is not continued.
    made_from : mapping, optional
        Settings of the extraction, for each its values by layer; a store that was made with others
        is not continued.
    shard_rows : int, default=16384
        A shard ends with the first chunk that brings it to this many rows.

    Attributes
    ----------
    n_rows, n_chunks : int
        What is safely on disk already; a resumed run skips this many chunks.
    complete : bool
    files : ShardFiles
        What is on disk, to be read.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        layers: Sequence[str],
        *,
        fingerprint: str,
        made_from: Mapping[str, Mapping[str, str]] | None = None,
        shard_rows: int = SHARD_ROWS,
    ) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._shard_rows = shard_rows
        self._buffer: list[Chunk] = []
        self._lock: FolderLock | None = None
        wanted = Manifest(fingerprint, tuple(layers), made_from or {})
        self._manifest = self._found(wanted)
        if self.complete:
            return
        self._lock = self._locked()
        try:
            self._manifest = self._found(wanted)  # nobody else changes it now
            if self._lock.works:
                self._remove_leftovers()
            self.files.verify()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other writers in. What is not on disk yet is given up."""
        if self._lock is not None:
            self._lock.release()

    @property
    def complete(self) -> bool:
        return self._manifest.complete

    @property
    def n_rows(self) -> int:
        return self._manifest.n_rows

    @property
    def n_chunks(self) -> int:
        return self._manifest.n_chunks

    @property
    def files(self) -> ShardFiles:
        return ShardFiles(self.path, self._manifest)

    def append(self, chunk: Chunk) -> None:
        """Add a chunk; written once enough rows have come together."""
        if self.complete:
            raise StoreError(f"The store {self.path} is complete.")
        if len(chunk.ids):
            self._buffer.append(chunk)
        if sum(len(c.ids) for c in self._buffer) >= self._shard_rows:
            self._write_shard()

    def finish(self) -> None:
        """Write what is left, mark the store as complete, and let other writers in."""
        if self._buffer:
            self._write_shard()
        if not self._manifest.shards:
            raise StoreError(f"The store {self.path} has no samples.")
        self._write_manifest(replace(self._manifest, complete=True))
        self.close()

    def _found(self, wanted: Manifest) -> Manifest:
        """What the folder holds of the store that is wanted."""
        if not (self.path / MANIFEST).exists():
            return wanted
        found = read_manifest(self.path)
        if found.version < VERSION:
            raise StoreError(
                f"The store {self.path} was written by an earlier rehead, and does not say which "
                "data it was made from. It can be read, but not used for this extraction: choose "
                "another folder, or delete this one."
            )
        difference = _difference(wanted, found)
        if difference:
            raise StoreError(
                f"The store {self.path} was written by {difference}. Choose another folder, or "
                "delete this one."
            )
        return found

    def _locked(self) -> FolderLock:
        try:
            lock = FolderLock(self.path)
        except LockedError as error:
            raise StoreError(
                f"Another process is writing to the store {self.path}. Wait until it has ended, or "
                "choose another folder."
            ) from error
        if not lock.works:
            warn(
                f"The file system of {self.path} has no locks: nothing keeps another process from "
                "writing to this store at the same time. See to it that none does."
            )
        return lock

    def _remove_leftovers(self) -> None:
        """Remove what a killed writer had not yet moved into place."""
        for left in [*self.path.glob(".*.npy.*"), *self.path.glob(f".{MANIFEST}.*")]:
            left.unlink()

    def _write_shard(self) -> None:
        number = len(self._manifest.shards)
        chunks, self._buffer = self._buffer, []
        numbered = {c.numbered for c in chunks} | ({self._manifest.numbered} if number else set())
        if len(numbered) > 1:
            raise StoreError("Some samples have ids, and others are only numbered.")
        checksums = {}
        columns = _columns(chunks, self._manifest.layers)
        if number and self._manifest.columns != set(columns):
            raise _sometimes(min(self._manifest.columns ^ set(columns)))
        for name, parts in columns.items():
            buffer = io.BytesIO()
            np.save(buffer, self._joined(parts, name), allow_pickle=False)
            content = buffer.getvalue()
            write_atomically(self.path / file_name(name, number), content)
            checksums[name] = hashlib.sha256(content).hexdigest()
        shard = Shard(sum(len(c.ids) for c in chunks), len(chunks), checksums)
        shards = (*self._manifest.shards, shard)
        self._write_manifest(replace(self._manifest, numbered=chunks[0].numbered, shards=shards))

    def _joined(self, parts: list[Array], name: str) -> Array:
        """The chunks of a column as one array, which goes with the first shard."""
        where = f"The column {name} of a batch"
        first = parts[0]
        if self._manifest.shards:
            header = read_npy_header(self.path / file_name(name, 0))
            first = np.empty((0, *header.shape[1:]), header.dtype)
        for part in parts:
            check_form(part, name, where)
            check_same_form(part, first, name, where)
        return np.ascontiguousarray(np.concatenate(parts))

    def _write_manifest(self, manifest: Manifest) -> None:
        write_manifest(self.path, manifest)
        self._manifest = manifest


def _difference(wanted: Manifest, found: Manifest) -> str:
    """Who wrote the store instead, with what differs; nothing if nothing does."""
    if wanted.fingerprint != found.fingerprint:
        return f"another network (weights {found.fingerprint:.12}, not {wanted.fingerprint:.12})"
    if wanted.layers != found.layers:
        return f"other layers ({', '.join(found.layers)}; not {', '.join(wanted.layers)})"
    for setting in sorted({*wanted.made_from, *found.made_from}):
        here, there = (m.made_from.get(setting, {}) for m in (wanted, found))
        for layer in sorted({*here, *there}):
            was, wants = there.get(layer), here.get(layer)
            if was != wants:
                return f"another {setting} (of layer {layer!r}: {was}, not {wants})"
    return ""


def _columns(chunks: list[Chunk], layers: Sequence[str]) -> dict[str, list[Array]]:
    """The parts of each column, by the name of its files."""
    columns = {f"layer{i}": [c.layers[name] for c in chunks] for i, name in enumerate(layers)}
    columns[OUTPUTS] = [c.outputs for c in chunks]
    columns[IDS] = [plain_column(c.ids, IDS) for c in chunks]
    for name in (LABELS, INPUTS):
        given = [getattr(c, name) for c in chunks]
        parts = [plain_column(part, name) for part in given if part is not None]
        if parts and len(parts) < len(given):
            raise _sometimes(name)
        if parts:
            columns[name] = parts
    return columns


def _sometimes(column: str) -> StoreError:
    return StoreError(f"Some samples have {column}, and others have none.")


def plain_column(values: Array, what: str) -> Array:
    """Labels or ids in a type that needs no pickle: objects become text."""
    if values.dtype.kind != "O":
        return values
    if not all(isinstance(v, str) for v in values):
        kinds = ", ".join(sorted({type(v).__name__ for v in values}))
        raise StoreError(f"The {what} are of type {kinds}; use whole numbers or text.")
    return values.astype(str)


class FeatureStore:
    """Reads a store. Features are read by :meth:`rows`, in place of an array; nothing is loaded.

    Every file is compared with its checksum before it is handed out, which reads it once.

    Parameters
    ----------
    path : folder
    verify : bool, default=False
        Compare all files with their checksums at once, not each when it is asked for.

    Attributes
    ----------
    layers : list of str
    fingerprint : str
        Of the network that the features come from.
    numbered : bool
        Whether ids are only numbers in the order the samples came.
    ids, outputs, labels : arrays (labels may be None)
    files : ShardFiles

    Raises
    ------
    StoreError
        If the store is not complete, or anything in it is not as it should be.
    FileNotFoundError
        If there is no folder.
    """

    def __init__(self, path: str | os.PathLike[str], *, verify: bool = False) -> None:
        self.path = Path(path)
        manifest = read_manifest(self.path)
        if not manifest.complete:
            raise StoreError(
                f"The store {self.path} is not complete ({manifest.n_rows} rows so far). Run the "
                "same extraction again; it continues where it stopped."
            )
        self._manifest = manifest
        self.files = ShardFiles(self.path, manifest)
        if verify:
            self.files.verify()
        self.layers = list(manifest.layers)
        self.fingerprint = manifest.fingerprint
        self.numbered = manifest.numbered

    def __len__(self) -> int:
        return self._manifest.n_rows

    @property
    def ids(self) -> Array:
        return self.files.joined(IDS)

    @property
    def outputs(self) -> Array:
        return self.files.joined(OUTPUTS)

    @property
    def n_outputs(self) -> int:
        """How many outputs the network has; only the first shard is read."""
        return int(self.files.part(OUTPUTS, 0).shape[1])

    @property
    def labels(self) -> Array | None:
        return self.files.joined(LABELS) if LABELS in self._manifest.columns else None

    def layer(self, name: str) -> Array:
        """All features of a layer: a memory map where there is one shard, else joined."""
        return self.files.joined(self._column(name))

    def rows(self, name: str) -> StoredRows:
        """The features of a layer, read when rows are asked for: in place of an array in a fit.

        Shards are compared with their checksums when they are first read.
        """
        return stored_column(self.files, self._column(name))

    def shards(self, name: str) -> list[Array]:
        """The features of a layer shard by shard, mapped from disk."""
        return self.files.mapped(self._column(name))

    def difference(self, other: FeatureStore) -> str:
        """Who wrote the other store, where it does not go with this one; else nothing.

        They go together if network, layers and pooling are the same, so far as they tell.
        """
        here, there = (
            replace(m, made_from={k: v for k, v in m.made_from.items() if k != ORDER})
            for m in (self._manifest, other._manifest)
        )
        if here.layers == there.layers and 1 in (here.version, there.version):
            there = replace(there, made_from=here.made_from)
        return _difference(here, there)

    def _column(self, name: str) -> str:
        if name not in self.layers:
            raise StoreError(f"The store {self.path} has no layer {name!r}, only {self.layers}.")
        return self._manifest.layer_column(name)
