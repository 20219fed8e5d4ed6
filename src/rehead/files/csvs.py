"""CSV as programs and offices write it: commas or semicolons, marks at the start, blank lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rehead import _validation as check

SEPARATORS = (",", ";", "\t")
LONGEST = 100_000
"""This much of a line shows what separates its values."""
INDEX = "Unnamed: 0"
"""What pandas calls a first column without a name, which is an index that it wrote."""


class Parsed(NamedTuple):
    """Columns of text by name, the line that each row begins on, and what separates values."""

    columns: dict[str, Sequence[str]]
    lines: list[int]
    separator: str


def parse_csv(path: Path) -> Parsed:
    """Columns by the names in the first line; lines without a value are passed over."""
    text = _decoded(path)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ValueError(
            f"Line {line} of {path} holds a NUL character: it is not text, or UTF-16 that does not "
            "say so. Save it as CSV UTF-8."
        )
    skip = 0
    told = re.match(r"sep=(.)(\r\n|\n|\r)", text)  # Excel's way to say it
    if told:
        text, skip = text[told.end() :], 1
    separator = told.group(1) if told else _separator(text)
    rows, lines = _rows(path, text, separator)
    if len(rows) < 2:
        raise ValueError(f"{path} holds no rows. The first line must name the columns.")
    header, body = rows[0], rows[1:]
    for line, row in zip(lines[1:], body, strict=True):
        if len(row) != len(header):
            raise ValueError(
                f"Line {line + skip} of {path} has {len(row)} values, the header {len(header)}."
            )
    columns = list(zip(*body, strict=True))
    while len(header) > 1 and not header[-1] and not any(columns[-1]):  # separators at line ends
        header, columns = header[:-1], columns[:-1]
    names = _names(path, header)
    return Parsed(dict(zip(names, columns, strict=True)), [n + skip for n in lines[1:]], separator)


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{path} is not UTF-8 text (line {line}). Save it as CSV UTF-8, or convert it: "
            f"iconv -f latin1 -t utf-8 {path} > other.csv"
        ) from None


def _separator(text: str) -> str:
    """What separates the names in the first line; a comma where there is one name only.

    Names may hold commas themselves, so a separator counts first by making as many values of the
    second line.
    """
    lines = [line[:LONGEST].rstrip("\r\n") for line in islice(io.StringIO(text, newline=""), 2)]

    def fits(separator: str) -> tuple[bool, int]:
        counts = [len(next(csv.reader([line], delimiter=separator), [])) for line in lines]
        return counts[0] > 1 and counts[0] == counts[-1], counts[0]

    return max(SEPARATORS, key=fits) if lines else SEPARATORS[0]


def _rows(path: Path, text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """Rows that hold anything, without blanks around values, and the lines they begin on."""
    # Strict, since a quotation mark that is not closed would swallow the rows up to the next.
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=separator != "\t",
        strict=True,
    )
    rows: list[list[str]] = []
    lines, begins = [], 1
    try:
        for row in reader:
            rows.append([value.strip() for value in row])
            lines.append(begins)
            begins = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"Line {begins} of {path} is not CSV: {error}. Perhaps a quotation mark is not closed; "
            'one within a value is written twice, "".'
        ) from error
    while rows and not any(rows[-1]):
        rows.pop()
    if rows and len(rows[0]) == 1:  # a blank line in the midst is a value that is missing
        rows = [row or [""] for row in rows]
    kept = [i for i, row in enumerate(rows) if row]
    return [rows[i] for i in kept], [lines[i] for i in kept]


def _names(path: Path, header: list[str]) -> list[str]:
    names = [INDEX if i == 0 and not name else name for i, name in enumerate(header)]
    nameless = [i + 1 for i, name in enumerate(names) if not name]
    if nameless:
        raise ValueError(
            f"Column {nameless[0]} of {path} has no name. The first line must name the columns."
        )
    if all(_is_number(name) for name in names) and not all(n.isdigit() for n in names):
        raise ValueError(
            f"The first line of {path} holds numbers ({check.first_few(names)}). It must name the "
            "columns."
        )
    check_distinct(path, names)
    return names


def check_distinct(path: Path, names: Sequence[str]) -> None:
    """Raise if columns share a name."""
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(
            f"{path} has several columns called {check.first_few(twice)}. Give each column a name "
            "of its own."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
