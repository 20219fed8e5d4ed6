"""Samples that are texts or rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rehead._columns import as_column, missing_rows
from rehead.files.tables import Table, is_table, read_table
from rehead.report.shown.base import ROW, TEXT, NotShown, OfOneKind, key_of
from rehead.report.shown.matching import match

ID = "id"


class Texts(OfOneKind):
    """Texts, one for each sample."""

    kind = TEXT

    def __init__(self, texts: Mapping[str, str], note: str = "") -> None:
        self._texts, self.note = texts, note

    def has(self, name: Any) -> bool:
        return key_of(name) in self._texts

    def text(self, name: Any) -> str:
        if not self.has(name):
            raise NotShown("There is no text of this sample.")
        return self._texts[key_of(name)]


class Rows(OfOneKind):
    """Rows of a table, one for each sample."""

    kind = ROW

    def __init__(
        self, columns: Mapping[str, Sequence[str]], rows: Mapping[str, int], note: str = ""
    ) -> None:
        self._columns, self._rows, self.note = columns, rows, note

    def has(self, name: Any) -> bool:
        return key_of(name) in self._rows

    def row(self, name: Any) -> dict[str, str]:
        if not self.has(name):
            raise NotShown("There is no row of this sample.")
        row = self._rows[key_of(name)]
        return {column: cells[row] for column, cells in self._columns.items()}


class Known(NamedTuple):
    """What is known of the samples that a table is about.

    Attributes
    ----------
    keys : sequence of str
        Their ids, as text.
    numbered : bool
        Whether ids are only row numbers.
    own : bool
        Whether the samples were read from this very table: then its rows are theirs, in order.
    """

    keys: Sequence[str]
    numbered: bool
    own: bool


def texts_of_file(path: Path, column: str | None, known: Known) -> Texts:
    """Texts in a column of a table, or lines of a .txt file in the order of the samples."""
    if not is_table(path):
        return texts_of(_lines(path), known.keys)
    table = read_table(path)
    if column is None and len(table.names) > 1:
        raise ValueError(
            f"Which column of {path} holds the texts? Say {path}:COLUMN. It has "
            f"{', '.join(table.names[:20])}."
        )
    name = table.names[0] if column is None else column
    table.check_columns([name])
    rows, note = _rows_of(table, known, but=name)
    cells = _cells(table, name)
    return Texts({key: cells[row] for key, row in rows.items()}, note)


def texts_of(texts: Any, keys: Sequence[str]) -> Texts:
    """Texts in the order of the samples."""
    column = as_column(texts)
    if column.ndim != 1 or len(column) != len(keys):
        raise ValueError(f"There are {len(column)} texts and {len(keys)} samples.")
    told = ["" if gap else str(t) for t, gap in zip(column, missing_rows(column), strict=True)]
    return Texts(dict(zip(keys, told, strict=True)))


def rows_of_file(path: Path, known: Known) -> Rows:
    """Rows of a CSV or Parquet file."""
    if not is_table(path):
        raise ValueError(f"{path} is not a table: .csv, .tsv or .parquet.")
    table = read_table(path)
    rows, note = _rows_of(table, known)
    return Rows({name: _cells(table, name) for name in table.names}, rows, note)


def rows_of(frame: Any, keys: Sequence[str]) -> Rows:
    """Rows of a DataFrame, or of columns by name, in the order of the samples."""
    names = list(frame.columns if hasattr(frame, "columns") else frame)
    columns = {str(name): [str(v) for v in as_column(frame[name]).tolist()] for name in names}
    for name, cells in columns.items():
        if len(cells) != len(keys):
            raise ValueError(
                f"The column {name!r} of the table has {len(cells)} rows, and there are "
                f"{len(keys)} samples."
            )
    return Rows(columns, {key: row for row, key in enumerate(keys)})


def _rows_of(table: Table, known: Known, but: str | None = None) -> tuple[dict[str, int], str]:
    """Row numbers by id: by a column that holds the ids, or in order where they are numbers."""
    n, keys = len(next(iter(table.columns.values()))), known.keys
    by_id = ID in table.names and set(keys) <= set(_cells(table, ID))
    # A column "id" of the samples' own table may count them in another order, and be ignored.
    if known.own or (known.numbered and not by_id):
        if n != len(keys):
            raise ValueError(
                f"{table.path} has {n} rows, and there are {len(keys)} samples without ids. Give "
                "ids, and a column of the table that holds them."
            )
        return {key: row for row, key in enumerate(keys)}, ""
    named = sorted((name for name in table.names if name != but), key=lambda name: name != ID)
    if not named:
        raise ValueError(
            f"{table.path} has one column only, so nothing tells which text belongs to which id. "
            "Add a column of ids."
        )
    cells = {name: _cells(table, name) for name in named}
    found = match(keys, cells, str(table.path), "the column")
    how = f"Rows of {table.path} are found by the column {found.way!r}."
    return found.found, f"{how} {found.note}".strip()


def _cells(table: Table, name: str) -> list[str]:
    return ["" if value is None else str(value) for value in table.columns[name]]


def _lines(path: Path) -> list[str]:
    if path.suffix.lower() != ".txt":
        raise ValueError(f"Texts are read from .csv, .tsv, .parquet and .txt, not from {path}.")
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8, or convert it: "
            f"iconv -f latin1 -t utf-8 {path} > other.txt"
        ) from None
