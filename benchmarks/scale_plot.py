"""Seconds and peak memory over samples and classes, as one picture.

It is drawn from a dictionary of numbers, and carries a hash of it: a test can tell whether it goes
with the results.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scale_cells import FITS, Cell, Sizes, flops

from rehead.experiments.cache import digest
from rehead.experiments.figures.style import GREY, LINES, SETTINGS

CONTENT = "Comment"
LOOKS = dict(zip(FITS, LINES, strict=False))


def numbers(results: dict[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Points of every line, by panel and task."""
    found: dict[str, Any] = {}
    for against, shapes in (("samples", sizes.samples), ("classes", sizes.classes)):
        lines = {}
        for task in ("read", *FITS):
            for cold in (False, True):
                points = _points(results, [Cell(task, s, cold=cold) for s in shapes], against)
                if points:
                    lines[f"{task}{', cold' if cold else ''}"] = points
        if lines:
            found[against] = lines
    return found


def _points(results: dict[str, Any], cells: list[Cell], against: str) -> list[list[float]]:
    """Of each cell: how many, seconds, MiB, and G in seconds."""
    points = []
    for cell in cells:
        found = results["cells"].get(cell.name, {"error": ""})
        if "error" not in found:
            g = 0.0 if cell.task == "read" else flops(cell) / found["gflops"] / 1e9
            memory = (found["process"] + found["workers"]) / 2**20
            of = getattr(cell.shape, against)
            points.append([of, *(float(f"{v:.6g}") for v in (found["seconds"], memory, g))])
    return points


def draw(shown: dict[str, Any], path: Path) -> None:
    """Write the picture."""
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(9.5, 7), layout="constrained")
        axes = figure.subplots(2, 2, squeeze=False)
        for column, against in enumerate(("samples", "classes")):
            _seconds(axes[0, column], shown.get(against, {}))
            _memory(axes[1, column], shown.get(against, {}))
            for axis in axes[:, column]:
                axis.set(xscale="log", yscale="log", xlabel=against)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
        figure.savefig(path, dpi=110, metadata={CONTENT: digest(shown), "Software": None})


def _seconds(axis: Axes, lines: dict[str, Any]) -> None:
    axis.set(ylabel="seconds", title="Seconds")
    for name, points in lines.items():
        task, _, cold = name.partition(", ")
        x, seconds, _, g = zip(*points, strict=True)
        if task == "read":
            dash = ":" if cold else "--"
            axis.plot(x, seconds, color=GREY, ls=dash, label=f"reading once{cold and ', cold'}")
        elif cold:
            axis.plot(x, seconds, **LOOKS[task].open, label=f"{task}, cold")
        else:
            axis.plot(x, seconds, **LOOKS[task].filled, label=f"{task}, warm")
            if task == "mcd":
                axis.plot(x, g, color=GREY, lw=1, label="G of Algorithm 1")


def _memory(axis: Axes, lines: dict[str, Any]) -> None:
    axis.set(ylabel="MiB", title="Peak memory")
    for task in FITS:
        if task in lines:
            x, _, memory, _ = zip(*lines[task], strict=True)
            axis.plot(x, memory, **LOOKS[task].filled, label=task)
    axis.set_ylim(bottom=100)  # what is flat shall look flat
