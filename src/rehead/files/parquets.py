"""Parquet: columns by name, as arrays."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.files.csvs import check_distinct
from rehead.files.persist import write_atomically


def write_parquet(path: Path, columns: Mapping[str, Array]) -> None:
    """Write columns of equal length, whole or not at all."""
    pyarrow, parquet = import_pyarrow()
    content = io.BytesIO()
    parquet.write_table(pyarrow.table({k: v.tolist() for k, v in columns.items()}), content)
    write_atomically(path, content.getvalue())


def import_pyarrow() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet, or what to install."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError(
            'Parquet needs pyarrow. Install it with: pip install "rehead[parquet]"'
        ) from None


def read_parquet(path: Path) -> dict[str, Array]:
    """The columns by name; a column of lists of numbers is unpacked."""
    _, parquet = import_pyarrow()
    with _told_as_damage(path):
        table = parquet.ParquetFile(path).read()
        parts = [_parts(*named) for named in zip(table.column_names, table.columns, strict=True)]
    if not table.num_rows:
        raise ValueError(f"{path} holds no rows.")
    check_distinct(path, [name for part in parts for name in part])
    return {name: values for part in parts for name, values in part.items()}


@contextmanager
def _told_as_damage(path: Path) -> Iterator[None]:
    """Errors of pyarrow, which are of many kinds, in words that name the file."""
    pyarrow, _ = import_pyarrow()
    try:
        yield
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's own: no such file, no permission
        said = " ".join(str(error).split()).rstrip(".")
        problem = "it is damaged"
        if isinstance(error, MemoryError):
            problem += ", or there is not enough memory for it"
        raise ValueError(f"{path} is not a Parquet file, or {problem} ({said}).") from error


def _parts(name: str, column: Any) -> dict[str, Array]:
    """A column of Parquet; those of a column of lists."""
    nested = import_module("pyarrow").types.is_nested(column.type)
    return _unpacked(name, column) if nested else {name: _of_arrow(column)}


def _unpacked(name: str, column: Any) -> dict[str, Array]:
    """The columns of a column of lists, embeddings for example: name[0], name[1] and so on.

    What is no list of numbers, or is not of one length, stays one column.
    """
    rows = column.to_pylist()
    widths = {len(row) if isinstance(row, list) else -1 for row in rows}
    values: Array = np.array(rows) if len(widths) == 1 else np.empty(0)
    if values.ndim == 2 and values.dtype.kind in "biuf":
        return {f"{name}[{i}]": values[:, i] for i in range(values.shape[1])}
    whole = np.empty(len(rows), object)
    whole[:] = rows
    return {name: whole}


def _of_arrow(column: Any) -> Array:
    types = import_module("pyarrow").types
    if types.is_dictionary(column.type):  # pandas calls it categorical
        column = column.cast(column.type.value_type)
    values: Array = column.to_numpy()
    return values
