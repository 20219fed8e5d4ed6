"""Peers side by side: methods of others on every task of the grid, and the default beside them.

These cells are apart from the rest of the grid, so that everything in one of them was measured on
the same network with the same version.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from rehead.experiments.cell import Cell
from rehead.experiments.columns.classic import KNN, LDA_SHRUNK, first_layer
from rehead.experiments.columns.peers import PEERS, peer_columns
from rehead.experiments.columns.registry import AUTO, ROG
from rehead.experiments.grid.columns import CLEANLAB, ORACLE, baseline
from rehead.experiments.grid.tasks import TASKS, GridTask, grid_cells, task_of
from rehead.experiments.results import Measurement, Results

TABLE = "peers"
FIRST = tuple(peer_columns(first_layer, ", first"))
"""Peers on the layer next to the input, which has memorised least."""


def cells_of_peers(tasks: Sequence[str] = tuple(TASKS)) -> list[Cell]:
    """Seed 0 of some tasks, under every noise.

    Examples
    --------
    >>> from rehead.experiments.grid.peers import cells_of_peers
    >>> len(cells_of_peers()), cells_of_peers()[1].name
    (44, 'peers-digits-mlp-uniform20-cross-entropy-0')
    """
    return [replace(cell, table=TABLE) for cell in grid_cells(tasks, [0])]


def columns_beside_peers(cell: Cell) -> list[str]:
    """Ways to predict in such a cell; frozen features are one layer, the first and the last."""
    task = task_of(cell)
    peers = [*PEERS] if task.frozen else [*PEERS, *FIRST]
    return [baseline(task), LDA_SHRUNK, ROG, KNN, *CLEANLAB, *peers, AUTO, ORACLE]


class Standing(NamedTuple):
    """What every way to predict gave on a task under a noise."""

    task: GridTask
    cell: Cell
    found: dict[str, Measurement]

    def best(self, name: str) -> Measurement | None:
        """The better one of a peer's two layers, by test accuracy: a favour to the peer."""
        both = [self.found[n] for n in (name, f"{name}, first") if n in self.found]
        return max(both, key=lambda m: m.accuracy, default=None)


def read_standings(results: Results) -> list[Standing]:
    """All that were measured."""
    return [
        Standing(task_of(cell), cell, result.columns)
        for cell in cells_of_peers()
        if (result := results.read(cell)) is not None and result.measurements
    ]


SHOWN = (LDA_SHRUNK, KNN, *CLEANLAB, *PEERS, AUTO, ORACLE)
FIGURES = {
    "accuracy, %": ("accuracy", 100, 1),
    "AUROC of wrong labels": ("auroc", 1, 3),
    "F1 at the true budget, %": ("f1", 100, 1),
    "wrong labels missed at the true budget, %": ("false_negatives", 100, 1),
}
"""What is shown: the name of the measurement, the unit, digits."""


def standing_rows(standings: Sequence[Standing], figure: str) -> list[list[str]]:
    """A row for each task and noise; the best one that is not the oracle is bold."""
    name, unit, digits = FIGURES[figure]
    rows = []
    for s in standings:
        values = [_value(s, column, name) for column in SHOWN]
        if all(math.isnan(v) for v in values):
            continue
        rivals = [v for v, c in zip(values, SHOWN, strict=True) if c != ORACLE and v == v]
        best = min(rivals) if name == "false_negatives" else max(rivals)
        texts = [
            ""
            if math.isnan(v)
            else f"{unit * v:.{digits}f}"
            if v != best or c == ORACLE
            else f"**{unit * v:.{digits}f}**"
            for v, c in zip(values, SHOWN, strict=True)
        ]
        noise = s.cell.noise if not s.cell.rate else f"{s.cell.noise} {s.cell.rate:.0%}"
        rows.append([s.task.title, noise, *texts])
    return rows


def _value(standing: Standing, column: str, name: str) -> float:
    found = standing.best(column)
    value = None if found is None else getattr(found, name)
    return math.nan if value is None else float(value)
