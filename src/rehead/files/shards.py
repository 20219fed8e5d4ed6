"""The files of a feature store, compared with their checksums before anything is made of them."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from pathlib import Path

import numpy as np

from rehead._typing import Array
from rehead.files.manifest import IDS, INPUTS, LABELS, Manifest, StoreError, file_name
from rehead.files.npy import NpyError, read_npy

SETTLED = 2.0
"""Seconds after which a changed file has another time, on any file system."""
KINDS = {
    "b": "true or false",
    "f": "numbers",
    "i": "whole numbers",
    "u": "whole numbers",
    "S": "bytes",
    "U": "text",
    "M": "times",
    "m": "spans of time",
}
"""What a column holds, by the kind of its type."""
_good: set[tuple[object, ...]] = set()
"""States of files that were compared with their checksum in this process."""


class ShardFiles:
    """Reads the columns of a store.

    A file is compared with its checksum before it is handed out, once in a process for each state
    of it (place, size and times).
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest

    def mapped(self, column: str) -> list[Array]:
        """A column shard by shard, mapped from disk; the shards go together."""
        parts = [self.part(column, number) for number in range(len(self.manifest.shards))]
        for number, part in enumerate(parts):
            check_same_form(part, parts[0], column, str(self.folder / file_name(column, number)))
        return parts

    def joined(self, column: str) -> Array:
        """A whole column: a memory map where there is one shard."""
        parts = self.mapped(column)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def part(self, column: str, number: int) -> Array:
        """A column of one shard, mapped from disk."""
        shard = self.manifest.shards[number]
        file = self.folder / file_name(column, number)
        check_file(file, shard.checksums[column])
        try:
            array = read_npy(file, mmap=True)
        except (OSError, NpyError) as error:
            raise StoreError(f"{file} is missing or damaged ({error}).") from error
        check_form(array, column, str(file))
        if len(array) != shard.rows:
            raise StoreError(f"{file} has {len(array)} rows instead of {shard.rows}.")
        return array

    def verify(self) -> None:
        """Compare every file with its checksum."""
        for number, shard in enumerate(self.manifest.shards):
            for column, checksum in shard.checksums.items():
                check_file(self.folder / file_name(column, number), checksum)


def check_file(file: Path, checksum: str) -> None:
    """Raise if a file is not there, or not the one with this checksum.

    Links are not followed: what a store hands out lies in its folder.
    """
    try:
        state = file.lstat()
        if not stat.S_ISREG(state.st_mode):
            raise StoreError(f"{file} is not a plain file. The files of a store lie in its folder.")
        key = (*identity(state), checksum)
        if key in _good:
            return
        with file.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise StoreError(f"{file} is missing or damaged ({error}).") from error
    if digest != checksum:
        raise StoreError(
            f"{file} is damaged: its checksum does not match. Delete the folder, and extract the "
            "features again."
        )
    if abs(time.time() - max(state.st_mtime, state.st_ctime)) > SETTLED:
        _good.add(key)


def check_form(array: Array, column: str, where: str) -> None:
    """Raise if an array cannot be this column."""
    flat = column in (IDS, LABELS, INPUTS)
    kinds = "u" if column == INPUTS else "".join(KINDS) if flat else "bfiu"
    if array.ndim != (1 if flat else 2) or array.dtype.kind not in kinds:
        raise StoreError(f"{where} cannot be {column}: it is {_said(array)}.")


def check_same_form(array: Array, first: Array, column: str, where: str) -> None:
    """Raise if two parts of a column do not go together; one may have longer texts."""
    if column in (IDS, LABELS):
        same = kind_of(array.dtype) == kind_of(first.dtype)
    else:
        same = (array.dtype, array.shape[1:]) == (first.dtype, first.shape[1:])
    if not same:
        raise StoreError(f"{where} is {_said(array)}, and what came first {_said(first)}.")


def kind_of(dtype: np.dtype) -> str:
    """What values of this type are, in a word."""
    return KINDS.get(dtype.kind, dtype.name)


def identity(state: os.stat_result) -> tuple[int, ...]:
    """What differs as soon as a file is another one, or was written to."""
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


def _said(array: Array) -> str:
    return f"{kind_of(array.dtype)} of shape {array.shape} and type {array.dtype.str}"
