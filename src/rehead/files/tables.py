"""Tables on disk: CSV as programs and offices write it, and Parquet.

A table is read as it is. What its columns are for is said in ``columns.py``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.files.csvs import check_distinct, parse_csv
from rehead.files.persist import write_atomically

READ, WRITTEN = (".csv", ".tsv", ".parquet"), (".csv", ".parquet")
"""How files of tables end."""
WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
COMMA = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
MISSING = {"", "na", "n/a", "nan", "null", "none"}
"""Words for "no value" in a column of numbers, in small letters."""


def is_table(path: str | Path) -> bool:
    """Whether a file is a table, by its ending."""
    return Path(path).suffix.lower() in READ and not Path(path).is_dir()


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a table by name.

    Attributes
    ----------
    path : Path
    columns : dict of name to values
        Text as it stands in the file (CSV), or arrays (Parquet).
    lines : list of int or None
        The line of each row in the file, counted from 1, where it has lines.
    separator : str
    """

    path: Path
    columns: Mapping[str, Sequence[str] | Array]
    lines: Sequence[int] | None = None
    separator: str = ","
    _numbers: dict[str, Array | None] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def place(self, row: int) -> str:
        """Where a row is, as a person counts."""
        if self.lines is None:
            return f"Row {row + 1} of {self.path} (the first is 1)"
        return f"Line {self.lines[row]} of {self.path}"

    def check_columns(self, names: Iterable[str]) -> None:
        """Raise if there is no such column, with the nearest one and all there are."""
        for name in names:
            if name not in self.columns:
                raise ValueError(
                    f"{self.path} has no column {name!r}.{near_names(name, self.names)} "
                    f"It has {short_list(self.names)}."
                )

    def unpacked(self, name: str) -> list[str]:
        """The columns that a column of lists became; the column itself where it held none."""
        if name in self.columns:
            return [name]
        return [n for n in self.names if re.fullmatch(re.escape(name) + r"\[\d+\]", n)] or [name]

    def values(self, name: str, *, exact: bool = False) -> Array:
        """A column of labels or ids; a blank cell is an error.

        Text that stands for numbers becomes numbers, but not where that would lose leading zeros.
        ``exact``: only whole numbers do, so that ids stay what they are.
        """
        self.check_columns([name])
        values = self.columns[name]
        blank = [row for row, v in enumerate(values) if _is_blank(v)]
        if blank:
            more = f" (as are {len(blank) - 1} others)" if len(blank) > 1 else ""
            raise ValueError(
                f"{self.place(blank[0])}: column {name!r} is blank{more}. Fill in the cell, or "
                "leave the row out."
            )
        if isinstance(values, np.ndarray):
            return values.astype(str) if _all_text(values) else values
        return typed(values, exact=exact)

    def numbers(self, name: str) -> Array | None:
        """A column as numbers, or None where some cell is none."""
        if name not in self._numbers:
            values = self.columns[name]
            self._numbers[name] = (
                _array_numbers(values)
                if isinstance(values, np.ndarray)
                else _text_numbers(values, commas=self.separator != ",")
            )
        return self._numbers[name]

    def has_commas(self, name: str) -> bool:
        """Whether numbers of a column are written with decimal commas."""
        values = self.columns[name]
        return not isinstance(values, np.ndarray) and any("," in v for v in values)

    def has_points(self, name: str) -> bool:
        """Whether numbers of a column are written with decimal points."""
        values = self.columns[name]
        return not isinstance(values, np.ndarray) and any("." in v for v in values)


def read_table(path: Path) -> Table:
    """Read a CSV or Parquet file."""
    if path.suffix.lower() == ".parquet":
        return Table(path, _read_parquet(path))
    parsed = parse_csv(path)
    return Table(path, parsed.columns, parsed.lines, parsed.separator)


