"""Figures 2c and 5: accuracy of the generative classifier of each basic block on its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rehead.experiments.figures import style
from rehead.experiments.figures.cells import (
    RATES,
    Content,
    Found,
    NothingToDrawError,
    Request,
    caption,
    find_results,
    uniform_cells,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLUMN = "blocks"
INPUT = "input"
"""It is among the layers that are measured, and is no block."""
MOST_NAMES = 12
"""Layers that all get their names on the axis."""


def collect(request: Request, networks: Sequence[str]) -> dict[str, Any]:
    """Test accuracy at each block, rate and seed, for each network."""
    panels, cells, not_run, empty = [], [], [], []
    for network in networks:
        try:
            found = find_results(request, uniform_cells(request, network))
            panels.append(_panel(found, network))
        except NothingToDrawError as error:
            empty.append(error)
            not_run.append(f"all of {network}")
            continue
        cells += found.cells
        unmeasured = [r.cell.name for r in found.results if COLUMN not in r.columns]
        not_run += [*found.not_run, *(f"{COLUMN} in {name}" for name in unmeasured)]
    if not panels:
        raise empty[0]
    text = (
        f"Test accuracy on {panels[0]['data']} of generative classifiers (MCD) of each basic block "
        f"of {' and '.join(p['network'] for p in panels)}, trained with uniform noise; means over "
        "the seeds."
    )
    return {
        "caption": caption(text, request, cells, not_run),
        "not_run": not_run,
        "panels": panels,
    }


def _panel(found: Found, network: str) -> dict[str, Any]:
    measured = [r for r in found.results if COLUMN in r.columns]
    if not measured:
        raise NothingToDrawError(
            f"{COLUMN!r} was not measured in {found.cells[0].name}. Measure it there."
        )
    by_layer = [(r.cell.rate, r.columns[COLUMN].details["accuracy"]) for r in measured]
    layers = [name for name in by_layer[0][1] if name != INPUT]
    lines = []
    for rate in RATES:
        seeds = [accuracy for r, accuracy in by_layer if r == rate]
        if seeds:
            values = [[round(100 * s[name], 2) for s in seeds] for name in layers]
            lines.append({"rate": rate, "accuracy": values})
    return {
        "network": network,
        "data": measured[0].cell.data,
        "layers": layers,
        "lines": lines,
    }


def short(name: str) -> str:
    """A block by its numbers.

    Examples
    --------
    >>> from rehead.experiments.figures.layers import short
    >>> short("stage4.block3"), short("final")
    ('4.3', 'final')
    """
    return ".".join(re.findall(r"\d+", name)) or name


def draw(content: Content, figure: Canvas) -> None:
    """A panel for each network, a line for each rate of noise."""
    panels = content["panels"]
    every = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, panel in zip(every, panels, strict=True):
        for line in panel["lines"]:
            look = style.LINES[RATES.index(line["rate"])]
            means = [np.mean(seeds) for seeds in line["accuracy"]]
            label = f"{100 * line['rate']:.0f} % noise"
            axes.plot(means, label=label, ms=5.5 if len(means) <= 20 else 3.5, **look.filled)
        _name_axes(axes, panel)
    every[0].set_ylabel("test accuracy, %")
    # Beside the panels: inside it would cover a line.
    figure.legend(*every[0].get_legend_handles_labels(), loc="outside right center")


def _name_axes(axes: Axes, panel: Content) -> None:
    names = [short(name) for name in panel["layers"]]
    step = -(-len(names) // MOST_NAMES)
    # Counted from the last one, which is the penultimate layer of the network.
    shown = range(len(names) - 1, -1, -step)
    axes.set_xticks(list(shown), [names[i] for i in shown])
    axes.set_xlabel("basic block (stage.block)")
    axes.set_title(f"{style.said(panel['network'])}, {style.said(panel['data'])}")


collect_2c = partial(collect, networks=("resnet34",))
collect_5 = partial(collect, networks=("resnet34", "densenet100"))
