"""Charts of confusions: which cells a heat map has, where the arrows of a graph go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead._values import visible

MOST_CELLS = 30
"""Classes of a heat map; of more, those that are confused most."""
MOST_NODES = 16
"""Classes of a graph."""
WITH_NUMBERS = 12
"""Classes up to which the cells of a heat map have numbers in them."""
LEAST, MOST_ARROWS = 0.02, 3
"""Share of a class from which on it has more arrows than the widest, and how many at most."""
FAINT = 0.002
"""Share below which there is no arrow at all."""
PALE = 0.2
"""The darkest cell is an error that is at least this common; rarer ones stay pale."""
RADIUS, WIDEST = 100.0, 12.0
SHORTEST = 26
"""Letters of a name in a chart."""
LONGEST_NAME = 80
"""Letters of the name of a class anywhere on a page."""


class Cell(NamedTuple):
    """A cell of a heat map: the share of the true class that is given this label."""

    row: int
    column: int
    share: float
    strength: float
    tip: str


class HeatMap(NamedTuple):
    """A heat map; ``left_out`` classes are not in it."""

    names: list[str]
    cells: list[Cell]
    numbers: bool
    left_out: int


class Node(NamedTuple):
    """A class on the circle; ``side`` is where its name goes."""

    name: str
    x: float
    y: float
    label_x: float
    label_y: float
    side: str
    mistake: str


class Arrow(NamedTuple):
    """An arrow from a class to what it is mistaken for."""

    path: str
    head: str
    width: float
    bold: bool
    tip: str


class Graph(NamedTuple):
    """The graph of confusions; ``left_out`` classes are not in it."""

    nodes: list[Node]
    arrows: list[Arrow]
    left_out: int


def class_name(label: object, most: int = LONGEST_NAME) -> str:
    """The name of a class, or its beginning: it stands on a page many times."""
    return short(label, min(most, LONGEST_NAME))


def short(name: object, most: int = SHORTEST) -> str:
    """A name that fits, in characters that only stand for themselves."""
    text = visible(name)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def most_confused(transition: Array, shares: Array, most: int) -> Array:
    """The classes that take part in most errors, in their own order."""
    wrong = transition * shares[:, None]
    np.fill_diagonal(wrong, 0.0)
    involved = wrong.sum(axis=0) + wrong.sum(axis=1)
    chosen: Array = np.sort(np.argsort(-involved, kind="stable")[:most])
    return chosen


def heat_map(transition: Array, shares: Array, classes: list[object]) -> HeatMap:
    """The heat map of a transition matrix.

    ``shares`` are those of the true classes. Errors are coloured by the square root of how common
    they are, up to the most common, so that rare ones are seen beside it.

    Examples
    --------
    >>> import numpy as np
    >>> found = heat_map(np.array([[0.7, 0.3], [0.0, 1.0]]), np.array([0.5, 0.5]), ["cat", "dog"])
    >>> [(cell.row, cell.column, cell.strength) for cell in found.cells if cell.strength]
    [(0, 1, 1.0)]
    """
    chosen = most_confused(transition, shares, MOST_CELLS)
    part = transition[np.ix_(chosen, chosen)]
    errors = part * (1 - np.eye(len(part)))
    largest = max(float(errors.max(initial=0.0)), PALE)
    names = [short(classes[c]) for c in chosen]
    cells = [
        Cell(
            i,
            j,
            float(part[i, j]),
            float(np.sqrt(errors[i, j] / largest)),
            f"{names[i]}, given as {names[j]}: {100 * part[i, j]:.1f} %",
        )
        for i in range(len(part))
        for j in range(len(part))
    ]
    return HeatMap(names, cells, len(part) <= WITH_NUMBERS, len(classes) - len(chosen))


def confusion_graph(transition: Array, shares: Array, classes: list[object]) -> Graph:
    """Classes on a circle, and arrows from each to what it is mistaken for, as in figure 3a."""
    chosen = most_confused(transition, shares, MOST_NODES)
    part = transition[np.ix_(chosen, chosen)].copy()
    np.fill_diagonal(part, 0.0)
    names = [short(classes[c], 14) for c in chosen]
    angle = -np.pi / 2 + 2 * np.pi * np.arange(len(chosen)) / max(len(chosen), 1)
    places = RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    first = part.argmax(axis=1)
    arrows = [
        _arrow(places[i], places[j], float(part[i, j]), bool(first[i] == j), names[i], names[j])
        for i in range(len(part))
        for j in np.argsort(-part[i], kind="stable")[:MOST_ARROWS]
        if part[i, j] >= (FAINT if first[i] == j else LEAST)
    ]
    arrows.sort(key=lambda arrow: arrow.bold)  # those on top come last
    nodes = [
        _node(names[i], places[i], names[first[i]], float(part[i].max(initial=0.0)))
        for i in range(len(chosen))
    ]
    return Graph(nodes, arrows, len(classes) - len(chosen))


def _node(name: str, place: Array, other: str, share: float) -> Node:
    x, y = (float(v) for v in place)
    side = "middle" if abs(x) < 0.2 * RADIUS else "start" if x > 0 else "end"
    mistake = f"→ {other} ({100 * share:.0f} %)" if share >= FAINT else ""
    return Node(name, x, y, 1.1 * x, 1.17 * y, side, mistake)


def _arrow(start: Array, end: Array, share: float, bold: bool, name: str, other: str) -> Arrow:
    """A bent line that ends before the node, with a head of its own size."""
    line = end - start
    length = float(np.hypot(*line))
    normal = np.array([-line[1], line[0]]) / length
    bend = (start + end) / 2 + 0.12 * length * normal
    width = max(0.7, WIDEST * share)
    size = 4.0 + 1.2 * width
    begins = start + 6 * _unit(bend - start)
    tip = end - 6 * _unit(end - bend)
    inward = _unit(tip - bend)
    base = tip - size * inward
    across = 0.5 * size * np.array([-inward[1], inward[0]])
    path = f"M{_point(begins)} Q{_point(bend)} {_point(base)}"
    head = f"M{_point(tip)} L{_point(base + across)} L{_point(base - across)} Z"
    return Arrow(path, head, width, bold, f"{name} is given as {other}: {100 * share:.1f} %")


def _unit(vector: Array) -> Array:
    unit: Array = vector / max(float(np.hypot(*vector)), 1e-12)
    return unit


def _point(place: Array) -> str:
    return f"{place[0]:.1f} {place[1]:.1f}"
