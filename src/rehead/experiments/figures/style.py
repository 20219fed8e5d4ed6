"""How figures look: in print, in grey, and to those who see colours otherwise.

The palette is that of Okabe and Ito (2008, "Color Universal Design"). Colour never stands alone:
lines differ in marker and dash as well, areas in hatching.
"""

from __future__ import annotations

from typing import Any, NamedTuple

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, PALE = "#6B6B6B", "#C8C8C8"

PAPER = "paper (open)"
"""In legends: markers without filling are what the paper prints."""
NAMES = {
    "densenet100": "DenseNet",
    "resnet34": "ResNet",
    "vgg13": "VGG",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "imagenet32": "ImageNet 32",
    "tinyimagenet32": "Tiny ImageNet",
    "digits32": "digits",
}
"""For titles. Depths are left out: profiles have networks of other depths."""
SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "svg.hashsalt": "rehead",
}
"""Settings of matplotlib. The salt makes names in SVG files the same every time."""


class Line(NamedTuple):
    """How a line is drawn."""

    colour: str
    marker: str
    dash: str

    @property
    def filled(self) -> dict[str, Any]:
        """For what was measured."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.dash}

    @property
    def open(self) -> dict[str, Any]:
        """For what the paper prints: markers alone, without filling."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": "none",
            "markerfacecolor": "white",
            "markeredgewidth": 1.2,
        }


LINES = (
    Line(BLACK, "o", "-"),
    Line(BLUE, "^", "-"),
    Line(GREEN, "s", "--"),
    Line(ORANGE, "D", "-."),
    Line(PURPLE, "v", ":"),
    Line(VERMILION, "X", "--"),
)
"""Lines that can be told apart, in the order in which they are used."""


def said(name: str) -> str:
    """A network or a data set, as people write it.

    Examples
    --------
    >>> from rehead.experiments.figures.style import said
    >>> said("cifar10"), said("new")
    ('CIFAR-10', 'new')
    """
    return NAMES.get(name, name)
