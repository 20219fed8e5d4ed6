"""Tables that are made: classes that are no Gaussians, among columns that tell nothing.

Moons, spirals and rings lie in a plane; clusters are several Gaussians in each class. Every seed
makes other samples, and other clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from rehead._typing import Array
from rehead.data.record import DataSet, Request
from rehead.data.splits import Labelled, Published, Splits, generator, make_splits

STREAM = 0x3ADE
"""Keeps the samples apart from the draw of validation samples, and from noise."""
N_TRAIN, N_TEST, HELD_OUT = 3000, 2000, 300
USELESS = 4
"""Columns that tell nothing: normal, half as wide as the figure's radius."""
ARMS, TURNS, RINGS = 3, 0.75, 3
CLASSES, CLUSTERS, DIMENSIONS, APART = 5, 3, 6, 2.0
"""Of the clusters; the last is the standard deviation of their centres in each dimension, and of
their useless columns."""

Figure = Callable[[int, np.random.Generator], tuple[Array, Array]]
"""Draws points and their classes."""


def read(request: Request, *, figure: Figure, n_classes: int) -> Splits:
    """Draw all samples; the useless columns come last. Classes are equally common."""
    X, y = figure(N_TRAIN + N_TEST, generator(request.random_state, STREAM))
    parts = [Labelled(X[rows], y[rows]) for rows in (slice(N_TRAIN), slice(N_TRAIN, None))]
    hold_out = request.hold_out._replace(default=HELD_OUT)
    return make_splits(Published(*parts), [str(c) for c in range(n_classes)], hold_out)


def moons(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Two half circles of radius 1, one open to each side, that reach into each other."""
    y, angle = rng.integers(2, size=n), rng.uniform(0, np.pi, n)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.where(y[:, None] == 0, upper, np.array([1.0, 0.5]) - upper)
    return scattered(points, (0.2, 0.5), rng), y


def spirals(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Arms of a spiral of radius 1, a class each; samples are spread evenly over the area."""
    y, radius = rng.integers(ARMS, size=n), np.sqrt(rng.uniform(0.04, 1, n))
    return scattered(on_circle(radius, y / ARMS + TURNS * radius), (0.05, 0.5), rng), y


def rings(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Circles of radius 1, 2 and 3 around one centre, a class each."""
    y = rng.integers(RINGS, size=n)
    return scattered(on_circle(1.0 + y, rng.uniform(size=n)), (0.25, 1.5), rng), y


def clusters(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Classes of several Gaussians each, anywhere in space, every one of another shape."""
    shape = (CLASSES, CLUSTERS, DIMENSIONS)
    centres = APART * rng.normal(size=shape)
    maps = rng.uniform(-1, 1, size=(*shape, DIMENSIONS))
    y, cluster = rng.integers(CLASSES, size=n), rng.integers(CLUSTERS, size=n)
    inside = np.einsum("ni,nij->nj", rng.normal(size=(n, DIMENSIONS)), maps[y, cluster])
    return scattered(centres[y, cluster] + inside, (0.0, APART), rng), y


def on_circle(radius: Array, turns: Array) -> Array:
    """Points at a distance from the centre, in a direction that is told in whole turns."""
    angle = 2 * np.pi * turns
    points: Array = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return points


def scattered(points: Array, widths: tuple[float, float], rng: np.random.Generator) -> Array:
    """Points moved at random, and columns that tell nothing beside them.

    Parameters
    ----------
    points : array of shape (n_samples, n_dimensions)
    widths : tuple of float
        Standard deviations of the points around their place, and of the useless columns.
    rng : Generator
    """
    moved = points + widths[0] * rng.normal(size=points.shape)
    useless = widths[1] * rng.normal(size=(len(points), USELESS))
    return np.concatenate([moved, useless], axis=1).astype(np.float32)


MOONS = DataSet(
    "moons",
    "3,000 + 2,000 made points of 2 half moons, 4 of 6 columns useless; no download",
    partial(read, figure=moons, n_classes=2),
)
SPIRALS = DataSet(
    "spirals",
    "3,000 + 2,000 made points of 3 spiral arms, 4 of 6 columns useless; no download",
    partial(read, figure=spirals, n_classes=ARMS),
)
RINGS_IN_RINGS = DataSet(
    "rings",
    "3,000 + 2,000 made points of 3 rings in rings, 4 of 6 columns useless; no download",
    partial(read, figure=rings, n_classes=RINGS),
)
MIXTURES = DataSet(
    "clusters",
    "3,000 + 2,000 made points of 5 classes of 3 Gaussians, 4 of 10 columns useless; no download",
    partial(read, figure=clusters, n_classes=CLASSES),
)
