"""Features on disk: a folder of ``.npy`` shards and a ``manifest.json``.

The manifest is written last, after each shard, so that it never names a file that is not whole. A
writer that was killed finds in it how far it came, and goes on from there; the finished store has
the same bytes as one that was written without a break.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.files.persist import write_atomically

FORMAT = "rehead-features"
VERSION = 1
SHARD_ROWS = 16_384
MANIFEST = "manifest.json"


class Chunk(NamedTuple):
    """Features, labels, ids and network outputs of a few samples.

    ``numbered`` tells that the ids are only numbers in the order the samples came.
    """

    layers: dict[str, Array]
    labels: Array | None
    ids: Array
    outputs: Array
    numbered: bool = False


class StoreError(ValueError):
    """A folder that is not a good feature store, or not the one it should be."""


class StoreWriter:
    """Writes chunks to a store, or goes on with one that was left unfinished.

    Parameters
    ----------
    path : folder, made if missing
    layers : names of the layers, in order
    fingerprint : str
        Of the network; a store that another network began is not continued.
    shard_rows : int, default=16384
        A shard ends with the first chunk that brings it to so many rows.

    Attributes
    ----------
    n_rows, n_chunks : int
        What is safely on disk already; a resumed run skips so many chunks.
    complete : bool
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        layers: list[str],
        *,
        fingerprint: str,
        shard_rows: int = SHARD_ROWS,
    ) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._shard_rows = shard_rows
        self._buffer: list[Chunk] = []
        self._manifest: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "fingerprint": fingerprint,
            "layers": layers,
            "complete": False,
            "numbered": False,
            "shards": [],
        }
        if (self.path / MANIFEST).exists():
            self._resume()
        # What a killed writer had not yet moved into place.
        for left in [*self.path.glob(".*.npy.*"), *self.path.glob(f".{MANIFEST}.*")]:
            left.unlink()

    @property
    def complete(self) -> bool:
        return bool(self._manifest["complete"])

    @property
    def n_rows(self) -> int:
        return sum(shard["rows"] for shard in self._manifest["shards"])

    @property
    def n_chunks(self) -> int:
        return sum(shard["chunks"] for shard in self._manifest["shards"])

    def append(self, chunk: Chunk) -> None:
        """Add a chunk; written once enough rows have come together."""
        self._buffer.append(chunk)
        if sum(len(c.ids) for c in self._buffer) >= self._shard_rows:
            self._write_shard()

    def finish(self) -> None:
        """Write what is left, and mark the store as complete."""
        if self._buffer:
            self._write_shard()
        self._manifest["complete"] = True
        self._write_manifest()

    def _resume(self) -> None:
        found = read_manifest(self.path)
        for key, what in (("fingerprint", "another network"), ("layers", "other layers")):
            if found[key] != self._manifest[key]:
                raise StoreError(
                    f"The store {self.path} was written by {what} ({key} {found[key]}). Choose "
                    "another folder, or delete this one."
                )
        self._manifest = found

    def _write_shard(self) -> None:
        number = len(self._manifest["shards"])
        chunks, self._buffer = self._buffer, []
        self._manifest["numbered"] = chunks[0].numbered
        columns = {
            f"layer{i}": np.concatenate([c.layers[name] for c in chunks])
            for i, name in enumerate(self._manifest["layers"])
        }
        columns["outputs"] = np.concatenate([c.outputs for c in chunks])
        columns["ids"] = plain_column(np.concatenate([c.ids for c in chunks]), "ids")
        labels = [c.labels for c in chunks if c.labels is not None]
        if labels:
            columns["labels"] = plain_column(np.concatenate(labels), "labels")
        files = {}
        for name, column in columns.items():
            buffer = io.BytesIO()
            np.save(buffer, np.ascontiguousarray(column), allow_pickle=False)
            content = buffer.getvalue()
            file = f"{name}-{number:05d}.npy"
            write_atomically(self.path / file, content)
            files[name] = {"file": file, "sha256": hashlib.sha256(content).hexdigest()}
        rows = len(columns["ids"])
        self._manifest["shards"].append({"rows": rows, "chunks": len(chunks), "files": files})
        self._write_manifest()

    def _write_manifest(self) -> None:
        text = json.dumps(self._manifest, indent=1)
        write_atomically(self.path / MANIFEST, text.encode())


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a store, checked for being one."""
    file = path / MANIFEST
    if not file.is_file():
        raise StoreError(f"{path} is not a feature store: it has no {MANIFEST}.")
    try:
        manifest: dict[str, Any] = json.loads(file.read_bytes())
        good = manifest["format"] == FORMAT and isinstance(manifest["version"], int)
    except (ValueError, KeyError, TypeError):
        good = False
    if not good:
        raise StoreError(f"{file} is damaged, or not the manifest of a feature store.")
    if manifest["version"] > VERSION:
        raise StoreError(
            f"{path} was written by a newer rehead. Upgrade with: pip install --upgrade rehead"
        )
    return manifest


def plain_column(values: Array, what: str) -> Array:
    """Labels or ids in a type that needs no pickle: objects become text."""
    if values.dtype.kind != "O":
        return values
    if not all(isinstance(v, str) for v in values):
        kinds = ", ".join(sorted({type(v).__name__ for v in values}))
        raise StoreError(f"The {what} are of type {kinds}; use whole numbers or text.")
    return values.astype(str)


class FeatureStore:
    """Reads a store. Shards are mapped from disk, not loaded.

    Parameters
    ----------
    path : folder
    verify : bool, default=False
        Compare every file with its checksum first, which reads all of it.

    Attributes
    ----------
    layers : list of str
    fingerprint : str
        Of the network that the features come from.
    numbered : bool
        Whether ids are only numbers in the order the samples came.
    ids, outputs, labels : arrays (labels may be None)
    """

    def __init__(self, path: str | os.PathLike[str], *, verify: bool = False) -> None:
        self.path = Path(path)
        self._manifest = read_manifest(self.path)
        if not self._manifest["complete"]:
            raise StoreError(
                f"The store {self.path} is not complete ({len(self)} rows so far). Run the same "
                "extraction again; it goes on where it stopped."
            )
        if verify:
            self._verify()
        self.layers: list[str] = self._manifest["layers"]
        self.fingerprint: str = self._manifest["fingerprint"]
        self.numbered: bool = self._manifest["numbered"]

    def __len__(self) -> int:
        return sum(shard["rows"] for shard in self._manifest["shards"])

    @property
    def ids(self) -> Array:
        return self._joined("ids")

    @property
    def outputs(self) -> Array:
        return self._joined("outputs")

    @property
    def n_outputs(self) -> int:
        """How many outputs the network has; read without the outputs themselves."""
        return int(self._mapped("outputs")[0].shape[1])

    @property
    def labels(self) -> Array | None:
        if any("labels" not in shard["files"] for shard in self._manifest["shards"]):
            return None
        return self._joined("labels")

    def layer(self, name: str) -> Array:
        """All features of a layer: a memory map where there is one shard, else joined."""
        if name not in self.layers:
            raise StoreError(f"The store {self.path} has no layer {name!r}, only {self.layers}.")
        return self._joined(f"layer{self.layers.index(name)}")

    def shards(self, name: str) -> list[Array]:
        """The features of a layer shard by shard, mapped from disk."""
        return self._mapped(f"layer{self.layers.index(name)}")

    def _joined(self, column: str) -> Array:
        parts = self._mapped(column)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _mapped(self, column: str) -> list[Array]:
        out = []
        for shard in self._manifest["shards"]:
            file = self.path / shard["files"][column]["file"]
            try:
                array: Array = np.load(file, mmap_mode="r", allow_pickle=False)
            except (OSError, ValueError) as error:
                raise StoreError(f"{file} is missing or damaged ({error}).") from error
            if len(array) != shard["rows"]:
                raise StoreError(f"{file} has {len(array)} rows instead of {shard['rows']}.")
            out.append(array)
        return out

    def _verify(self) -> None:
        for shard in self._manifest["shards"]:
            for entry in shard["files"].values():
                file = self.path / entry["file"]
                if not file.is_file():
                    raise StoreError(f"{file} is missing.")
                with file.open("rb") as handle:
                    digest = hashlib.file_digest(handle, "sha256").hexdigest()
                if digest != entry["sha256"]:
                    raise StoreError(f"{file} is damaged: its checksum does not match.")
