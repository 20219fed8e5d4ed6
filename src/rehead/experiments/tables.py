"""The paper's tables as lists of cells."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rehead import _validation as check
from rehead.data import find_dataset
from rehead.experiments.cell import Cell
from rehead.experiments.profiles import TEXT
from rehead.experiments.published import Entry, published
from rehead.experiments.variations import VARIATIONS

TABLES = tuple("12345678")
ORDER = tuple("52187436")
"""In which a sweep of all tables goes: what is cheap and shared first."""
SEEDS = {"1": 3, "8": 3, "5": 5}
"""How many seeds the quick profile has; 1 elsewhere."""
VARIED_NOISES = ("none", 0.0), ("uniform", 0.2), ("uniform", 0.4), ("uniform", 0.6)
"""Kinds and rates of noise of the cells of table 5 that are varied."""
VARIED_SEEDS = 2
VARIED_TABLES = ("1", "3", "5", "6")
"""Tables that are taken apart."""
VECTORS = (*TEXT, "reuters8_tfidf")
"""Data sets that networks for pictures cannot take; of the digits there are pictures."""
MANY_CLASSES = (("none", 0.0), ("uniform", 0.4), ("flip", 0.4))


def table_cells(
    table: str, profile: str = "quick", *, seeds: int | None = None, data: str | None = None
) -> list[Cell]:
    """The cells of a table, in the order of the paper.

    Parameters
    ----------
    table : str
        "1" to "8".
    profile : str
    seeds : int, optional
        How many; by default what the profile has.
    data : str, optional
        Run all cells on this data set in place of the paper's: "digits" needs no files.

    Examples
    --------
    >>> from rehead.experiments.tables import table_cells
    >>> len(table_cells("2")), len(table_cells("1")), len(table_cells("2", data="digits"))
    (39, 24, 12)
    """
    check.check_choice(table, TABLES, "table")
    if seeds is not None and seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds!r}.")
    n = seeds or (SEEDS.get(table, 1) if profile == "quick" else 1)
    entries = [cell_of(entry, profile) for entry in published().of(table)]
    first = entries if data is not None else [*entries, *stand_ins(table, profile)]
    if data is not None:
        name = find_dataset(data).name
        first = list(dict.fromkeys(_on(cell, name) for cell in first))
    return [dataclasses.replace(cell, seed=s) for cell in first for s in range(n)]


def cell_of(entry: Entry, profile: str = "quick") -> Cell:
    """The cell of a printed entry."""
    return Cell(
        table=entry.table,
        network=entry.network,
        data=entry.data,
        noise=entry.noise,
        rate=entry.rate,
        method=entry.method,
        profile=profile,
        labeller=entry.labeller,
        source=entry.source,
    )


def stand_ins(table: str, profile: str) -> list[Cell]:
    """Cells with Tiny ImageNet where the paper's data is hard to get."""
    if table == "7":
        place = cell_of(published().of("7")[0], profile)
        return [dataclasses.replace(place, source="tinyimagenet32")]
    if table == "2":
        return [
            Cell("2", "resnet34", "tinyimagenet32", noise, rate, profile=profile)
            for noise, rate in MANY_CLASSES
        ]
    return []


def varied_cells(profile: str = "quick", table: str = "5") -> list[Cell]:
    """Cells of a table with one thing changed at a time."""
    check.check_choice(table, VARIED_TABLES, "table")
    chosen = {name: v for name, v in VARIATIONS.items() if table in v.tables}
    if table == "1":
        return [
            Cell("1", network, "cifar10", "uniform", 0.4, profile=profile, variation=name)
            for name in chosen
            for network in ("resnet34", "densenet100")
        ]
    if table == "3":  # what D2L adds to plain training
        plain = Cell("3", "resnet44-wide", "cifar10", "uniform", 0.4, profile=profile)
        return [
            dataclasses.replace(plain, method=method, variation=name)
            for name in chosen
            for method in ("cross-entropy", "d2l")
        ]
    if table == "6":
        return [
            dataclasses.replace(cell, variation=name)
            for name, v in chosen.items()
            for cell in table_cells("6", profile)
            if (cell.data, cell.method) == ("cifar10", v.method)
        ]
    return [
        Cell("5", "fcn", data, noise, rate, v.method, seed, profile, variation=name)
        for name, v in chosen.items()
        for data in ("reuters8", "twitter_pos")
        if name != "tf-idf" or data == "reuters8"
        for noise, rate in VARIED_NOISES
        if noise != "none" or name != "with-true-class"
        for seed in range(VARIED_SEEDS)
    ]


def all_cells(profile: str = "quick", tables: Sequence[str] = ORDER) -> list[Cell]:
    """The cells of all tables, in the order of a sweep."""
    cells = [cell for table in tables for cell in table_cells(table, profile)]
    return [*cells, *(cell for table in VARIED_TABLES for cell in varied_cells(profile, table))]


def _on(cell: Cell, data: str) -> Cell:
    """The same cell on another data set, with an open-set source that goes with it."""
    if data == "digits" and cell.network != "fcn":
        data = "digits32"
    if data in VECTORS and cell.network != "fcn":
        raise ValueError(
            f"Table {cell.table} needs pictures, and {data} has none. Choose other data, or run "
            "table 5."
        )
    # What a labeller gets wrong on other data is not what the paper reports.
    elsewhere = cell.noise == "semantic" and cell.data != data
    return dataclasses.replace(cell, data=data, source="", rate=0.0 if elsewhere else cell.rate)
