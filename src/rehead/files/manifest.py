"""The manifest of a feature store: what the folder holds, and what it was made from."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rehead.files.persist import write_atomically

FORMAT = "rehead-features"
VERSION = 2
"""2: hashes of the inputs, the settings of the extraction, a checksum of the manifest itself."""
MANIFEST = "manifest.json"
IDS, LABELS, OUTPUTS, INPUTS = "ids", "labels", "outputs", "inputs"
ORDER = "order"
"""The setting of a store whose rows are those of others: which ones, and in which order."""
MOST_ROWS = 2**40
"""Of a shard; no folder holds more."""
MOST_BYTES = 2**28
"""Of a manifest: enough for a hundred thousand shards."""


class StoreError(ValueError):
    """A folder that is not a good feature store, or not the one it should be."""


class Shard(NamedTuple):
    """Rows and chunks of a shard, and a checksum for the file of each column."""

    rows: int
    chunks: int
    checksums: Mapping[str, str]


@dataclass(frozen=True)
class Manifest:
    """What a store holds.

    Attributes
    ----------
    fingerprint : str
        Of the network.
    layers : tuple of str
        Their names; the features of the first are in the column ``layer0``.
    made_from : mapping
        Settings of the extraction: for each its values by layer.
    numbered : bool
        Whether ids are only numbers in the order the samples came.
    complete : bool
    shards : tuple of Shard
    version : int
    """

    fingerprint: str
    layers: tuple[str, ...]
    made_from: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    numbered: bool = False
    complete: bool = False
    shards: tuple[Shard, ...] = ()
    version: int = VERSION

    @property
    def n_rows(self) -> int:
        return sum(shard.rows for shard in self.shards)

    @property
    def n_chunks(self) -> int:
        return sum(shard.chunks for shard in self.shards)

    @property
    def columns(self) -> set[str]:
        """Columns that every shard has."""
        return set(self.shards[0].checksums) if self.shards else set()

    @property
    def checksum(self) -> str:
        """Of all that it says, which has the checksums of all files."""
        return hashlib.sha256(self.to_json()).hexdigest()

    def layer_column(self, name: str) -> str:
        """The column with the features of a layer."""
        return f"layer{self.layers.index(name)}"

    def to_json(self) -> bytes:
        """As it is written."""
        shards = [
            {
                "rows": shard.rows,
                "chunks": shard.chunks,
                "files": {
                    column: {"file": file_name(column, number), "sha256": checksum}
                    for column, checksum in shard.checksums.items()
                },
            }
            for number, shard in enumerate(self.shards)
        ]
        content = {
            "format": FORMAT,
            "version": self.version,
            "fingerprint": self.fingerprint,
            "layers": list(self.layers),
            "made_from": self.made_from,
            "complete": self.complete,
            "numbered": self.numbered,
            "shards": shards,
        }
        return json.dumps({**content, "sha256": _checksum(content)}, indent=1).encode()


def file_name(column: str, number: int) -> str:
    """The file of a column of a shard."""
    return f"{column}-{number:05d}.npy"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write it whole or not at all."""
    write_atomically(folder / MANIFEST, manifest.to_json())


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a store. All of it is checked.

    Raises
    ------
    StoreError
        If the folder has none, or not a good one.
    FileNotFoundError
        If there is no folder.
    """
    file = folder / MANIFEST
    if not folder.exists():
        raise FileNotFoundError(f"There is no folder {folder}.")
    if not file.is_file() or file.is_symlink():
        raise StoreError(f"{folder} is not a feature store: it has no {MANIFEST}.")
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ValueError("it is too large")
        content = json.loads(file.read_bytes())
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        if _whole(content, "version", "the manifest", 2**31) <= VERSION:
            return _read(content)
    except (ValueError, RecursionError, OSError) as error:
        raise StoreError(
            f"{file} is damaged, or not the manifest of a feature store: {error}. Delete the "
            "folder, and extract the features again."
        ) from error
    raise StoreError(
        f"{folder} was written by a newer rehead. Upgrade with: pip install --upgrade rehead"
    )


def _read(content: dict[str, Any]) -> Manifest:
    version, made_from = content["version"], {}
    if version > 1:
        checksum = _text(content, "sha256", "the manifest")
        if checksum != _checksum({k: v for k, v in content.items() if k != "sha256"}):
            raise ValueError("its checksum does not match")
        made_from = _settings(content)
    where = "the manifest"
    layers = _of_type(content, "layers", list, where)
    if not layers or not all(isinstance(n, str) for n in layers) or len({*layers}) < len(layers):
        raise ValueError("'layers' must be names that differ")
    entries = _of_type(content, "shards", list, where)
    shards = tuple(_shard(entry, number, version) for number, entry in enumerate(entries))
    _check_columns(shards, len(layers), version)
    complete = _of_type(content, "complete", bool, where)
    if complete and not shards:
        raise ValueError("it is complete, and has no shards")
    return Manifest(
        fingerprint=_text(content, "fingerprint", where),
        layers=tuple(layers),
        made_from=made_from,
        numbered=_of_type(content, "numbered", bool, where),
        complete=complete,
        shards=shards,
        version=version,
    )


def _settings(content: dict[str, Any]) -> dict[str, dict[str, str]]:
    settings: dict[str, Any] = _of_type(content, "made_from", dict, "the manifest")
    for name in settings:
        values = _of_type(settings, name, dict, "'made_from'")
        for layer in values:
            _text(values, layer, f"{name!r} of 'made_from'")
    return settings


def _shard(entry: Any, number: int, version: int) -> Shard:
    where = f"shard {number}"
    if not isinstance(entry, dict):
        raise ValueError(f"{where} must be an object")
    files = _of_type(entry, "files", dict, where)
    checksums = {}
    for column in files:
        named = _of_type(files, column, dict, where)
        # Nothing is read but what a writer of stores calls so: no other folder, no other column.
        if _text(named, "file", where) != file_name(column, number):
            raise ValueError(
                f"the file of {column!r} in {where} must be {file_name(column, number)!r}, not "
                f"{named['file']!r}"
            )
        checksums[column] = _text(named, "sha256", where)
        if not re.fullmatch("[0-9a-f]{64}", checksums[column]):
            raise ValueError(f"'sha256' of {column!r} in {where} must be a checksum")
    chunks = _whole(entry, "chunks", where, MOST_ROWS)
    return Shard(_whole(entry, "rows", where, MOST_ROWS), chunks, checksums)


def _check_columns(shards: tuple[Shard, ...], n_layers: int, version: int) -> None:
    """Every shard has all layers, outputs and ids, and the same of what may be missing."""
    needed = {*(f"layer{i}" for i in range(n_layers)), OUTPUTS, IDS}
    known = needed | ({LABELS} if version == 1 else {LABELS, INPUTS})
    for number, shard in enumerate(shards):
        columns = set(shard.checksums)
        for column in sorted(needed - columns):
            raise ValueError(f"shard {number} has no {column!r}")
        for column in sorted(columns - known):
            raise ValueError(f"shard {number} has {column!r}, which is not known")
        for column in sorted(columns ^ set(shards[0].checksums)):
            raise ValueError(f"some shards have {column!r}, and others have not")


def _of_type(entry: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    value = entry.get(key)
    if not isinstance(value, kind):
        names = {bool: "true or false", dict: "an object", list: "a list", str: "text"}
        raise ValueError(f"{key!r} of {where} must be {names[kind]}, not {_short(value)}")
    return value


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    text: str = _of_type(entry, key, str, where)
    return text


def _whole(entry: Mapping[str, Any], key: str, where: str, most: int) -> int:
    value = entry.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= most:
        raise ValueError(f"{key!r} of {where} must be a whole number above 0, not {_short(value)}")
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
