"""All figures of the paper, by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from rehead.experiments.figures import (
    confusion,
    layers,
    open_set,
    outliers,
    over_noise,
    selection,
    tsne,
)
from rehead.experiments.figures.cells import Content, Request

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


class Figure(NamedTuple):
    """A figure of the paper.

    Attributes
    ----------
    title : str
    collect : callable
        From a :class:`Request` to what is shown, ready for JSON. Every content has "caption" (text
        that goes below the picture) and "not_run" (what is missing in it, a list).
        Raises :class:`NothingToDrawError` where there is nothing to show.
    draw : callable
        Puts a content on an empty matplotlib figure.
    size : tuple of float
        Width and height in inches.
    needs_data : bool
        Whether ``draw`` shows images, which it loads from the data set: contents have none.
    """

    title: str
    collect: Callable[[Request], dict[str, Any]]
    draw: Callable[[Content, Canvas], None]
    size: tuple[float, float]
    needs_data: bool = False


FIGURES: dict[str, Figure] = {
    "1a": Figure(
        "Softmax and generative classifiers over the noise rate",
        over_noise.collect_1a,
        over_noise.draw,
        (9, 3.5),
    ),
    "1b": Figure("Penultimate features of noisy training samples", tsne.collect, tsne.draw, (6, 4)),
    "1c": Figure("The MCD estimator, illustrated", outliers.collect, outliers.draw, (5.6, 3.6)),
    "2a": Figure(
        "Generative classifiers under several assumptions",
        over_noise.collect_2a,
        over_noise.draw,
        (9, 3.5),
    ),
    "2b": Figure(
        "Right labels among the samples that the MCD keeps",
        selection.collect,
        selection.draw,
        (7.6, 3.4),
    ),
    "2c": Figure("Accuracy at each basic block", layers.collect_2c, layers.draw, (5.8, 3.5)),
    "3a": Figure(
        "What the labeller of semantic noise confuses", confusion.collect, confusion.draw, (5.6, 5)
    ),
    "3b": Figure(
        "Open-set noise under one label", open_set.collect_3b, open_set.draw, (3.8, 3.2), True
    ),
    "4": Figure("Open-set noise", open_set.collect_4, open_set.draw, (10, 3.3), True),
    "5": Figure(
        "Accuracy at each basic block, two networks", layers.collect_5, layers.draw, (8.6, 3.5)
    ),
}
"""By their number in the paper: 4 and 5 are in its supplement."""
