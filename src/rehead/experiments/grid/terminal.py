"""The accuracy grid on the terminal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from rehead.experiments.columns.registry import AUTO
from rehead.experiments.grid.columns import CLEANLAB, ORACLE
from rehead.experiments.grid.summary import Grid, Group
from rehead.experiments.grid.targets import targets
from rehead.experiments.grid.tasks import GridTask

FIGURES: dict[str, Callable[[Group], str]] = {
    "AUROC": lambda g: f"{g.auto('auroc').mean():.3f}",
    "cleanlab's": lambda g: f"{g.cleanlab.mean():.3f}",
    "noise, %": lambda g: f"{100 * g.noise_rate.mean():.1f}",
    "estimated": lambda g: f"{100 * g.auto('noise_rate').mean():.1f}",
    "calibration": lambda g: f"{g.auto('calibration').mean():.3f}",
}
"""What is told about the training labels."""
COMPARED = ("AUROC", "estimated")


def show(grid: Grid, console: Console) -> None:
    """Print tables and targets."""
    for task in grid.tasks:
        console.print(table_of(task, grid.of(task)))
    for target in targets(grid):
        mark = "[green]reached[/]" if target.reached else "[red]missed [/]"
        console.print(f"{mark}  {target.text}: {target.measured}")


def show_list(grid: Grid, console: Console) -> None:
    """Print tables of another list of tasks: accuracies, and how well labels are judged."""
    for task in grid.tasks:
        groups = grid.of(task)
        console.print(table_of(task, groups))
        noisy = [group for group in groups if group.cell.noise != "none"]
        if noisy:
            console.print(auroc_table(task, noisy))


def auroc_table(task: GridTask, groups: list[Group]) -> Table:
    """One row for each way to predict that judges labels: AUROC of wrong labels."""
    table = Table(f"{task.name}: AUROC", *[group.noise for group in groups])
    for column in groups[0].columns:
        means = [group.measured(column, "auroc").mean() for group in groups]
        if not np.isnan(means).all():
            table.add_row(column, *[f"{mean:.3f}" for mean in means])
    return table


def table_of(task: GridTask, groups: list[Group]) -> Table:
    """One row for each way to predict, one column for each noise."""
    table = Table(task.name, *[group.noise for group in groups])
    for column in groups[0].columns:
        last = column in (CLEANLAB[-1], ORACLE)
        table.add_row(column, *[_mean(group, column) for group in groups], end_section=last)
    for name, text in FIGURES.items():
        table.add_row(name, *[text(group) for group in groups])
    return table


def _mean(group: Group, column: str) -> str:
    values = group.accuracy(column)
    spread = f" ±{values.std(ddof=1):.1f}" if len(values) > 1 else ""
    bold = "[bold]" if column in (group.best, AUTO) else ""
    return f"{bold}{values.mean():.1f}{spread}"


def beside(now: Grid, kept: Grid, console: Console) -> None:
    """Print what was measured now, and in brackets what was kept."""
    earlier = {group.name: group for group in kept.groups}
    for task in now.tasks:
        groups = now.of(task)
        table = Table(f"{task.name}: now (kept)", *[group.noise for group in groups])
        for row in (*groups[0].columns, *COMPARED):
            table.add_row(row, *[_pair(g, earlier.get(g.name), row) for g in groups])
        console.print(table)


def _pair(now: Group, kept: Group | None, row: str) -> str:
    def text(group: Group) -> str:
        return FIGURES[row](group) if row in FIGURES else f"{group.accuracy(row).mean():.1f}"

    return text(now) if kept is None else f"{text(now)} ({text(kept)})"
