"""Arrays on disk: files that claim more than they hold, or than memory has room for, are refused.

A header of a few bytes can ask for gigabytes. So headers are read first, and what they claim is
held against the size of the file.
"""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from rehead._typing import Array

SUFFIX = ".npy"


class Header(NamedTuple):
    """What a ``.npy`` file says about itself, and how many bytes its data take."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    n_bytes: int


def read_header(file: IO[bytes], size: int, name: str) -> Header:
    """The header of an open ``.npy`` file; one that claims more than ``size`` bytes is an error."""
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    except (ValueError, EOFError, SyntaxError) as error:
        raise ValueError(f"{name} is not a .npy file, or it is damaged ({error}).") from None
    if dtype.hasobject:
        raise ValueError(
            f"{name} holds Python objects, and reading them could run foreign code. Save numbers "
            "or text: numpy.save(file, values.astype(str))."
        )
    claimed, held = math.prod(shape) * dtype.itemsize, size - file.tell()
    if claimed > held or any(n < 0 for n in shape):
        raise ValueError(
            f"{name} is damaged: by its header it has {claimed} bytes of data ({dtype}, shape "
            f"{shape}), and it holds {held}. Write or copy it again."
        )
    return Header(shape, dtype, claimed)


def check_npy(path: Path) -> Header:
    """The header of a ``.npy`` file; one that claims more than the file holds is an error."""
    with path.open("rb") as file:
        return read_header(file, path.stat().st_size, str(path))


def npz_headers(path: Path) -> dict[str, Header]:
    """The headers of all arrays of an ``.npz`` file; only these are read."""
    with _opened(path) as archive:
        headers = {}
        for entry in archive.infolist():
            name = entry.filename.removesuffix(SUFFIX)
            if name in headers:
                raise ValueError(f"{path} has two arrays called {name!r}. Write it again.")
            with archive.open(entry) as file:
                headers[name] = read_header(file, entry.file_size, f"{entry.filename} in {path}")
    return headers


def read_npz(path: Path, names: Sequence[str]) -> dict[str, Array]:
    """Some arrays of an ``.npz`` file.

    A compressed file may be far larger in memory, and honestly so. It is refused only where it
    does not fit into the memory that is free.
    """
    headers = npz_headers(path)
    needed, free = sum(headers[name].n_bytes for name in names), free_memory()
    if free is not None and needed > free:
        raise ValueError(
            f"{path} unpacks to {_size(needed)}, and {_size(free)} of memory are free. Save its "
            "arrays as .npy files or as a feature store, which are read in parts."
        )
    with _opened(path) as archive:
        return {name: _read(archive, name) for name in names}


def _read(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(name + SUFFIX) as file:
        array: Array = np.lib.format.read_array(file, allow_pickle=False)
    return array


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"{path} is not an .npz file, or it is damaged ({error}).") from error


def free_memory() -> int | None:
    """Bytes that can be asked for without swapping; None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvail"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.1f} MB"
