"""Where labels and ids are, as users name them: a column of the table, a file, FILE:COLUMN."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.files.manifest import MANIFEST
from rehead.files.npy import read_npy
from rehead.files.npz import npz_headers, read_npz
from rehead.files.store import FeatureStore
from rehead.files.tables import (
    Table,
    gap_among_numbers,
    is_table,
    labels_of,
    near_names,
    read_table,
    short_list,
    typed,
)


class Place(NamedTuple):
    """Where a column is: a file, and its name in there."""

    file: str
    column: str | None
    table: Table | None = None

    def own(self, table: Table) -> str | None:
        """The name of the column, where it is one of this table."""
        return self.column if self.table is table else None

    def read(self, *, exact: bool = False) -> Array:
        """Its values; ``exact`` as in :meth:`Table.values`."""
        if self.table is not None and self.column is not None:
            return self.table.values(self.column, exact=exact)
        path = existing(self.file)
        if is_table(path):
            return _column_of(read_table(path), self.column, exact)
        if path.is_dir():
            return _stored_labels(path)
        if path.suffix == ".npy":
            return _one_column(read_npy(path), path, exact)
        if path.suffix == ".npz":
            names = list(npz_headers(path))
            name = self.column or (names[0] if len(names) == 1 else "labels")
            check.check_choice(name, names, f"array in {path}")
            return _one_column(read_npz(path, [name])[name], path, exact)
        if path.suffix == ".txt":
            return typed(_lines(path), exact=exact)
        raise unknown_form(path)


def locate(source: str | None, table: Table | None) -> Place | None:
    """Where a column is that a user names: in the table of the features, or in a file."""
    if source is None:
        return None
    file, column = split_column(source)
    if table is None:
        return Place(file, column)
    if source in table.columns:
        if Path(source).exists():
            raise ValueError(
                f"{source!r} is a file, and a column of {table.path}. Say ./{source} or "
                f"{table.path}:{source}."
            )
        return Place(str(table.path), source, table)
    if column is not None and Path(file).exists() and Path(file).samefile(table.path):
        table.check_columns([column])
        return Place(file, column, table)
    if column is not None:
        return Place(str(existing(file)), column)
    if not Path(file).exists():
        raise ValueError(
            f"{source!r} is neither a column of {table.path} nor a file."
            f"{near_names(source, table.names)} The table has {short_list(table.names)}."
        )
    return Place(file, column)


def read_column(source: str | Path) -> Array:
    """One column: labels or ids.

    From ``.npy`` or ``.npz``, a table with one column, a named column of a table
    (``file.csv:label``), or a text file with one value per line.
    """
    return Place(*split_column(str(source))).read()


def read_beside(column: str, data: str | Path, *, exact: bool = False) -> Array:
    """Labels or ids that a user names: a column of the table ``data``, a file, or FILE:COLUMN."""
    path = Path(split_column(str(data))[0])
    table = read_table(path) if path.exists() and is_table(path) else None
    place = locate(column, table)
    assert place is not None
    return place.read(exact=exact)


def split_column(source: str) -> tuple[str, str | None]:
    """FILE and COLUMN of FILE:COLUMN; no column where there is a file of that name."""
    if ":" not in source or Path(source).exists():
        return source, None
    file, _, column = source.rpartition(":")
    return file, column


def check_order(labels: Place, names: Sequence[Array], what: str = "labels") -> None:
    """Raise if labels come from a table that names these samples in another order, or others.

    Reports of audits do so: their worst labels are first. ``names`` are the ways in which the
    samples are named, one value a sample each. A column of the table that shares most of its
    values with one of them names the same samples.
    """
    if not is_table(labels.file) or labels.column is None:
        return
    table = read_table(existing(labels.file))
    others = {name: table.cells(name) for name in table.names if name != labels.column}
    named = any(np.array_equal(found, known) for found in others.values() for known in names)
    for column, found in others.items():
        numbers = [] if named or column != "id" else _numbers_of_rows(found, bool(names))
        for known in (*names, *numbers):
            check_same(f"The {what} of {labels.file}", column, found, known)


def _numbers_of_rows(ids: Array, have_names: bool) -> list[Array]:
    """Row numbers, where ids may be some: an audit calls samples so that have no names."""
    numbers = np.arange(len(ids) + 1).astype(str)
    in_order = np.array_equal(ids, numbers[1:])  # counted from 1
    if in_order or (have_names and set(ids.tolist()) != set(numbers[:-1].tolist())):
        return []
    return [numbers[:-1]]


def check_same(what: str, column: str, found: Array, known: Array) -> None:
    """Raise if a column names the same samples as another one, in another order, or others."""
    if np.array_equal(found, known):
        return
    shared = np.isin(found, known)
    if len(np.unique(found)) < len(found) or 2 * shared.sum() <= len(found):
        return
    if shared.all() and len(found) == len(known):
        raise ValueError(
            f"{what} are in another order than the samples: see its column {column!r}. Sort them; "
            "`rehead audit --input-order` keeps the order."
        )
    other = found[~shared].tolist()
    problem = f"{len(other)} of {len(found)} values of its column {column!r} name others"
    if not other:
        problem = f"its column {column!r} names {len(found)} of {len(known)}"
    raise ValueError(
        f"{what} are not of these samples: {problem}. Take those of these samples, all of them, "
        "in their order."
    )


def existing(path: str | Path) -> Path:
    """A path that is there."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    return path


def unknown_form(path: Path) -> ValueError:
    """The error that tells which files can be read."""
    where = f" (it has no {MANIFEST})" if path.is_dir() else ""
    known = ".npy, .npz, .csv, .parquet, .txt and feature stores"
    return ValueError(f"Cannot read {path}{where}. Known are {known}.")


def _column_of(table: Table, column: str | None, exact: bool) -> Array:
    if column is None and len(table.columns) > 1:
        raise ValueError(
            f"{table.path} has several columns: {short_list(table.names)}. Say which: "
            f"{table.path}:NAME"
        )
    return table.values(table.names[0] if column is None else column, exact=exact)


def _lines(path: Path) -> list[str]:
    """The lines of a text file, one value each."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if "" in lines:
        raise ValueError(f"Line {lines.index('') + 1} of {path} is blank. Every line is a value.")
    gap = gap_among_numbers(lines)
    if gap is not None:
        raise ValueError(f"Line {gap + 1} of {path} has no value ({lines[gap]!r}).")
    return lines


def _stored_labels(path: Path) -> Array:
    labels = FeatureStore(path).labels
    if labels is None:
        raise ValueError(f"The feature store {path} holds no labels. Give a file of labels.")
    return labels


def _one_column(values: Array, path: Path, exact: bool) -> Array:
    if values.ndim != 1:
        raise ValueError(f"{path} has shape {values.shape}; labels must be one column.")
    return values if exact else labels_of(values)
