"""Ways to predict that are measured in the accuracy grid, by their names in the registry."""

from __future__ import annotations

from rehead.experiments.cell import Cell
from rehead.experiments.columns.classic import KNN, LDA_SHRUNK, LOGISTIC
from rehead.experiments.columns.registry import AUTO, ROG, SOFTMAX
from rehead.experiments.grid.tasks import GridTask, task_of

ORACLE = "oracle"
CLEANLAB = ("cleanlab, LDA", "cleanlab, LR")
RIVALS = (
    LDA_SHRUNK,
    "RoG last layer",
    ROG,
    "RoG authors",
    KNN,
    *CLEANLAB,
    f"{LDA_SHRUNK}, first",
    "cleanlab, LDA, first",
    f"{LDA_SHRUNK}, equal",
    "posterior",
    "agreement",
    "mixture",
    "anchored",
    "anchored, stacked",
    "anchored, first",
)

"""All but the baseline, the default and the oracle."""


def baseline(task: GridTask) -> str:
    """The network itself; frozen features have none, and logistic regression stands for it."""
    return LOGISTIC if task.frozen else SOFTMAX


def grid_columns(cell: Cell) -> list[str]:
    """Ways to predict that are measured in a cell of the grid.

    Examples
    --------
    >>> from rehead.experiments.grid.columns import grid_columns
    >>> from rehead.experiments.grid.tasks import grid_cells
    >>> columns = grid_columns(grid_cells(["reuters8-frozen"])[0])
    >>> len(columns), columns[0]
    (19, 'logistic regression')
    """
    return [baseline(task_of(cell)), *RIVALS, AUTO, ORACLE]
