"""Ways to predict that are measured in the accuracy grid, by their names in the registry."""

from __future__ import annotations

from rehead.experiments.cell import Cell
from rehead.experiments.columns.classic import BOOSTING, KNN, LDA_SHRUNK, LOGISTIC, NEAREST
from rehead.experiments.columns.peers import PEERS
from rehead.experiments.columns.registry import AUTO, ROG, SOFTMAX
from rehead.experiments.columns.told import TOLD
from rehead.experiments.grid.tasks import MANY, PEOPLE, TABULAR, GridTask, task_of

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
ALONE = (LOGISTIC, NEAREST, BOOSTING)
AFTER_CLEANLAB = ("cleanlab, LR", f"cleanlab, {NEAREST}", f"cleanlab, {BOOSTING}")
"""What people take for tables, on the labels as they are and after cleanlab."""
LISTED: dict[str, tuple[str, ...]] = {
    # Shrunk LDA would need columns of one scale, which tables do not have; so does the oracle,
    # which is there to be looked at, not to be reached.
    TABULAR: (*ALONE, *AFTER_CLEANLAB, AUTO, ORACLE),
    # Boosting grows a tree for each class in each round: with 200 classes it takes hours.
    MANY: (
        LOGISTIC,
        NEAREST,
        *AFTER_CLEANLAB[:2],
        LDA_SHRUNK,
        "cleanlab, LDA",
        KNN,
        ROG,
        "RoG authors",
        "posterior",
        "agreement",
        "mixture",
        *PEERS,
        AUTO,
        ORACLE,
    ),
}
"""Of the other lists of tasks; with one layer, columns of several layers would be doubles."""


BESIDE_PEOPLE = tuple(name for name in RIVALS if "equal" not in name) + tuple(PEERS)
"""Beside the default where noise depends on the sample."""


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
    if cell.table in LISTED:
        return list(LISTED[cell.table])
    if cell.table == PEOPLE:
        return [baseline(task_of(cell)), *BESIDE_PEOPLE, AUTO, ORACLE]
    told = TOLD if cell.noise == "semantic" else ()
    return [baseline(task_of(cell)), *RIVALS, AUTO, ORACLE, *told]