def near_names(name: str, names: Sequence[str]) -> str:
    """A question about what was meant, where there is a name like it."""
    import difflib

    folded = {n.lower(): n for n in names}
    near = difflib.get_close_matches(name.lower(), folded, n=1)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def short_list(names: Sequence[str], most: int = 20) -> str:
    """Names in one line: all of them, or the first and the last."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:3])} ... {names[-1]} ({len(names)} columns)"


def typed(values: Sequence[str], *, exact: bool = False) -> Array:
    """Whole numbers, numbers or text: the first that fits all values."""
    if all(WHOLE.fullmatch(v) for v in values):
        return np.array(values, np.int64)
    padded = any(re.fullmatch(r"[-+]?0\d+.*", v) for v in values)
    numbers = None if exact or padded else _text_numbers(values, commas=False)
    return np.array(values) if numbers is None else numbers


def is_missing_text(value: Any) -> bool:
    """Whether a cell of a column of numbers says that there is no value."""
    return value is None or str(value).strip().lower() in MISSING


def write_table(path: Path, columns: Mapping[str, Array]) -> None:
    """Write columns of equal length as CSV or Parquet, as the name of the file ends."""
    check_ending(path, WRITTEN)
    write = write_csv if path.suffix.lower() == ".csv" else write_parquet
    write(path, columns)


def write_parquet(path: Path, columns: Mapping[str, Array]) -> None:
    """Write columns of equal length, whole or not at all."""
    pyarrow, parquet = import_pyarrow()
    content = io.BytesIO()
    parquet.write_table(pyarrow.table({k: v.tolist() for k, v in columns.items()}), content)
    write_atomically(path, content.getvalue())


def check_ending(path: Path, endings: Sequence[str]) -> None:
    """Raise if a file to be written ends in a way that says nothing about its form."""
    if path.suffix.lower() not in endings:
        raise ValueError(
            f"Cannot tell how to write {path}: its name must end in {' or '.join(endings)}."
        )


def write_csv(path: Path, columns: Mapping[str, Array]) -> None:
    """Write columns of equal length, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(c.tolist() for c in columns.values()), strict=True))
    write_atomically(path, text.getvalue().encode())


LABELS_WRITTEN = (".npy", ".txt", ".csv", ".parquet")


def write_labels(path: Path, table: Mapping[str, Array]) -> None:
    """Write the column "label" as ``.npy`` or ``.txt``, or the whole table as CSV or Parquet."""
    check_ending(path, LABELS_WRITTEN)
    labels = table["label"]
    if path.suffix.lower() in WRITTEN:
        write_table(path, table)
    elif path.suffix.lower() == ".txt":
        write_atomically(path, "".join(f"{label}\n" for label in labels.tolist()).encode())
    else:
        content = io.BytesIO()
        np.save(content, labels, allow_pickle=False)
        write_atomically(path, content.getvalue())


def import_pyarrow() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet, or what to install."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError(
            'Parquet needs pyarrow. Install it with: pip install "rehead[parquet]"'
        ) from None


def _read_parquet(path: Path) -> dict[str, Array]:
    pyarrow, parquet = import_pyarrow()
    try:
        table = parquet.ParquetFile(path).read()
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} is not a Parquet file, or it is damaged ({error}).") from error
    if not table.num_rows:
        raise ValueError(f"{path} holds no rows.")
    check_distinct(path, table.column_names)
    columns: dict[str, Array] = {}
    for name in table.column_names:
        column = table.column(name)
        if pyarrow.types.is_nested(column.type):
            columns |= _unpacked(name, column)
        else:
            columns[name] = _of_arrow(column)
    return columns


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
    if types.is_decimal(column.type):
        column = column.cast("float64")
    values: Array = column.to_numpy()
    return values


def _text_numbers(values: Sequence[str], *, commas: bool) -> Array | None:
    if any("_" in v for v in values):
        return None  # Python reads 1_2 as 12
    try:
        return np.array(values, np.float64)
    except ValueError:
        pass
    if commas and all(COMMA.fullmatch(v) for v in values):
        return np.array([v.replace(",", ".") for v in values], np.float64)
    return _truths(values)


def _truths(values: Sequence[str]) -> Array | None:
    """1 and 0 for True and False, as pandas and R write them."""
    truths = {"true": 1.0, "false": 0.0}
    if all(v.lower() in truths for v in values):
        return np.array([truths[v.lower()] for v in values])
    return None


def _array_numbers(values: Array) -> Array | None:
    return values.astype(np.float64) if values.dtype.kind in "biuf" else None


def _is_blank(value: Any) -> bool:
    return value is None or value == "" or check.is_missing(value)


def _all_text(values: Array) -> bool:
    return values.dtype.kind == "O" and all(isinstance(v, str) for v in values)
