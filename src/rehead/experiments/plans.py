"""What a cell needs: the network or encoder that makes its features, and its ways to predict."""

from __future__ import annotations

from rehead.experiments.cell import Cell
from rehead.experiments.columns.registry import AUTO, LDA, PAPER, ROG, SOFTMAX, TEXT
from rehead.experiments.grid.columns import grid_columns
from rehead.experiments.grid.peers import TABLE as PEERS
from rehead.experiments.grid.peers import columns_beside_peers
from rehead.experiments.grid.sources import grid_source
from rehead.experiments.grid.tasks import PROFILE as GRID
from rehead.experiments.profiles import settings_of
from rehead.experiments.sources import Source, TrainedNetwork


def source_of(cell: Cell) -> Source:
    """What makes the features of a cell. Cells of several tables may share one."""
    return grid_source(cell) if cell.profile == GRID else TrainedNetwork(settings_of(cell))


def columns_of(cell: Cell) -> list[str]:
    """Ways to predict that are measured in a cell."""
    if cell.profile == GRID:
        return columns_beside_peers(cell) if cell.table == PEERS else grid_columns(cell)
    if cell.variation:
        few = [SOFTMAX, "LDA ensemble", "RoG last layer", ROG, "oracle"]
        return [*few, *TEXT] if cell.table == "5" else [*few, LDA, AUTO]
    return [*PAPER, *TEXT] if cell.table == "5" else list(PAPER)
