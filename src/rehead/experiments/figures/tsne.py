"""Figure 1b: penultimate features of training samples in two dimensions, wrong labels marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rehead._typing import Array
from rehead.experiments.figures import style
from rehead.experiments.figures.cells import (
    Content,
    Request,
    caption,
    class_names,
    load_cached,
    uniform_cells,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NETWORK, RATE = "densenet100", 0.2
MOST = 1500
"""Samples that are shown."""
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.SKY, style.PURPLE)
MARKERS = ("o", "^", "s", "D")
"""Five colours for each shape: enough for twenty classes."""


def collect(request: Request) -> dict[str, Any]:
    """Places of some training samples, their labels, and which of these are wrong."""
    cells = [c for c in uniform_cells(request, NETWORK) if c.rate == RATE]
    cell, task = load_cached(request, cells)
    rows = _some(len(task.train.y))
    places = embed(task.train.layers[task.last][rows])
    changed = task.changed[rows]
    text = (
        f"t-SNE of the penultimate layer of {NETWORK}, trained on {cell.data} with "
        f"{task.noise_rate:.0%} uniform noise: {len(rows):,} training samples, of which "
        f"{int(changed.sum())} have a wrong label. Colour and shape are the label."
    )
    return {
        "caption": caption(text, request, [cell], []),
        "not_run": [],
        "network": NETWORK,
        "data": cell.data,
        "layer": task.last,
        "noise_rate": round(task.noise_rate, 4),
        "class_names": class_names(cell),
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "label": task.train.y[rows].tolist(),
        "wrong": changed.astype(int).tolist(),
    }


def embed(X: Array) -> Array:
    """Two dimensions by t-SNE, the same every time, to a hundredth."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(X) - 1) / 3)
    model = TSNE(perplexity=perplexity, init="pca", random_state=0)
    places: Array = model.fit_transform(np.asarray(X, np.float32))
    return places.astype(float).round(2)


def _some(n: int) -> Array:
    """Row numbers, drawn once and for all."""
    rng = np.random.default_rng(0)
    rows: Array = np.sort(rng.choice(n, size=min(n, MOST), replace=False))
    return rows


def draw(content: Content, figure: Canvas) -> None:
    """A point for each sample; a ring around those with a wrong label."""
    axes = figure.subplots()
    x, y, label = (np.array(content[name]) for name in ("x", "y", "label"))
    wrong = np.array(content["wrong"], bool)
    for c, name in enumerate(content["class_names"]):
        where = label == c
        look: dict[str, Any] = {"color": COLOURS[c % 5], "marker": MARKERS[c // 5 % 4]}
        axes.plot(x[where], y[where], ls="none", ms=3.4, mew=0, alpha=0.75, label=name, **look)
    ring: dict[str, Any] = {"color": style.VERMILION, "marker": "o", "markerfacecolor": "none"}
    axes.plot(x[wrong], y[wrong], ls="none", ms=5.4, mew=0.8, label="wrong label", **ring)
    _finish(axes, content)


def _finish(axes: Axes, content: Content) -> None:
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.set_title(
        f"{style.said(content['network'])}, {style.said(content['data'])}, "
        f"{100 * content['noise_rate']:.0f} % wrong labels"
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=1.4, handletextpad=0.2)
