"""Arrays in ``.npz`` files: those that claim more than they hold, or than memory has room for, are
refused.
"""

from __future__ import annotations

import errno
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from rehead._typing import Array
from rehead.files.npy import NpyHeader, header_of

SUFFIX = ".npy"
_OF_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,  # what is said to be encrypted; its subclass: packed in an unknown way
    UnicodeDecodeError,
)
"""What reading an archive can raise where its bytes are not those that were written."""


def npz_headers(path: Path) -> dict[str, NpyHeader]:
    """The headers of all arrays of an ``.npz`` file; only these are read."""
    with _opened(path) as archive:
        headers = {}
        for entry in archive.infolist():
            name = entry.filename.removesuffix(SUFFIX)
            if name in headers:
                raise ValueError(f"{path} has two arrays called {name!r}. Write it again.")
            with archive.open(entry) as file:
                headers[name] = header_of(file, entry.file_size, f"{entry.filename} in {path}")
    return headers


def read_npz(path: Path, names: Sequence[str]) -> dict[str, Array]:
    """Some arrays of an ``.npz`` file.

    A compressed file may well be far larger in memory. It is refused only where it
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
    except (*_OF_DAMAGE, OSError) as error:
        # Damage can also send the reader to a place before the start of the file.
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
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
