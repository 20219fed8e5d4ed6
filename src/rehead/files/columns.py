"""Which columns of a table are features. What cannot be one by mistake is refused, with the fix."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

import numpy as np

from rehead._columns import LARGEST
from rehead._typing import Array, NamedFeatures
from rehead._values import first_few, visible
from rehead._warnings import warn
from rehead.files.csvs import INDEX
from rehead.files.tables import Table, is_missing_text, near_names, short_list

INDEX_NAME = re.compile(r"Unnamed: \d+|__index_level_\d+__")
ID_NAME = re.compile(r"(?i:ids?|index|idx|row|.*[_ -]id)|.*[a-z]I[dD]")
LOOKED_AT = 1000
"""Cells that are looked at to tell whether a column is one of numbers."""
LABEL_NAME = re.compile(r"(?i)labels?|targets?")


class Roles(NamedTuple):
    """Columns that are not features, and what they are.

    ``elsewhere`` is the name of a column of labels in another file.
    """

    labels: str | None = None
    ids: str | None = None
    ignored: tuple[str, ...] = ()
    elsewhere: str | None = None

    def left_out(self) -> dict[str, str]:
        """Why columns are left out, by name."""
        why = dict.fromkeys(self.ignored, "ignored")
        if self.ids is not None:
            why[self.ids] = "ids"
        if self.labels is not None:
            why[self.labels] = "labels"
        return why


class Chosen(NamedTuple):
    """Features, in words which columns they are, and the columns that are left out."""

    features: NamedFeatures
    note: str
    left_out: list[str]


def choose_features(table: Table, roles: Roles, known: Sequence[str] | None = None) -> Chosen:
    """The features of a table.

    Parameters
    ----------
    table : Table
    roles : Roles
        What other columns are for.
    known : sequence of str, optional
        Columns that a head was fitted on: these, in this order. Default: all that are left.
    """
    why = roles.left_out()
    table.check_columns(why)
    if known is not None:
        names = list(known)
        _check_known(table, names, why)
        used = {*names, *why}
        unknown = [name for name in table.names if name not in used]
        why |= dict.fromkeys(unknown, "not known to the head")
    else:
        names = [name for name in table.names if name not in why]
        if not names:
            raise ValueError(f"{table.path} holds no features besides {short_list(list(why))}.")
        _refuse_index(table, names)
        _refuse_labels(table, names, roles)
        _refuse_text(table, names)
        _refuse_ids(table, names)
        _warn_of_counts(table, names)
        _warn_of_rounding(table, names)
    values = np.column_stack([_finite(table, name) for name in names])
    note = visible(_note(table, names, why) + _decimal_commas(table, names))
    return Chosen(NamedFeatures(values, names), note, list(why))


def _check_known(table: Table, known: list[str], why: dict[str, str]) -> None:
    missing = [name for name in known if name not in table.columns]
    if missing:
        near = near_names(missing[0], [n for n in table.names if n not in known])
        raise ValueError(
            f"{table.path} lacks columns that the head was fitted on: {first_few(missing)}.{near} "
            f"It has {short_list(table.names)}."
        )
    wanted = [name for name in known if name in why]
    if wanted:
        raise ValueError(
            f"The head was fitted on the column {wanted[0]!r}, which is {why[wanted[0]]} here. Fit "
            "a head without it, or name another column."
        )


def _refuse_index(table: Table, names: list[str]) -> None:
    index = [name for name in names if INDEX_NAME.fullmatch(name)]
    if not index:
        return
    what = "has no name" if index[0] == INDEX else f"is called {index[0]!r}"
    raise ValueError(
        f"A column of {table.path} {what}: probably a pandas index, not a feature. Say "
        f'--ids "{index[0]}" if it names the samples, or --ignore "{index[0]}"; or have pandas '
        "write the table with index=False."
    )


def _refuse_labels(table: Table, names: list[str], roles: Roles) -> None:
    if roles.elsewhere is not None and roles.elsewhere in names:
        raise ValueError(
            f"{table.path} has a column {roles.elsewhere!r} too, which would become a feature. "
            f"Leave it out with --ignore {_quoted(roles.elsewhere)}."
        )
    for name in names:
        if LABEL_NAME.fullmatch(name) and table.numbers(name) is not None:
            warn(
                f"The column {name!r} of {table.path} is used as a feature. If it holds labels, "
                f"leave it out with --ignore {_quoted(name)}."
            )


def _refuse_text(table: Table, names: list[str]) -> None:
    bad = [name for name in names if table.numbers(name) is None]
    text = [name for name in bad if not _mostly_numbers(table, name)]
    if text:
        listed = ",".join(text)
        raise ValueError(
            f"Columns of {table.path} hold no numbers: {first_few(text)}. Leave them out with "
            f"--ignore {_quoted(listed)}, name labels with --labels and ids with --ids, or encode "
            "them as numbers."
        )


def refuse_copies(table: Table, names: Sequence[str], labels: Mapping[str, Array]) -> None:
    """Raise if a feature is labels in other words: each of its values goes with one label.

    ``labels`` are columns of labels by what they are called.
    """
    for name in names:
        numbers = table.numbers(name)
        for what, values in labels.items():
            if numbers is not None and _go_together(numbers, values):
                raise ValueError(
                    f"The column {name!r} of {table.path} would be a feature, and is a copy of "
                    f"{what}. Leave it out with --ignore {_quoted(name)}."
                )


def _go_together(a: Array, b: Array) -> bool:
    """Whether each value of one goes with one value of the other, and most occur several times."""
    if len(a) != len(b):
        return False
    (of_a, codes), (of_b, others) = (np.unique(v, return_inverse=True) for v in (a, b))
    few = 1 < len(of_a) == len(of_b) <= len(a) // 4
    return few and len(np.unique(codes.astype(np.int64) * len(of_b) + others)) == len(of_a)


def _refuse_ids(table: Table, names: list[str]) -> None:
    for name in names:
        numbers = table.numbers(name) if _may_be_ids(table, name) else None
        if numbers is None or len(numbers) < 2 or len(np.unique(numbers)) < len(numbers):
            continue
        if (numbers == np.round(numbers)).all():
            raise ValueError(
                f"The column {name!r} of {table.path} has a different whole number in each "
                f"row: probably ids, not a feature. Say --ids {_quoted(name)} or --ignore "
                f"{_quoted(name)}. If it is a feature, give it another name."
            )


def _may_be_ids(table: Table, name: str) -> bool:
    """By the name of the column, or by zeros in front: 00476 is a code, not a number."""
    values = table.columns[name]
    zeros = not isinstance(values, np.ndarray) and all(re.fullmatch(r"\d{2,}", v) for v in values)
    return bool(ID_NAME.fullmatch(name)) or (zeros and any(v[0] == "0" for v in values))


def _warn_of_counts(table: Table, names: list[str]) -> None:
    for name in names:
        numbers = table.numbers(name)
        if numbers is None or len(numbers) < 3 or not (np.diff(numbers) == 1).all():
            continue
        warn(
            f"The column {name!r} of {table.path} only counts the rows, and is used as a feature. "
            f"If it names the samples, say --ids {_quoted(name)} or --ignore {_quoted(name)}."
        )


def _warn_of_rounding(table: Table, names: list[str]) -> None:
    for name in names:
        numbers = table.numbers(name)
        if numbers is None or not (np.abs(numbers) > LARGEST).any():
            continue
        if np.isfinite(numbers).all() and (numbers == np.round(numbers)).all():
            warn(
                f"The column {name!r} of {table.path} has whole numbers above 2^53, which are "
                f"rounded. If they are ids or times, leave it out with --ignore {_quoted(name)}."
            )


def _finite(table: Table, name: str) -> Array:
    """A column of numbers without gaps; an error names the first bad cell."""
    numbers = table.numbers(name)
    if numbers is not None and np.isfinite(numbers).all():
        return numbers
    cells = table.columns[name]
    if numbers is None:
        found = (i for i, cell in enumerate(cells) if not _is_number(table, cell))
        row = next(found, -1)
    else:
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
    if row < 0:
        raise ValueError(
            f"The column {name!r} of {table.path} holds text that looks like numbers "
            f"({str(cells[0])!r} first). Write it as numbers, or leave it out with --ignore "
            f"{_quoted(name)}."
        )
    cell = cells[row]
    if not is_missing_text(cell):
        what = f"has {str(cell)!r}, which is not a finite number"
    elif all(is_missing_text(c) for c in cells):
        what = "is blank, as are all its cells"
    else:
        what = "is blank" if cell is None or not str(cell) else f"has no value ({str(cell)!r})"
    raise ValueError(
        f"{table.place(row)}: column {name!r} {what}. Put it right, leave the row out, or leave "
        f"the column out with --ignore {_quoted(name)}."
    )


def _mostly_numbers(table: Table, name: str) -> bool:
    """Whether a column is one of numbers, with some cells that are none."""
    told = (cell for cell in table.columns[name] if not is_missing_text(cell))
    cells = list(islice(told, LOOKED_AT))
    good = sum(_is_number(table, cell) for cell in cells)
    return 2 * good >= len(cells)


def _is_number(table: Table, cell: object) -> bool:
    if not isinstance(cell, str):
        return isinstance(cell, (int, float, Decimal, np.number, np.bool_)) and math.isfinite(cell)
    one = Table(table.path, {"": [cell]}, separator=table.separator).numbers("")
    return one is not None and bool(np.isfinite(one).all())


def _decimal_commas(table: Table, names: list[str]) -> str:
    """Say that there are decimal commas; a table that has points as well is not clear."""
    if table.separator == ",":
        return ""
    commas = [name for name in names if table.has_commas(name)]
    if not commas:
        return ""
    points = [name for name in names if table.has_points(name)]
    if points:
        raise ValueError(
            f"{table.path} has decimal commas (column {commas[0]!r}) and points (column "
            f"{points[0]!r}), so it is not clear what its numbers are. Write all with points."
        )
    return " Commas are read as decimal commas."


def _note(table: Table, names: list[str], why: dict[str, str]) -> str:
    plural = "column" if len(names) == 1 else "columns"
    note = f"Features: {len(names)} {plural} of {table.path}: {_some(names)}."
    groups: dict[str, list[str]] = {}
    for name in table.names:
        if name in why:
            groups.setdefault(why[name], []).append(name)
    if groups:
        left = "; ".join(f"{_some(of)} ({reason})" for reason, of in groups.items())
        note += f" Left out: {left}."
    return note


def _some(names: list[str]) -> str:
    if len(names) <= 6:
        return ", ".join(names)
    return f"{', '.join(names[:3])} ... {names[-1]}"


def _quoted(text: str) -> str:
    """As a shell needs it."""
    return text if re.fullmatch(r"[\w.,-]+", text) else f'"{text}"'
