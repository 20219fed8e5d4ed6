"""Arrays in ``.npy`` files, whose headers are not believed before the file bears them out."""

from __future__ import annotations

import math
import os
import tokenize
from typing import IO, Literal, NamedTuple

import numpy as np

from rehead._typing import Array

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""Version 3 differs only in the names of fields, and arrays here have none."""
_OF_PARSING = (
    AttributeError,
    EOFError,
    MemoryError,  # what Python's parser raises where brackets are nested too deeply
    OverflowError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
)
"""What a header that nobody wrote in good faith can raise."""


class NpyError(ValueError):
    """A file that is not a good ``.npy`` file."""


class NpyHeader(NamedTuple):
    """What a file says about its array; ``offset`` is where the array begins."""

    shape: tuple[int, ...]
    dtype: np.dtype
    fortran: bool
    offset: int

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_npy(path: str | os.PathLike[str], *, mmap: bool = False) -> Array:
    """The array in a ``.npy`` file, loaded or mapped from disk.

    A file that holds less than its header claims is refused before memory is asked for. Nothing is
    unpickled.

    Raises
    ------
    NpyError
        If the file is not a good one.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rehead.files.npy import read_npy
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "x.npy"
    ...     np.save(file, np.arange(3))
    ...     read_npy(file)
    array([0, 1, 2])
    """
    with open(path, "rb") as file:
        header = header_of(file, _size_of(file), path)
        order: Literal["C", "F"] = "F" if header.fortran else "C"
        try:
            if header.n_bytes == 0:  # which cannot be mapped
                return np.empty(header.shape, header.dtype)
            if mmap:
                return np.memmap(file, header.dtype, "r", header.offset, header.shape, order)
            array = np.fromfile(file, header.dtype, math.prod(header.shape))
            return array.reshape(header.shape, order=order)
        except (ValueError, OverflowError) as error:  # more dimensions than numpy knows
            raise NpyError(f"{path} is not a good .npy file ({error}).") from error


def read_npy_header(path: str | os.PathLike[str]) -> NpyHeader:
    """Shape and type of the array in a ``.npy`` file, compared with the size of the file."""
    with open(path, "rb") as file:
        return header_of(file, _size_of(file), path)


def header_of(file: IO[bytes], size: int, name: object) -> NpyHeader:
    """Read and check the header of a file of ``size`` bytes; the array begins where it is then."""
    try:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"version {version} of the format is not known here")
        shape, fortran, dtype = _HEADERS[version](file)
    except _OF_PARSING as error:
        raise NpyError(
            f"{name} is not a .npy file, or it is damaged: its header cannot be read ({error})."
        ) from error
    if dtype.hasobject:
        raise NpyError(
            f"{name} holds Python objects, and reading them could run foreign code. Save numbers "
            "or text: numpy.save(file, values.astype(str))."
        )
    if dtype.itemsize == 0 or any(n < 0 for n in shape):
        raise NpyError(f"{name} claims to hold an array of shape {shape} and type {dtype}.")
    header = NpyHeader(shape, dtype, fortran, file.tell())
    held = size - header.offset
    if header.n_bytes > held:
        raise NpyError(
            f"{name} is damaged: by its header it has {header.n_bytes} bytes of data ({dtype}, "
            f"shape {shape}), and it holds {held}. Write or copy it again."
        )
    return header


def _size_of(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size
