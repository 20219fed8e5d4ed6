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
STEP = 1.8
"""Between markers of the paper, in per cent of noise."""
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
        "generative classifiers of the penultimate layer."
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
    """Lines of means with the range of the seeds; what the paper prints as open markers."""
    axes = figure.subplots()
    rates = 100 * np.array(content["rates"])
    for line in content["lines"]:
        look = ALIKE[line["column"]]
        seeds = [np.array(values) if values else np.array([np.nan]) for values in line["accuracy"]]
        mean = np.array([s.mean() for s in seeds])
        axes.plot(rates, mean, label=line["label"], **look.filled)
        axes.vlines(rates, [s.min() for s in seeds], [s.max() for s in seeds], color=look.colour)
    _draw_paper(axes, [line for line in content["lines"] if _has_paper([line])], rates)
    _name_axes(axes, content, rates)


def _draw_paper(axes: Axes, lines: Sequence[Content], rates: Array) -> None:
    """Side by side: without noise the numbers are all but equal."""
    for i, line in enumerate(lines):
        places = rates + STEP * (i - (len(lines) - 1) / 2)
        gid = f"paper-{line['column'].replace(' ', '-')}"
        axes.plot(places, np.array(line["paper"], float), gid=gid, **ALIKE[line["column"]].open)


def _name_axes(axes: Axes, content: Content, rates: Array) -> None:
    if _has_paper(content["lines"]):
        grey = style.Line(style.GREY, "o", "none")
        axes.plot([], [], label=style.PAPER, **grey.open)
    axes.set_xticks(rates)
    axes.set_xlabel("uniform noise, % of training labels")
    axes.set_ylabel("test accuracy, %")
    axes.set_title(f"{style.said(content['network'])}, {style.said(content['data'])}")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


collect_1a = partial(collect, network="densenet100", columns=FIGURE_1A)
collect_2a = partial(collect, network="resnet34", columns=FIGURE_2A)
