"""True labels on disk, some of which may be missing."""

from __future__ import annotations

from pathlib import Path

from rehead._columns import as_column
from rehead._typing import Array
from rehead.files.places import existing, locate
from rehead.files.tables import Table, is_missing_text, is_table, read_table


def read_truth(truth: str, data: str | Path) -> Array:
    r"""True labels that a user names: a column of the table ``data``, a file, or FILE:COLUMN.

    Unlike labels that are judged, they may be missing: a blank cell of a table becomes None.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "flowers.csv"
    ...     _ = table.write_text("width,truth\n0.5,rose\n0.7,\n")
    ...     read_truth("truth", table).tolist()
    ['rose', None]
    """
    path = Path(data)
    table = read_table(path) if path.exists() and is_table(path) else None
    place = locate(truth, table)
    assert place is not None
    if place.table is None and is_table(place.file):
        place = place._replace(table=read_table(existing(place.file)))
    if place.table is None:
        return place.read()
    return _with_gaps(place.table, place.column)


def _with_gaps(table: Table, column: str | None) -> Array:
    if column is None and len(table.names) > 1:
        raise ValueError(f"{table.path} has several columns. Say which: {table.path}:NAME")
    name = table.names[0] if column is None else column
    table.check_columns([name])
    return as_column([None if is_missing_text(v) else v for v in list(table.columns[name])])
