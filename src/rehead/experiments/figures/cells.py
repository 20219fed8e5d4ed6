"""The cells that a figure shows: which ran, what the paper prints for them, what to say of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rehead.experiments.cache import Cache
from rehead.experiments.cell import Cell
from rehead.experiments.noisy import load_inputs
from rehead.experiments.plans import source_of
from rehead.experiments.profiles import deviations, settings_of
from rehead.experiments.published import published
from rehead.experiments.results import RAN, Result, Results
from rehead.experiments.sources import load_task
from rehead.experiments.tables import cell_of, table_cells
from rehead.experiments.task import Task

Content = Mapping[str, Any]
"""What a figure shows, ready for JSON."""
DATA, METHOD = "cifar10", "cross-entropy"
"""Of the paper's figures."""
MOST_NAMED = 3
"""Experiments that a caption names, of those that did not run."""
RATES = (0.0, 0.2, 0.4, 0.6)
"""Of uniform noise, in the paper's tables and so in figures over the noise rate."""


class NothingToDrawError(ValueError):
    """No cell of a figure ran, or what it needs is not in the cache."""


class Request(NamedTuple):
    """What a figure is collected from.

    Attributes
    ----------
    results : Results
    cache : Cache
        Where features of trained networks are. Nothing is trained for a figure.
    profile : str
    data : str, optional
        The data set in place of the paper's, as for
        :func:`rehead.experiments.tables.table_cells`.
    """

    results: Results
    cache: Cache
    profile: str = "quick"
    data: str | None = None


class Found(NamedTuple):
    """Results of the cells that ran, and what is missing, in words."""

    results: list[Result]
    not_run: list[str]

    @property
    def cells(self) -> list[Cell]:
        """The cells that ran."""
        return [result.cell for result in self.results]


def wanted(request: Request, tables: Sequence[str], choose: Callable[[Cell], bool]) -> list[Cell]:
    """Cells of some tables."""
    cells = [c for t in tables for c in table_cells(t, request.profile, data=request.data)]
    return [cell for cell in cells if choose(cell)]


def uniform_cells(request: Request, network: str) -> list[Cell]:
    """A network without noise and with uniform noise, in every table that has it."""

    def choose(cell: Cell) -> bool:
        noise = cell.noise in ("none", "uniform") and cell.rate in RATES
        return noise and cell.network == network and shows(request, cell)

    return wanted(request, ("1", "2", "8"), choose)


def shows(request: Request, cell: Cell) -> bool:
    """Whether figures show a cell's data: CIFAR-10, or what is asked for in its place."""
    return request.data is not None or cell.data == DATA


def find_results(request: Request, cells: Sequence[Cell]) -> Found:
    """One result for each experiment, whatever table it is from.

    Raises
    ------
    NothingToDrawError
        If none ran.
    """
    results, not_run = [], []
    for same in _experiments(cells):
        found = [r for cell in same if (r := request.results.read(cell)) is not None]
        ran = next((r for r in found if r.status == RAN), None)
        if ran is not None:
            results.append(ran)
        else:
            why = next((f" ({r.status})" for r in found), "")
            not_run.append(f"{same[0].name}{why}")
    if not results:
        raise NothingToDrawError(
            f"None of the {len(not_run)} experiments of this figure ran. {_fix(cells)}"
        )
    return Found(results, not_run)


def load_cached(request: Request, cells: Sequence[Cell]) -> tuple[Cell, Task]:
    """The first of some cells whose features are in the cache. Nothing is trained.

    Raises
    ------
    NothingToDrawError
        If none is there.
    """
    for cell in cells:
        source = source_of(cell)
        if request.cache.has(source.what):
            return cell, load_task(source, request.cache)[0]
    raise NothingToDrawError(
        f"{request.cache.folder} has no features for this figure. {_fix(cells)} A cell whose "
        "result is there is not trained again: with another folder of results, it is."
    )


def class_names(cell: Cell) -> list[str]:
    """Of a cell's data set."""
    return list(load_inputs(settings_of(cell)).class_names)


def printed(cell: Cell, column: str) -> float | None:
    """What the paper prints for a cell, in whatever table, in per cent."""
    same = _anywhere(cell)
    for entry in published().entries:
        if column in entry.accuracy and _anywhere(cell_of(entry)) == same:
            return entry.accuracy[column]
    return None


def caption(text: str, request: Request, cells: Iterable[Cell], not_run: Sequence[str]) -> str:
    """What is seen, how it differs from the paper, and what is missing."""
    differs = [] if request.data is None else [f"{request.data} in place of the paper's data"]
    differs += [d for cell in cells for d in deviations(cell)]
    parts = [text]
    if differs:
        parts.append(f"Other than in the paper: {'; '.join(dict.fromkeys(differs))}.")
    if not_run:
        more = len(not_run) - MOST_NAMED
        named = [*not_run[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
        parts.append(f"Not run: {', '.join(named)}.")
    return " ".join(parts)


def _experiments(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells that differ by their table only, together."""
    same: dict[Cell, list[Cell]] = {}
    for cell in cells:
        same.setdefault(dataclasses.replace(cell, table=""), []).append(cell)
    return list(same.values())


def _anywhere(cell: Cell) -> Cell:
    """The cell without its table, seed and profile."""
    return dataclasses.replace(cell, table="", seed=0, profile="")


def _fix(cells: Sequence[Cell]) -> str:
    if not cells:
        return "No table has such cells: choose other data."
    cell = cells[0]
    return f"Run table {cell.table} of profile {cell.profile!r} first, at least {cell.name}."
