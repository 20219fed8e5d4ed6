"""The samples that speak against a label: the nearest ones with other labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.audit.inputs import rows_of, spans
from rehead.audit.protocol import LabelJudge
from rehead.gaussian.kernels import squared_norms
from rehead.gaussian.threads import own_threads


class Neighbours(NamedTuple):
    """The nearest samples with other labels, nearest first; ``print`` shows them.

    Attributes
    ----------
    samples : array of shape (m,)
        Ids of the samples that were asked about (row numbers where there are none).
    given : array of shape (m,)
        Their labels.
    rows : array of shape (m, k)
        Row numbers of the neighbours.
    ids : array of shape (m, k)
        Their ids, where there are any, else the row numbers.
    labels : array of shape (m, k)
        Their labels.
    distances : array of shape (m, k)
        Mahalanobis distances, in the space that labels are judged in.
    quality : array of shape (m, k) or None
        How probable it is that the neighbours' own labels are right, where these were judged too.
    """

    samples: Array
    given: Array
    rows: Array
    ids: Array
    labels: Array
    distances: Array
    quality: Array | None

    def __str__(self) -> str:
        lines = []
        for i, (sample, label) in enumerate(zip(self.samples, self.given, strict=True)):
            none = "" if self.rows.shape[1] else " none"
            lines.append(f"{sample} is labelled {label}. Nearest samples with other labels:{none}")
            for j in range(self.rows.shape[1]):
                sure = "" if self.quality is None else f", quality {self.quality[i, j]:.2f}"
                lines.append(
                    f"  {self.ids[i, j]}: {self.labels[i, j]}, "
                    f"distance {self.distances[i, j]:.2f}{sure}"
                )
        return "\n".join(lines)


class Nearest(NamedTuple):
    """Row numbers and distances, both of shape (m, k)."""

    rows: Array
    distances: Array


class Samples(NamedTuple):
    """Features (or layers) and labels of some samples."""

    X: Any
    labels: Array


def nearest_points(point: Array, among: Array, k: int) -> Nearest:
    """The k points that are nearest to one of shape (1, d), nearest first.

    Points are in a model's judging space. For many of them, :func:`nearest_others` goes in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_points(np.array([[0.0]]), np.array([[5.0], [1.0], [2.0]]), 2).rows
    array([[1, 2]])
    """
    squared = np.square(among - point).sum(axis=1)[None]
    rows = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return Nearest(rows, np.sqrt(np.take_along_axis(squared, rows, axis=1)))


@own_threads()
def nearest_others(model: LabelJudge, asked: Samples, among: Samples, k: int) -> Nearest:
    """The k nearest samples with other labels, in one pass over blocks of them.

    There may be fewer than k where a sample has fewer of other labels; the shortest list decides.
    """
    points = model.judging_space(asked.X)
    labels, y, n = asked.labels, among.labels, len(among.labels)
    size = squared_norms(points)[:, None]
    k = min(k, int(n - max((y == label).sum() for label in labels)))
    best, rows = np.full((len(points), 0), np.inf), np.empty((len(points), 0), np.int64)
    for span in spans(n, len(points)):
        block = model.judging_space(rows_of(among.X, span))
        squared = size + squared_norms(block) - 2.0 * points @ block.T
        squared[labels[:, None] == y[span]] = np.inf
        best = np.concatenate([best, squared], axis=1)
        numbers = np.broadcast_to(np.arange(span.start, span.stop), squared.shape)
        rows = np.concatenate([rows, numbers], axis=1)
        nearest = np.argsort(best, axis=1, kind="stable")[:, :k]
        best, rows = (np.take_along_axis(a, nearest, axis=1) for a in (best, rows))
    # Rounding can make the square of a vanishing distance negative.
    return Nearest(rows, np.sqrt(np.maximum(best, 0.0)))
