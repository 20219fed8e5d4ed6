"""Figures 3b and 4: training images under a label, those from elsewhere marked.

A content has row numbers only. The images of these rows are loaded when it is drawn.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rehead._typing import Array
from rehead.experiments.cell import Cell
from rehead.experiments.figures import style
from rehead.experiments.figures.cells import Content, Request, caption, find_results, wanted
from rehead.experiments.noisy import NoisyTask, noisy_task
from rehead.experiments.profiles import settings_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

BIRD = 2
"""The class that the paper shows in figure 3b."""
GRID_3B, GRID_4 = (4, 5), (3, 4)
"""Rows and columns of images for a class."""
BORDER = 3
"""Pixels around an image."""


def collect(request: Request, classes: slice, grid: tuple[int, int]) -> dict[str, Any]:
    """Row numbers of some training images under each label, and which of them were replaced."""
    found = find_results(request, wanted(request, ("7",), lambda cell: True))
    # Images from everywhere, where that cell ran.
    cell = max(found.cells, key=lambda c: c.source.count("+"))
    task = noisy_task(settings_of(cell))
    names = list(task.splits.class_names)
    panels = [_panel(task, c, grid) for c in range(len(names))[classes]]
    sources = " and ".join(style.said(s) for s in cell.source.split("+") if s) or "elsewhere"
    text = (
        f"Training images of {style.said(cell.data)} under their labels, with "
        f"{task.rate:.0%} open-set noise. Those in a frame are from {sources}."
    )
    rows = [row for panel in panels for row in panel["rows"]]
    return {
        "caption": caption(text, request, [], found.not_run),
        "not_run": found.not_run,
        "cell": cell.to_json(),
        "grid": list(grid),
        "panels": panels,
        "pixels": checksum(task.splits.train.X[rows]),
    }


def _panel(task: NoisyTask, c: int, grid: tuple[int, int]) -> dict[str, Any]:
    """Some images of a class; of them as large a share is replaced as of the class."""
    rows = np.flatnonzero(task.labels == c)
    n = min(len(rows), grid[0] * grid[1])
    replaced = round(n * float(task.changed[rows].mean()))
    rng = np.random.default_rng(c)
    parts = [(rows[task.changed[rows]], replaced), (rows[~task.changed[rows]], n - replaced)]
    some = rng.permutation(
        np.concatenate([rng.choice(part, size=k, replace=False) for part, k in parts])
    )
    return {
        "label": task.splits.class_names[c],
        "rows": some.tolist(),
        "replaced": task.changed[some].astype(int).tolist(),
    }


def checksum(images: Array) -> str:
    """Of pixels."""
    return hashlib.sha256(np.ascontiguousarray(images).tobytes()).hexdigest()[:16]


def images_of(content: Content) -> Array:
    """The images that a content names, of its panels one after another.

    Raises
    ------
    ValueError
        If the data set has other images than when the content was collected.
    """
    cell = Cell.from_json(content["cell"])
    rows = [row for panel in content["panels"] for row in panel["rows"]]
    X = noisy_task(settings_of(cell)).splits.train.X
    if max(rows) >= len(X) or checksum(X[rows]) != content["pixels"]:
        raise ValueError(
            f"The training images of {cell.name} are not those that the figure was collected from. "
            "Collect it again."
        )
    images: Array = X[rows]
    return images


def draw(content: Content, figure: Canvas) -> None:
    """A grid of images for each label."""
    panels = content["panels"]
    ends = np.cumsum([len(panel["rows"]) for panel in panels])
    blocks = np.split(images_of(content), ends[:-1])
    across = min(5, len(panels))
    every = figure.subplots(-(-len(panels) // across), across, squeeze=False).ravel()
    for axes in every:
        axes.axis("off")
    for axes, panel, images in zip(every, panels, blocks, strict=False):
        _show(axes, images, panel, tuple(content["grid"]))


def _show(axes: Axes, images: Array, panel: Content, grid: tuple[int, int]) -> None:
    from matplotlib.patches import Rectangle

    side = images.shape[-1] + 2 * BORDER
    axes.imshow(mosaic(images, grid), interpolation="nearest")
    for i, replaced in enumerate(panel["replaced"]):
        if replaced:
            y, x = (side * place for place in divmod(i, grid[1]))
            width = side - BORDER
            frame = Rectangle(
                (x + BORDER / 2 - 0.5, y + BORDER / 2 - 0.5),
                width,
                width,
                fill=False,
                edgecolor=style.VERMILION,
                linewidth=1.6,
            )
            axes.add_patch(frame)
    axes.set_title(f"“{panel['label']}”", pad=3)


def mosaic(images: Array, grid: tuple[int, int]) -> Array:
    """Images side by side on white, as rows of pixels with three colours."""
    colours, height, width = images.shape[1:]
    h, w = height + 2 * BORDER, width + 2 * BORDER
    sheet = np.full((grid[0] * h, grid[1] * w, colours), 255, np.uint8)
    for i, image in enumerate(images):
        y, x = (i // grid[1]) * h + BORDER, (i % grid[1]) * w + BORDER
        sheet[y : y + height, x : x + width] = image.transpose(1, 2, 0)
    return sheet


collect_3b = partial(collect, classes=slice(BIRD, BIRD + 1), grid=GRID_3B)
collect_4 = partial(collect, classes=slice(None), grid=GRID_4)
