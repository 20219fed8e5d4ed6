"""What can be reproduced, by name: tables, single cells, figures, the theorem, the page."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rehead import _validation as check
from rehead.data import find_dataset
from rehead.experiments.cell import Cell
from rehead.experiments.profiles import PROFILES
from rehead.experiments.tables import ORDER, TABLES, VARIED_TABLES, table_cells, varied_cells

VARIED = {f"table{table}-variations": table for table in VARIED_TABLES}
"""Tables that are taken apart, one change at a time."""
THEOREM, ALL, PAGE, FIGURE = "theorem", "all", "page", "figure"
NEEDED = {
    "1a": ("1", "densenet100"),
    "1b": ("1", "densenet100"),
    "2a": ("1", "resnet34"),
    "2b": ("1", "resnet34"),
    "2c": ("1", "resnet34"),
    "3a": ("6", ""),
    "3b": ("7", ""),
    "4": ("7", ""),
    "5": ("1", ""),
}
"""The table and the network whose cells a figure shows; figure 1c needs none."""
ONE: dict[str, Callable[[Cell], bool]] = {
    "1b": lambda cell: cell.rate == 0.2,
    "3a": lambda cell: cell.labeller == "resnet34",
}
"""Figures that show one cell."""


class Scope(NamedTuple):
    """How much of a table.

    Attributes
    ----------
    profile : str
    data : str, optional
        In place of the paper's data sets.
    seeds : int, optional
    cells : int, optional
        At most so many cells of each table, spread over it.
    """

    profile: str = "quick"
    data: str | None = None
    seeds: int | None = None
    cells: int | None = None


def check_asked(what: str, scope: Scope) -> Scope:
    """The scope with its data set as the package spells it.

    Raises
    ------
    ValueError
        If there is no such thing, profile or data set, or if a part of the scope has no effect.

    Examples
    --------
    >>> from rehead.experiments.asked import Scope, check_asked
    >>> check_asked("table2", Scope(data="Digits")).data
    'digits'
    >>> check_asked("figure2a", Scope(seeds=3))
    Traceback (most recent call last):
    ValueError: seeds has no effect on 'figure2a'. Leave it out: only the first seed is run for it.
    """
    check.check_choice(scope.profile, PROFILES, "profile")
    if what not in (THEOREM, PAGE):
        find_cells(what, scope)
    for name, why in _without_effect(what).items():
        if getattr(scope, name) is not None:
            raise ValueError(f"{name} has no effect on {what!r}. Leave it out: {why}.")
    return scope if scope.data is None else scope._replace(data=find_dataset(scope.data).name)


def _without_effect(what: str) -> dict[str, str]:
    """Fields of a scope that say nothing about what is asked for, and why."""
    if what in (THEOREM, f"{FIGURE}1c"):
        return dict.fromkeys(("data", "seeds", "cells"), "it is simulated")
    if what == PAGE:
        return dict.fromkeys(("data", "seeds", "cells"), "the page shows all that was measured")
    if what.startswith(FIGURE):
        return {"seeds": "only the first seed is run for it"}
    if what in VARIED:
        return dict.fromkeys(("data", "seeds"), "the variations have data and seeds of their own")
    if what != ALL and what not in names():
        return {"cells": "it is one cell"}
    return {}


def names() -> list[str]:
    """Names of tables and sets of cells."""
    return [*(f"table{t}" for t in TABLES), *VARIED]


def find_cells(what: str, scope: Scope) -> list[Cell]:
    """The cells of a table, or one cell by its name.

    Examples
    --------
    >>> from rehead.experiments.asked import Scope, find_cells
    >>> len(find_cells("table7", Scope()))
    4
    >>> find_cells("tabel7", Scope())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: There is no 'tabel7'. Did you mean 'table7' ...
    """
    if what == ALL:
        wanted = [*(f"table{t}" for t in ORDER), *VARIED]
        return [cell for name in wanted for cell in _of_table(name, scope)]
    if what in names():
        return _of_table(what, scope)
    if what.startswith(FIGURE):
        return figure_cells(what.removeprefix(FIGURE), scope)
    every = {cell.name: cell for name in names() for cell in _whole_table(name, scope)}
    if what in every:
        return [every[what]]
    figures = [f"{FIGURE}{name}" for name in (*NEEDED, "1c")]
    raise ValueError(_unknown(what, [*names(), *figures, THEOREM, ALL, PAGE, *every]))


def figure_cells(figure: str, scope: Scope) -> list[Cell]:
    """Cells that a figure is made from: one seed of each."""
    known = {**{name: name for name in NEEDED}, "1c": "1c"}
    if figure not in known:
        raise ValueError(_unknown(f"{FIGURE}{figure}", [f"{FIGURE}{name}" for name in known]))
    if figure == "1c":
        return []
    table, network = NEEDED[figure]
    cells = _whole_table(f"table{table}", scope._replace(seeds=1))
    chosen = [cell for cell in cells if network in ("", cell.network)]
    if figure in ONE:
        chosen = [cell for cell in chosen if ONE[figure](cell)][:1]
    return some(chosen, scope.cells)


def _of_table(name: str, scope: Scope) -> list[Cell]:
    return some(_whole_table(name, scope), scope.cells)


def _whole_table(name: str, scope: Scope) -> list[Cell]:
    if name in VARIED:
        return [] if scope.data is not None else varied_cells(scope.profile, VARIED[name])
    table = name.removeprefix("table")
    return table_cells(table, scope.profile, seeds=scope.seeds, data=scope.data)


def some(cells: Sequence[Cell], n: int | None) -> list[Cell]:
    """At most n of them, spread over all; one is the one in the middle."""
    if n is None or n >= len(cells):
        return list(cells)
    step = len(cells) / n
    return [cells[int((i + 0.5) * step)] for i in range(n)]


def _unknown(what: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(what, known, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return (
        f"There is no {what!r}.{hint} There are {', '.join(names())}, {THEOREM}, {ALL}, {PAGE}, "
        "figures such as figure1a, and each cell by its name: `rehead reproduce table2 --list` "
        "shows them."
    )
