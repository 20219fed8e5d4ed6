"""Types used everywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BLOCK = 512
"""Rows a block: enough for full speed; on two threads, larger blocks are slower."""

ENTRIES = 2**22
"""Of a table that is made of some rows, at most."""


class NamedFeatures:
    """Features whose columns have names, read from a table.

    Behaves as an array of which rows are taken. Checks of features know the names, as they know
    those of a data frame.
    """

    def __init__(self, values: Array, names: Sequence[str]) -> None:
        self.values, self.names = values, list(names)
        self.shape = values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> NamedFeatures:
        return NamedFeatures(self.values[rows], self.names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype)


class JoinedFeatures:
    """Features side by side, or some rows of them, that are never held in memory as a whole.

    Behaves as an array of which rows are taken: only those are copied.

    Parameters
    ----------
    parts : sequence of arrays of shape (n, d of the part)
    rows : array of row numbers, optional
        The rows that there are; all of them by default.

    Examples
    --------
    >>> import numpy as np
    >>> joined = JoinedFeatures([np.eye(3), np.zeros((3, 1))], np.array([0, 2]))
    >>> joined.shape, joined[1:]
    ((2, 4), array([[0., 0., 1., 0.]]))
    """

    def __init__(self, parts: Sequence[Features], rows: Array | None = None) -> None:
        self.parts, self.rows = list(parts), rows
        widths = [part.shape[1] for part in parts]
        self._stops = list(accumulate(widths))
        n = len(parts[0]) if rows is None else len(rows)
        self.shape: tuple[int, int] = (n, self._stops[-1])
        self.dtype: np.dtype[Any] = np.result_type(*(part.dtype for part in parts))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Array:
        """Rows by slice, numbers or mask; or rows and a slice of columns."""
        index, columns = index if isinstance(index, tuple) else (index, slice(None))
        first, last, _ = columns.indices(self.shape[1])
        if self.rows is not None:
            index = self.rows[index]
        found = []
        for part, stop in zip(self.parts, self._stops, strict=True):
            start = stop - part.shape[1]
            if start < last and stop > first:
                found.append(part[index, max(first - start, 0) : last - start])
        joined: Array = np.concatenate(found, axis=1, dtype=self.dtype)
        return joined

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype)


class LazyFeatures(ABC):
    """Features that are read when rows are asked for, and never held in memory as a whole.

    Behaves as an array of which rows are taken. It says nothing of values: they are looked at when
    they are read.

    Attributes
    ----------
    shape : (int, int)
    dtype : dtype
        Of the rows that are handed out.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, index: Any) -> Array:
        """Rows by slice, numbers or mask; or rows and a slice of columns."""

    @abstractmethod
    def astype(self, dtype: Any) -> LazyFeatures:
        """The same rows, handed out in another precision."""

    @abstractmethod
    def between(self, start: int, stop: int) -> LazyFeatures:
        """The rows from ``start`` to ``stop``, which are not read."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What tells these rows from any others, without reading them."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype)


class RowMap(Protocol):
    """What maps a block of rows to as many rows of ``n_columns`` features."""

    @property
    def n_columns(self) -> int:
        """How many features there are after it."""

    def __call__(self, block: Array) -> Array:
        """Some rows, mapped, in their precision."""


class MappedFeatures:
    """Features after a map, which is applied to the rows that are asked for, block by block.

    Behaves as an array of which rows are taken.

    Examples
    --------
    >>> import numpy as np
    >>> class Doubled:
    ...     n_columns = 3
    ...     def __call__(self, block):
    ...         return 2 * block
    >>> mapped = MappedFeatures(np.eye(3), Doubled())
    >>> mapped.shape, mapped[1:2]
    ((3, 3), array([[0., 2., 0.]]))
    """

    def __init__(self, X: Features, row_map: RowMap) -> None:
        self.X, self.row_map = X, row_map
        self.shape: tuple[int, int] = (len(X), row_map.n_columns)
        self.dtype: np.dtype[Any] = X.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Array:
        """Rows by slice, numbers or mask; or rows and a slice of columns."""
        index, columns = index if isinstance(index, tuple) else (index, slice(None))
        rows = row_numbers(index, len(self))
        first, last, _ = columns.indices(self.shape[1])
        out = np.empty((len(rows), max(last - first, 0)), self.dtype)
        for a in range(0, len(rows), BLOCK):
            part = rows[a : a + BLOCK]
            out[a : a + BLOCK] = self.row_map(self.X[part])[:, first:last]
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype)


class OfRows:
    """What there is of each of some rows, made when it is asked for, a span at a time.

    ``numbers`` has the numbers of the rows, of which ``make`` is told some.

    Examples
    --------
    >>> squares = OfRows(np.array([3, 1, 2]), lambda rows: rows**2)
    >>> len(squares), squares[1:]
    (3, array([1, 4]))
    """

    def __init__(self, numbers: Any, make: Callable[[Array], Array]) -> None:
        self._numbers, self._make = numbers, make

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, span: slice) -> Array:
        return self._make(self._numbers[span])


Features = Array | JoinedFeatures | MappedFeatures | LazyFeatures
"""What rows can be taken of."""


def some_rows(X: Features, rows: Array | slice) -> Features:
    """Some rows, by numbers, mask or slice, which are not copied."""
    if isinstance(rows, slice) and isinstance(X, np.ndarray):
        return X[rows]
    if not isinstance(rows, slice) and _are_small_numbers(rows, len(X)):  # no copy of so many
        return JoinedFeatures([X], rows)
    return JoinedFeatures([X], row_numbers(rows, len(X)))


def _are_small_numbers(rows: Array, n: int) -> bool:
    """Whether they are row numbers below ``n`` already, of four bytes each."""
    return rows.dtype == np.int32 and len(rows) > 0 and rows.min() >= 0 and rows.max() < n


def cut_rows(X: Features | OfRows, span: slice) -> Features:
    """The rows of a span, which are not read; what is cut can be sent away without the rest.

    Examples
    --------
    >>> cut_rows(JoinedFeatures([np.eye(4)], np.array([3, 1, 0])), slice(1, 3))[:1]
    array([[0., 1., 0., 0.]])
    """
    if isinstance(X, (np.ndarray, OfRows)):
        return X[span]
    if isinstance(X, MappedFeatures):
        return MappedFeatures(cut_rows(X.X, span), X.row_map)
    if isinstance(X, LazyFeatures):
        return X.between(span.start, span.stop)
    if X.rows is not None:
        return JoinedFeatures(X.parts, X.rows[span])
    return JoinedFeatures([cut_rows(part, span) for part in X.parts])


def row_spans(n: int, width: int, entries: int | None = None) -> Iterator[slice]:
    """Rows in spans whose tables of ``width`` columns are small; multiples of a block.

    Examples
    --------
    >>> list(row_spans(2000, 2**12))
    [slice(0, 1024, None), slice(1024, 2000, None)]
    """
    entries = ENTRIES if entries is None else entries
    size = max(entries // max(width, 1) // BLOCK, 1) * BLOCK
    return (slice(a, min(a + size, n)) for a in range(0, n, size))


def row_numbers(index: Array | slice, n: int) -> Array:
    """Numbers of the rows, of ``n``, that a slice, a mask or numbers mean.

    Examples
    --------
    >>> row_numbers(slice(1, 3), 9), row_numbers(np.array([-1, 2]), 9)
    (array([1, 2]), array([8, 2]))
    """
    if isinstance(index, slice):
        return np.arange(*index.indices(n))
    rows = np.asarray(index)
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise IndexError(f"a mask of shape {rows.shape} does not go with {n} rows")
        return np.flatnonzero(rows)
    if len(rows) and not (-n <= rows.min() and rows.max() < n):
        raise IndexError(f"there are {n} rows, and numbers from {rows.min()} to {rows.max()}")
    numbers: Array = np.where(rows < 0, rows + n, rows).astype(np.int64, copy=False)
    return numbers


class Known(NamedTuple):
    """What is known of labels beside what they say.

    Rows whose label is right; those of them that were drawn at random; and the classes that the
    labels stood for before some were put right.
    """

    trusted: Array | None = None
    drawn: Array | None = None
    uncorrected: Array | None = None

    def take(self, rows: Array) -> Known:
        """Of some of the rows."""
        return Known(*(None if each is None else each[rows] for each in self))
