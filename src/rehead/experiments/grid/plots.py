"""The accuracy grid as two pictures.

Each picture is drawn from a dictionary of numbers, and carries a hash of it, so that a test can
tell whether it goes with the results.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rehead._typing import Array
from rehead.experiments.cache import digest
from rehead.experiments.columns.registry import AUTO, ROG, SOFTMAX
from rehead.experiments.grid.columns import CLEANLAB, ORACLE, baseline
from rehead.experiments.grid.summary import Grid, Group
from rehead.experiments.grid.tasks import TASKS

LINES = {
    SOFTMAX: ("#9a9a9a", "-", "softmax / logistic regression"),
    ROG: ("#c8741b", "-", "RoG (the paper)"),
    CLEANLAB[0]: ("#7b52ab", "--", "LDA after cleanlab"),
    AUTO: ("#0b6e4f", "-", "auto (the default)"),
    ORACLE: ("#0b6e4f", ":", "oracle: truly clean samples only"),
}
"""Colour, style and words of each line. Where there is no softmax, its line is the baseline's."""
KINDS = ("uniform", "flip")
MARKERS = {"none": "o", "uniform": "o", "flip": "s", "semantic": "x", "open-set": "^"}
COLOURS: dict[str, Any] = dict(zip(TASKS, colormaps["tab10"].colors, strict=False))  # type: ignore[attr-defined]
GREY = "#bbbbbb"
DIGITS = 6
"""Digits of plotted numbers: another machine may round the last one differently."""
CONTENT = "Comment"
"""Where a picture keeps the hash of its numbers."""
Numbers = dict[str, Any]


def accuracy_numbers(grid: Grid) -> Numbers:
    """Rates, means and spreads of each line, by task and kind of noise."""
    return {
        task.name: {
            kind: {
                line: _line([g for g in grid.of(task) if g.cell.noise in ("none", kind)], line)
                for line in LINES
            }
            for kind in KINDS
        }
        for task in grid.tasks
    }


def _line(groups: list[Group], line: str) -> list[list[float]]:
    values = [g.accuracy(baseline(g.task) if line == SOFTMAX else line) for g in groups]
    rows = (
        np.array([100 * g.cell.rate for g in groups]),
        np.array([v.mean() for v in values]),
        np.array([v.std(ddof=min(1, len(v) - 1)) for v in values]),
    )
    return [np.round(row, DIGITS).tolist() for row in rows]


def audit_numbers(grid: Grid) -> Numbers:
    """Areas under the curve (cleanlab's, ours) and shares of wrong labels (true, estimated)."""
    return {g.name: _point(g) for g in grid.groups}


def _point(group: Group) -> Numbers:
    def means(*figures: Array) -> list[float]:
        return [round(float(figure.mean()), DIGITS) for figure in figures]

    auroc = [] if group.cell.noise == "none" else means(group.cleanlab, group.auto("auroc"))
    share = means(100 * group.noise_rate, 100 * group.auto("noise_rate"))
    return {"task": group.task.name, "kind": group.cell.noise, "auroc": auroc, "share": share}


def accuracy_plot(numbers: Numbers, path: Path) -> None:
    """Accuracy over the noise rate: uniform above, flip below, a column for each task."""
    figure = Figure(figsize=(3.1 * len(numbers), 6.2))
    axes = figure.subplots(2, len(numbers), squeeze=False, sharex="row")
    for column, (task, kinds) in zip(axes.T, numbers.items(), strict=True):
        for axis, (kind, lines) in zip(column, kinds.items(), strict=True):
            _draw_lines(axis, kind, lines)
        column[0].set_title(TASKS[task].title, fontsize=10)
    for axis in axes[:, 0]:
        axis.set_ylabel("test accuracy, %")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=len(LINES), frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    _save(figure, path, numbers)


def _draw_lines(axis: Axes, kind: str, lines: Numbers) -> None:
    for name, (rates, means, spread) in lines.items():
        colour, style, label = LINES[name]
        width = 2.4 if name == AUTO else 1.4
        axis.errorbar(
            rates, means, spread, color=colour, ls=style, lw=width, label=label, marker="."
        )
    axis.set_xlabel(f"{kind} noise, %")
    _tidy(axis)


def audit_plot(numbers: Numbers, path: Path) -> None:
    """How well wrong labels are found and counted."""
    figure = Figure(figsize=(10, 4.6))
    left, right = figure.subplots(1, 2)
    for point in numbers.values():
        marker, colour = MARKERS[point["kind"]], COLOURS[point["task"]]
        if point["auroc"]:
            left.scatter(*point["auroc"], color=colour, marker=marker, alpha=0.85)
        right.scatter(*point["share"], color=colour, marker=marker, alpha=0.85)
    left.plot([0.5, 1], [0.5, 1], color=GREY, lw=1, zorder=0)
    left.set(xlabel="cleanlab, same features", ylabel="auto", title="AUROC of wrong labels")
    right.plot([0, 70], [0, 70], color=GREY, lw=1, zorder=0)
    right.set(xlabel="true, %", ylabel="estimated, %", title="Share of wrong labels")
    for task in dict.fromkeys(point["task"] for point in numbers.values()):
        left.scatter([], [], color=COLOURS[task], label=TASKS[task].title)
    for kind, marker in MARKERS.items():
        if kind != "none":
            right.scatter([], [], color="#666666", marker=marker, label=kind)
    for axis in (left, right):
        axis.legend(frameon=False, fontsize=8)
        _tidy(axis)
    figure.tight_layout()
    _save(figure, path, numbers)


def _tidy(axis: Axes) -> None:
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _save(figure: Figure, path: Path, numbers: Numbers) -> None:
    figure.savefig(path, dpi=110, metadata={CONTENT: digest(numbers)})
