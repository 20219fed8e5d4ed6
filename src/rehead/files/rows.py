"""Rows of features on disk, read when they are asked for: no copy, and no memory map, of the whole.

Pages of a memory map count against the limit of a worker, and are given back when the system likes
to. So rows are read into an array of their own, by plain reads. Files are opened for each read: no
handle is kept, so thousands of shards do not matter, and a file that vanished or changed is noticed
at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from rehead._typing import BLOCK, Array, LazyFeatures, row_numbers
from rehead.files.manifest import StoreError, file_name
from rehead.files.npy import NpyError, NpyHeader, read_npy_header
from rehead.files.shards import ShardFiles, check_file, check_form, check_same_form, identity

NEAR = 2**14
"""Bytes between two rows that are read along: that is faster than another read."""


class Piece(NamedTuple):
    """Rows that lie one after the other in a file.

    Attributes
    ----------
    file : str
    checksum : str or None
        Of the file; None where nobody has written it down.
    offset : int
        Bytes before the first row.
    rows : int
    """

    file: str
    checksum: str | None
    offset: int
    rows: int


class StoredRows(LazyFeatures):
    """Features in files, as an array of which rows are read: by slice, numbers or mask.

    float16 on disk becomes float32, and whole numbers become float64. Each file is compared with
    its checksum when it is first read. A file that vanished, or is not what it was, is an error
    that names it. It can be sent to other processes: as names, checksums and shape, without data.

    Parameters
    ----------
    pieces : list of Piece
    width : int
        Features of a row.
    on_disk : dtype
        Of the files.
    dtype : dtype, optional
        Of the rows that are handed out.
    known : dict of file to what it was when it was compared, optional

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "x.npy"
    ...     np.save(file, np.arange(6, dtype=np.float16).reshape(3, 2))
    ...     X = stored_file(file)
    ...     X.shape, X.dtype.name, X[[2, 0]]
    ((3, 2), 'float32', array([[4., 5.],
           [0., 1.]], dtype=float32))
    """

    def __init__(
        self,
        pieces: list[Piece],
        width: int,
        on_disk: Any,
        dtype: Any = None,
        known: dict[str, tuple[int, ...]] | None = None,
    ) -> None:
        self.pieces, self.on_disk = pieces, np.dtype(on_disk)
        self.dtype = read_as(self.on_disk) if dtype is None else np.dtype(dtype)
        self._known: dict[str, tuple[int, ...]] = {} if known is None else known
        self._starts = np.cumsum([0, *(piece.rows for piece in pieces)])
        self.shape = (int(self._starts[-1]), width)

    def __repr__(self) -> str:
        n, width = self.shape
        where = self.pieces[0].file if self.pieces else "no file"
        return f"<{n} rows of {width} features in {len(self.pieces)} files, {where} first>"

    def astype(self, dtype: Any) -> StoredRows:
        """The same rows, handed out in another precision."""
        return StoredRows(self.pieces, self.shape[1], self.on_disk, dtype, self._known)

    def between(self, start: int, stop: int) -> StoredRows:
        """The rows from ``start`` to ``stop``; only their files are kept."""
        pieces = [
            piece._replace(offset=piece.offset + a * self._row_bytes, rows=b - a)
            for piece, a, b in self._parts(start, stop)
        ]
        known = {p.file: self._known[p.file] for p in pieces if p.file in self._known}
        return StoredRows(pieces, self.shape[1], self.on_disk, self.dtype, known)

    @property
    def identity(self) -> str:
        """Checksums of the files; names, sizes and times of those that have none."""
        files = [
            (p.checksum or (p.file, self._known.get(p.file)), p.offset, p.rows) for p in self.pieces
        ]
        return repr((files, self.shape, self.on_disk.str, self.dtype.str))

    def files_of(self, rows: Array | slice) -> list[str]:
        """The files that hold some rows."""
        numbers = row_numbers(rows, len(self))
        used = np.unique(np.searchsorted(self._starts, numbers, side="right") - 1)
        return [self.pieces[i].file for i in used.tolist()]

    def __getitem__(self, index: Any) -> Array:
        """Rows by slice, numbers or mask; or rows and a slice of columns."""
        rows, columns = index if isinstance(index, tuple) else (index, slice(None))
        if isinstance(rows, (int, np.integer)):
            row: Array = self._numbered(row_numbers(np.array([rows]), len(self)), columns)[0]
            return row
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            found = self._span(start, max(start, stop))
            return found if columns == slice(None) else found[:, columns]
        return self._numbered(row_numbers(rows, len(self)), columns)

    @property
    def _row_bytes(self) -> int:
        return int(self.shape[1] * self.on_disk.itemsize)

    def _span(self, start: int, stop: int) -> Array:
        """Rows one after the other."""
        out, at = np.empty((stop - start, self.shape[1]), self.dtype), 0
        for piece, a, b in self._parts(start, stop):
            with self._opened(piece) as file:
                # A block at a time where numbers are changed: two copies of the whole are too much.
                size = b - a if self.dtype == self.on_disk else BLOCK
                for c in range(a, b, size):
                    n = min(size, b - c)
                    self._read(file, piece, c, out[at : at + n])
                    at += n
        return out

    def _parts(self, start: int, stop: int) -> Iterator[tuple[Piece, int, int]]:
        """The pieces that rows lie in, and from where to where in each."""
        i = int(np.searchsorted(self._starts, start, side="right")) - 1
        while start < stop:
            piece, first = self.pieces[i], int(self._starts[i])
            end = min(stop, first + piece.rows)
            if start < end:
                yield piece, start - first, end - first
            start, i = end, i + 1

    def _numbered(self, numbers: Array, columns: slice) -> Array:
        """Rows by their numbers, in any order, also several times."""
        out = np.empty((len(numbers), len(range(*columns.indices(self.shape[1])))), self.dtype)
        order = None
        if (numbers[1:] < numbers[:-1]).any():
            order = np.argsort(numbers, kind="stable")
            numbers = numbers[order]
        bounds = np.searchsorted(numbers, self._starts)
        for i in np.flatnonzero(np.diff(bounds)).tolist():
            piece, wanted = self.pieces[i], slice(int(bounds[i]), int(bounds[i + 1]))
            local = numbers[wanted] - self._starts[i]
            with self._opened(piece) as file:
                for part in self._near(local):
                    found = self._read_near(file, piece, local[part])
                    at = slice(wanted.start + part.start, wanted.start + part.stop)
                    out[at if order is None else order[at]] = found[:, columns]
        return out

    def _near(self, numbers: Array) -> Iterator[slice]:
        """Cut sorted row numbers where rows lie far apart, and after as many as a block."""
        near = max(NEAR // max(self._row_bytes, 1), 1)
        apart = np.flatnonzero(np.diff(numbers) > near) + 1
        cuts = [0, *apart.tolist(), len(numbers)]
        for a, b in pairwise(cuts):
            for c in range(a, b, BLOCK):
                yield slice(c, min(c + BLOCK, b))

    def _read_near(self, file: IO[bytes], piece: Piece, numbers: Array) -> Array:
        first, last = int(numbers[0]), int(numbers[-1])
        span = np.empty((last - first + 1, self.shape[1]), self.on_disk)
        self._read(file, piece, first, span)
        gapless = len(numbers) == len(span) and (np.diff(numbers) == 1).all()
        return span if gapless else span[numbers - first]

    def _read(self, file: IO[bytes], piece: Piece, first: int, out: Array) -> None:
        """Fill ``out`` with the rows of a piece from ``first`` on."""
        raw = out if out.dtype == self.on_disk else np.empty(out.shape, self.on_disk)
        into = memoryview(raw.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        try:
            file.seek(piece.offset + first * self._row_bytes)
            while len(into):
                n = file.readinto(into)  # type: ignore[attr-defined]
                if not n:
                    raise StoreError(f"{piece.file} is damaged: it ends too early.")
                into = into[n:]
        except OSError as error:
            raise StoreError(f"{piece.file} cannot be read ({error}).") from error
        if raw is not out:
            out[...] = raw

    def _opened(self, piece: Piece) -> IO[bytes]:
        """The file of a piece; one that is not known yet, or changed, is compared first."""
        try:
            file = open(piece.file, "rb", buffering=0)  # noqa: SIM115 (the caller closes it)
        except OSError as error:
            raise StoreError(f"{piece.file} is missing or cannot be read ({error}).") from error
        try:
            self._recognise(piece, os.fstat(file.fileno()))
        except BaseException:
            file.close()
            raise
        return file

    def _recognise(self, piece: Piece, state: os.stat_result) -> None:
        if piece.checksum is None:
            # On another machine the same file has another number.
            now: tuple[int, ...] = (state.st_size, state.st_mtime_ns)
            if self._known.setdefault(piece.file, now) != now:
                raise StoreError(
                    f"{piece.file} has changed since it was opened. Start again, and leave it "
                    "alone until the end."
                )
            return
        now = identity(state)
        if self._known.get(piece.file) != now:
            check_file(Path(piece.file), piece.checksum)
            self._known[piece.file] = now


def read_as(on_disk: np.dtype) -> np.dtype:
    """The precision that rows are worked on in."""
    return np.dtype(np.float32 if on_disk in (np.float16, np.float32) else np.float64)


def stored_column(files: ShardFiles, column: str) -> StoredRows:
    """A layer (or the outputs) of a store; the shards go together, by what their files say."""
    headers, pieces = [], []
    for number, shard in enumerate(files.manifest.shards):
        file, checksum = files.folder / file_name(column, number), shard.checksums[column]
        try:
            header = read_npy_header(file)
        except (OSError, NpyError) as error:
            check_file(file, checksum)  # where it is not what was written, this says so
            raise StoreError(f"{file} is missing or damaged ({error}).") from error
        headers.append(header)
        _check_header(header, headers[0], column, file)
        if header.shape[0] != shard.rows:
            raise StoreError(f"{file} has {header.shape[0]} rows instead of {shard.rows}.")
        pieces.append(Piece(str(file.absolute()), checksum, header.offset, shard.rows))
    return StoredRows(pieces, headers[0].shape[1], headers[0].dtype)


def _check_header(header: NpyHeader, first: NpyHeader, column: str, file: Path) -> None:
    array, other = (np.broadcast_to(np.empty((), h.dtype), h.shape) for h in (header, first))
    check_form(array, column, str(file))
    check_same_form(array, other, column, str(file))
    if header.fortran:
        raise StoreError(f"{file} holds columns one after the other, not rows. Write it again.")


def can_be_stored(header: NpyHeader) -> bool:
    """Whether rows of a ``.npy`` file can be read on their own: floats, row after row."""
    floats = header.dtype.kind == "f" and header.dtype.itemsize <= 8
    return floats and len(header.shape) == 2 and not header.fortran and header.n_bytes > 0


def stored_file(path: str | os.PathLike[str]) -> StoredRows:
    """The features in one ``.npy`` file, of floats."""
    header = read_npy_header(path)
    if not can_be_stored(header):
        raise NpyError(
            f"{path} must hold rows of floats; it has shape {header.shape} and type {header.dtype}."
            " Load it with numpy.load instead."
        )
    file, (n, width) = Path(path).absolute(), header.shape
    state = file.stat()
    known: dict[str, tuple[int, ...]] = {str(file): (state.st_size, state.st_mtime_ns)}
    piece = Piece(str(file), None, header.offset, n)
    return StoredRows([piece], width, header.dtype, known=known)
