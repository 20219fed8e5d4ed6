"""Figure 3a: which classes the labeller of semantic noise takes for which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rehead._typing import Array
from rehead.experiments.cell import Cell
from rehead.experiments.figures import style
from rehead.experiments.figures.cells import (
    METHOD,
    Content,
    Request,
    caption,
    class_names,
    load_cached,
    shows,
    wanted,
)
from rehead.experiments.profiles import settings_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LABELLER = "resnet34"
LEAST = 0.05
"""Share of a class that must be mistaken for another one, for a thin arrow."""
WIDEST = 14.0
"""Points of an arrow that would be a whole class."""


def collect(request: Request) -> dict[str, Any]:
    """How often each class gets each label."""
    cells = wanted(request, ("6",), lambda c: c.labeller == LABELLER and shows(request, c))
    # Labels do not depend on how a network is trained with them; cross-entropy is run first.
    cells.sort(key=lambda c: c.method != METHOD)
    cell, task = load_cached(request, cells)
    C = task.n_classes
    counts = np.zeros((C, C), int)
    np.add.at(counts, (task.truth, task.train.y), 1)
    text = (
        f"What the labeller {LABELLER}{_taught(cell)} takes the classes of {cell.data} for; "
        f"{task.noise_rate:.0%} of the labels are wrong. A bold arrow leads from each class to the "
        f"one that it is mistaken for most often, thin ones to others from {LEAST:.0%} of the "
        "class on; the wider, the more often."
    )
    return {
        "caption": caption(text, request, [], []),
        "not_run": [],
        "labeller": LABELLER,
        "data": cell.data,
        "class_names": class_names(cell),
        "counts": counts.tolist(),
    }


def _taught(cell: Cell) -> str:
    """How the labeller differs from the paper's, if it does."""
    settings = settings_of(cell)
    parts = ["of small size"] if settings.labeller_options else []
    if settings.labeller_samples is not None:
        parts.append(f"taught on {settings.labeller_samples:,} other samples")
    return f" ({', '.join(parts)})" if parts else ""


def mistaken(counts: Array) -> Array:
    """Share of each class (row) that gets each other label (column); 0 for its own.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.experiments.figures.confusion import mistaken
    >>> mistaken(np.array([[6, 2], [0, 5]])).tolist()
    [[0.0, 0.25], [0.0, 0.0]]
    """
    shares: Array = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    np.fill_diagonal(shares, 0.0)
    return shares


def draw(content: Content, figure: Canvas) -> None:
    """Classes on a circle, arrows from each to what it is mistaken for."""
    axes = figure.subplots()
    shares = mistaken(np.array(content["counts"]))
    names = content["class_names"]
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    places = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    first = shares.argmax(axis=1)
    for c, other in zip(*np.nonzero(shares), strict=True):
        most = first[c] == other
        if most or shares[c, other] >= LEAST:
            arrow = _arrow(places[c], places[other], shares[c, other], bold=bool(most))
            arrow.set_gid(f"{names[c]}-as-{names[other]}")
            axes.add_patch(arrow)
    axes.plot(places[:, 0], places[:, 1], "o", ms=8, color=style.BLACK, zorder=4)
    for c, place in enumerate(places):
        mistake = f"→ {names[first[c]]} ({shares[c].max():.0%})" if shares[c].any() else ""
        _name(axes, place, names[c], mistake)
    axes.set(xlim=(-1.55, 1.55), ylim=(-1.4, 1.4), aspect="equal")
    axes.axis("off")
    axes.set_title(f"{style.said(content['labeller'])} as labeller, {style.said(content['data'])}")


def _arrow(start: Array, end: Array, share: float, *, bold: bool) -> Any:
    from matplotlib.patches import FancyArrowPatch

    return FancyArrowPatch(
        tuple(start),
        tuple(end),
        connectionstyle="arc3,rad=0.14",
        arrowstyle="-|>",
        mutation_scale=8 + 24 * share,
        shrinkA=6,
        shrinkB=6,
        linewidth=max(0.6, WIDEST * share),
        color=style.BLUE if bold else style.PALE,
        zorder=3 if bold else 2,
    )


def _name(axes: Axes, place: Array, name: str, mistake: str) -> None:
    """A class, and below it what it is mistaken for most often."""
    x, y = place * (1.12, 1.2)
    side = "center" if abs(x) < 0.2 else ("left" if x > 0 else "right")
    axes.text(x, y, name, ha=side, va="bottom", weight="bold")
    axes.text(x, y, mistake, ha=side, va="top", color=style.GREY, size=8)
