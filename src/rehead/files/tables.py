"""Tables on disk: CSV as programs and offices write it, and Parquet.

A table is read as it is. What its columns are for is said in ``columns.py``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._columns import LARGEST, as_column, missing_rows
from rehead._typing import Array
from rehead._values import visible
from rehead._warnings import warn
from rehead.files.cells import runs, shown
from rehead.files.csvs import parse_csv
from rehead.files.parquets import read_parquet, write_parquet
from rehead.files.persist import write_atomically

READ, WRITTEN = (".csv", ".tsv", ".parquet"), (".csv", ".parquet")
"""How files of tables end."""
WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
TRUTHS = ("True", "False")
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
            return visible(f"Row {row + 1} of {self.path} (the first is 1)")
        return visible(f"Line {self.lines[row]} of {self.path}")

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

        Text that stands for numbers becomes numbers, as in :func:`typed`. ``exact``: ids stay what
        they are.
        """
        self.check_columns([name])
        values = self.columns[name]
        blank = [row for row, v in enumerate(values) if _is_blank(v)]
        gap = None if isinstance(values, np.ndarray) else gap_among_numbers(values)
        if gap is not None and not blank:
            raise ValueError(
                f"{self.place(gap)}: column {name!r} has no value ({values[gap]!r}). Fill in the "
                "cell, or leave the row out."
            )
        if blank:
            more = f" (as are {len(blank) - 1} others)" if len(blank) > 1 else ""
            raise ValueError(
                f"{self.place(blank[0])}: column {name!r} is blank{more}. Fill in the cell, or "
                "leave the row out."
            )
        if not isinstance(values, np.ndarray):
            return typed(values, exact=exact)
        if isinstance(values[0], Decimal):
            return typed([format(v, "f") for v in values], exact=exact)
        if not exact:
            return labels_of(values)
        return as_column(values.tolist()) if all_text(values) else values

    def cells(self, name: str) -> Array:
        """A column as it is written."""
        return np.array([str(value) for value in self.columns[name]])

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
        return Table(path, read_parquet(path))
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
        return visible(", ".join(names))
    return visible(f"{', '.join(names[:3])} ... {names[-1]} ({len(names)} columns)")


def typed(values: Sequence[str], *, exact: bool = False) -> Array:
    """Whole numbers, truth values, numbers or text: the first that fits all values.

    Text becomes numbers only where it can be written back: 007, 1e3 and numbers of many digits
    stay text, for they may be codes. Whole numbers are those with a point too (1.0), as pandas
    writes them beside gaps. ``exact``, for ids: only what is written without a point
    becomes numbers.

    Examples
    --------
    >>> typed(["1", "2.0"]), typed(["007", "12"]), typed(["True", "False"])
    (array([1, 2]), array(['007', '12'], dtype='<U3'), array([ True, False]))
    """
    if all(WHOLE.fullmatch(v) for v in values):
        return np.array(values, np.int64)
    if not exact and all(v in TRUTHS for v in values):
        return np.array([v == "True" for v in values])
    text = np.array(values)
    if exact or not all(NUMBER.fullmatch(v) for v in values):
        return text
    numbers = np.array(values, np.float64)
    if any("e" in v.lower() for v in values) and (numbers == np.round(numbers)).all():
        return text
    return canonical(numbers, text)


def canonical(numbers: Array, otherwise: Array | None = None) -> Array:
    """Whole numbers as integers, however a file holds them; others as they are.

    ``otherwise`` is taken where numbers are too large to be exact.
    """
    if numbers.dtype.kind in "iu":
        fits = not numbers.size or numbers.max() <= np.iinfo(np.int64).max
        return numbers.astype(np.int64) if fits else numbers
    if not (np.abs(numbers) < LARGEST).all():
        return numbers if otherwise is None else otherwise
    whole = (numbers == np.round(numbers)).all()
    return numbers.astype(np.int64) if whole else numbers


def labels_of(values: Array) -> Array:
    """Labels of an array in a file, by the same rule as those of a CSV file.

    Whole numbers are whole numbers, be they 1, 1.0 or "1", so that the classes of a data set do
    not depend on the format of its file.
    """
    if values.dtype.kind in "mM":
        raise ValueError("Labels are times. Write them as text, 2020-01-31 for example.")
    if values.dtype.kind in "iuf" and not missing_rows(values).any():
        return canonical(values)
    return typed(values.tolist()) if all_text(values) else values


def gap_among_numbers(values: Sequence[str]) -> int | None:
    """The first row that says "no value" in a column that otherwise holds numbers."""
    gaps = [row for row, v in enumerate(values) if is_missing_text(v)]
    if not gaps or len(gaps) == len(values):
        return None
    told = (v for v in values if not is_missing_text(v))
    return gaps[0] if all(NUMBER.fullmatch(v) for v in told) else None


def is_missing_text(value: Any) -> bool:
    """Whether a cell of a column of numbers says that there is no value."""
    return value is None or str(value).strip().lower() in MISSING


def write_table(path: Path, columns: Mapping[str, Array], *, for_people: bool = False) -> None:
    """Write columns of equal length as CSV or Parquet, as the name of the file ends.

    ``for_people`` as in :func:`write_csv`.
    """
    check_ending(path, WRITTEN)
    if path.suffix.lower() == ".csv":
        write_csv(path, columns, for_people=for_people)
    else:
        write_parquet(path, columns)


def check_ending(path: Path, endings: Sequence[str]) -> None:
    """Raise if a file to be written ends in a way that says nothing about its form."""
    if path.suffix.lower() not in endings:
        raise ValueError(
            f"Cannot tell how to write {path}: its name must end in {' or '.join(endings)}."
        )


def write_csv(path: Path, columns: Mapping[str, Array], *, for_people: bool = False) -> None:
    """Write columns of equal length, whole or not at all.

    A spreadsheet program runs cells that begin like formulas. ``for_people``: such a cell gets a
    quotation mark in front. Otherwise values are written as they are, so that they are read back
    as they were, and a warning tells of such cells.
    """
    rows: list[tuple[Any, ...]] = list(zip(*(c.tolist() for c in columns.values()), strict=True))
    formulas = [cell for row in rows for cell in row if runs(cell)]
    if formulas and for_people:
        rows = [tuple(map(shown, row)) for row in rows]
    elif formulas:
        warn(
            f"Cells of {path} begin like formulas ({formulas[0]!r} first), which spreadsheet "
            "programs run. Do not open it in one, or write .parquet."
        )
    write_atomically(path, _csv_text(columns, rows).encode())


def csv_text(columns: Mapping[str, Array]) -> str:
    """Columns of equal length as the text of a CSV file, values as they are."""
    return _csv_text(columns, zip(*(c.tolist() for c in columns.values()), strict=True))


def _csv_text(columns: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


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
    numbers = values.dtype.kind in "biuf" or all(isinstance(v, Decimal) for v in values)
    return values.astype(np.float64) if numbers else None


def _is_blank(value: Any) -> bool:
    return value is None or value == "" or check.is_missing(value)


def all_text(values: Array) -> bool:
    """Whether an array holds text only."""
    return values.dtype.kind == "U" or (
        values.dtype.kind == "O" and all(isinstance(v, str) for v in values)
    )
