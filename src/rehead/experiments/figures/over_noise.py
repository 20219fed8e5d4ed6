"""Figures 1a and 2a: test accuracy over the noise rate, for several ways to predict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rehead._typing import Array
from rehead.experiments.cell import Cell
from rehead.experiments.figures import style
from rehead.experiments.figures.cells import (
    RATES,
    Content,
    Found,
    NothingToDrawError,
    Request,
    caption,
    find_results,
    printed,
    uniform_cells,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LABELS = {
    "softmax": "softmax",
    "LDA": "LDA, sample estimates",
    "RoG last layer": "LDA, MCD (RoG)",
    "identity": "identity covariance, means",
    "LTS": "identity covariance, LTS",
}
"""Ways to predict, as a legend names them."""
ALIKE = {
    "softmax": style.LINES[0],
    "RoG last layer": style.LINES[1],
    "LDA": style.LINES[2],
    "identity": style.LINES[3],
    "LTS": style.LINES[4],
}
"""The same line for the same way to predict, in both figures."""
SOFTMAX = "softmax"
STEP, GROUP = 1.8, 14.0
"""Between markers of the paper, and of a group of bars, in per cent of noise."""
HATCHES = {"RoG last layer": "", "LDA": "///", "identity": "...", "LTS": "xxx"}
"""Of bars."""
FIGURE_1A = ("softmax", "LDA", "RoG last layer")
FIGURE_2A = ("softmax", "identity", "LTS", "LDA", "RoG last layer")


def collect(request: Request, network: str, columns: Sequence[str]) -> dict[str, Any]:
    """Accuracy of each way to predict, at each rate, for each seed; and what the paper prints."""
    cells = uniform_cells(request, network)
    found = find_results(request, cells)
    lines = [_line(found, cells, column) for column in columns]
    if not any(values for line in lines for values in line["accuracy"]):
        raise NothingToDrawError(
            f"{', '.join(columns)}: none was measured in {found.cells[0].name}. Measure them there."
        )
    missing = [*found.not_run, *_unmeasured(found, columns)]
    text = (
        f"Test accuracy of {network} on {found.cells[0].data} with uniform noise: softmax, and "
        "generative classifiers of the penultimate layer. Left: accuracy. Right: the gain over "
        "softmax; bars are in the order of the legend."
    )
    if any(len(values) > 1 for line in lines for values in line["accuracy"]):
        text += " Means over the seeds, and their range."
    if _has_paper(lines):
        text += " Open markers: printed in the paper."
    return {
        "caption": caption(text, request, found.cells, missing),
        "not_run": missing,
        "network": network,
        "data": found.cells[0].data,
        "rates": list(RATES),
        "lines": lines,
    }


def _line(found: Found, cells: Sequence[Cell], column: str) -> dict[str, Any]:
    accuracy: list[list[float]] = [[] for _ in RATES]
    for result in found.results:
        if column in result.columns:
            accuracy[RATES.index(result.cell.rate)].append(round(result.accuracy(column), 2))
    paper: list[float | None] = [None for _ in RATES]
    for cell in cells:
        paper[RATES.index(cell.rate)] = printed(cell, column)
    return {"column": column, "label": LABELS[column], "accuracy": accuracy, "paper": paper}


def _has_paper(lines: Sequence[Content]) -> bool:
    return any(value is not None for line in lines for value in line["paper"])


def _unmeasured(found: Found, columns: Sequence[str]) -> list[str]:
    """Ways to predict that are missing in cells that ran."""
    return [
        f"{column} in {result.cell.name}"
        for result in found.results
        for column in columns
        if column not in result.columns
    ]


def draw(content: Content, figure: Canvas) -> None:
    """On the left accuracy, on the right what is gained over softmax: what the left hides.

    Means, with the range of the seeds; what the paper prints as open markers.
    """
    left, right = figure.subplots(1, 2)
    rates = 100 * np.array(content["rates"])
    _draw_accuracy(left, content["lines"], rates)
    _draw_gains(right, content["lines"], rates)
    for axes in (left, right):
        axes.set_xticks(rates)
        axes.set_xlabel("uniform noise, % of training labels")
    if _has_paper(content["lines"]):
        left.plot([], [], label=style.PAPER, **style.Line(style.GREY, "o", "none").open)
    figure.suptitle(f"{style.said(content['network'])}, {style.said(content['data'])}", size=10)
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center")


def _draw_accuracy(axes: Axes, lines: Sequence[Content], rates: Array) -> None:
    for line in lines:
        look = ALIKE[line["column"]]
        seeds = [np.array(values) if values else np.array([np.nan]) for values in line["accuracy"]]
        axes.plot(rates, means(line), label=line["label"], **look.filled)
        axes.vlines(rates, [s.min() for s in seeds], [s.max() for s in seeds], color=look.colour)
    printed_lines = [line for line in lines if _has_paper([line])]
    for line, shift in zip(printed_lines, _side_by_side(len(printed_lines), STEP), strict=True):
        paper = np.array(line["paper"], float)
        axes.plot(rates + shift, paper, gid=_gid("paper", line), **ALIKE[line["column"]].open)
    axes.set_ylabel("test accuracy, %")


def _draw_gains(axes: Axes, lines: Sequence[Content], rates: Array) -> None:
    softmax = next(line for line in lines if line["column"] == SOFTMAX)
    others = [line for line in lines if line is not softmax]
    width = GROUP / len(others)
    for line, shift in zip(others, _side_by_side(len(others), width), strict=True):
        look = ALIKE[line["column"]]
        places, gain = rates + shift, means(line) - means(softmax)
        hatch = HATCHES[line["column"]]
        bars = axes.bar(places, gain, 0.9 * width, color=look.colour, hatch=hatch, ec="white", lw=0)
        bars.set_label(_gid("gain", line))
        least, most = _gain_range(line, softmax)
        axes.vlines(places, least, most, color="black", lw=1, gid=_gid("gain-range", line))
        paper = np.array(line["paper"], float) - np.array(softmax["paper"], float)
        axes.plot(places, paper, gid=_gid("paper-gain", line), **look.open)
    axes.axhline(0, color=ALIKE[SOFTMAX].colour, lw=1, zorder=1)
    axes.set_ylabel("gain over softmax, points")


def _gain_range(line: Content, softmax: Content) -> tuple[Array, Array]:
    """Smallest and largest gain of a seed; NaN where there are fewer than two in both lines."""
    pairs = zip(line["accuracy"], softmax["accuracy"], strict=True)
    gains = [
        np.subtract(ours, theirs) if len(ours) == len(theirs) > 1 else np.array([np.nan])
        for ours, theirs in pairs
    ]
    return np.array([g.min() for g in gains]), np.array([g.max() for g in gains])


def means(line: Content) -> Array:
    """Over the seeds at each rate; NaN where there are none."""
    return np.array([np.mean(values) if values else np.nan for values in line["accuracy"]])


def _side_by_side(n: int, step: float) -> list[float]:
    """Where markers of several lines stand: without noise, their numbers are all but equal."""
    return [step * (i - (n - 1) / 2) for i in range(n)]


def _gid(what: str, line: Content) -> str:
    return f"{what}-{line['column'].replace(' ', '-')}"


collect_1a = partial(collect, network="densenet100", columns=FIGURE_1A)
collect_2a = partial(collect, network="resnet34", columns=FIGURE_2A)
