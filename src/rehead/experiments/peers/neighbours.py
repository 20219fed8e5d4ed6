"""The nearest neighbours of rows by cosine similarity, in blocks of rows, and votes of labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rehead._typing import Array

BLOCK_ENTRIES = 2**23
"""Similarities in a block, about: 32 MB of them in single precision."""
FEWEST_ROWS = 64
"""Rows in a block at least, to keep BLAS busy."""


class Neighbours(NamedTuple):
    """Nearest rows, nearest first.

    Attributes
    ----------
    rows : integer array of shape (m, k)
    similarity : array of shape (m, k)
        Cosines.
    """

    rows: Array
    similarity: Array


def unit_rows(X: Array) -> Array:
    """Rows of length one, in single or double precision; rows of zeros stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    X = np.asarray(X, np.float32 if X.dtype == np.float32 else np.float64)
    length = np.linalg.norm(X, axis=1, keepdims=True)
    unit: Array = X / np.where(length > 0, length, 1)
    return unit


def row_blocks(n: int, n_columns: int, block: int | None = None) -> Iterator[slice]:
    """Rows in blocks: ``block`` of them, or as many as a matrix with these columns may have."""
    size = block or max(BLOCK_ENTRIES // max(n_columns, 1), FEWEST_ROWS)
    return (slice(a, min(a + size, n)) for a in range(0, n, size))


def nearest(points: Array, among: Array, k: int, *, block: int | None = None) -> Neighbours:
    """The k rows of ``among`` that are nearest to each of the points.

    Parameters
    ----------
    points, among : arrays of shape (m, d) and (n, d)
        Of unit length (:func:`unit_rows`).
    k : int
        Where there are fewer rows, these.
    block : int, optional
        Points in a block.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.eye(2), np.array([[0.6, 0.8], [1.0, 0.0]]), 1).rows
    array([[1],
           [0]])
    """
    found = [
        _largest(points[span] @ among.T, min(k, len(among)))
        for span in row_blocks(len(points), len(among), block)
    ]
    return _joined(found)


def nearest_others(U: Array, k: int, *, block: int | None = None) -> Neighbours:
    """The k rows that are nearest to each row, without the row itself.

    Parameters
    ----------
    U : array of shape (n, d)
        Rows of unit length (:func:`unit_rows`).
    k : int
        At most n - 1 are found.
    block : int, optional
        Rows in a block.

    Examples
    --------
    >>> import numpy as np
    >>> U = unit_rows(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]))
    >>> nearest_others(U, 2).rows
    array([[1, 2],
           [0, 2],
           [1, 0]])
    """
    found = []
    for span in row_blocks(len(U), len(U), block):
        similarity = U[span] @ U.T
        itself = np.arange(span.start, span.stop)
        similarity[itself - span.start, itself] = -np.inf
        found.append(_largest(similarity, min(k, len(U) - 1)))
    return _joined(found)


def nearest_within(known: Neighbours, U: Array, chosen: Array, k: int) -> Neighbours:
    """Neighbours of the chosen rows among the chosen rows, without themselves.

    They are read off the known neighbours among all rows, by leaving out those that were not
    chosen; what is left is still in order, so this is exact. Rows for which fewer than k are left
    are looked up anew.

    Parameters
    ----------
    known : Neighbours
        Of all rows, without themselves (:func:`nearest_others`), a few more than k.
    U : array of shape (n, d)
        All rows.
    chosen : boolean array of shape (n,)
    k : int
        At most one less than there are chosen rows.

    Returns
    -------
    Neighbours
        For the chosen rows in their order; ``rows`` are numbers among all rows.
    """
    numbers = np.flatnonzero(chosen)
    k = min(k, len(numbers) - 1)
    if known.rows.shape[1] < k:
        raise ValueError(f"{known.rows.shape[1]} neighbours are known. Find {k} or more first.")
    inside = chosen[known.rows[numbers]]
    first = np.argsort(~inside, axis=1, kind="stable")[:, :k]
    rows, similarity = (np.take_along_axis(a[numbers], first, axis=1) for a in known)
    short = np.flatnonzero(inside.sum(axis=1) < k)
    if len(short):
        # One more than k, since each finds itself too.
        anew = nearest(U[numbers[short]], U[numbers], k + 1)
        others = np.argsort(anew.rows == short[:, None], axis=1, kind="stable")[:, :k]
        rows[short] = numbers[np.take_along_axis(anew.rows, others, axis=1)]
        similarity[short] = np.take_along_axis(anew.similarity, others, axis=1)
    return Neighbours(rows, similarity)


def label_votes(labels: Array, weights: Array, n_classes: int) -> Array:
    """Sum of weights for each class: of shape (m, n_classes), from labels of shape (m, k).

    Examples
    --------
    >>> import numpy as np
    >>> label_votes(np.array([[0, 2, 2]]), np.array([[1.0, 2.0, 3.0]]), 3)
    array([[1., 0., 5.]])
    """
    m = len(labels)
    cells = np.arange(m)[:, None] * n_classes + labels
    votes = np.bincount(cells.ravel(), weights.ravel(), minlength=m * n_classes)
    return votes.reshape(m, n_classes)


def _largest(similarity: Array, k: int) -> Neighbours:
    """The k largest of each row, largest first, equal ones by their number. Negates the matrix."""
    np.negative(similarity, out=similarity)
    if k < similarity.shape[1]:
        rows = np.sort(np.argpartition(similarity, max(k - 1, 0), axis=1)[:, :k], axis=1)
    else:
        rows = np.broadcast_to(np.arange(k), similarity.shape)
    distance = np.take_along_axis(similarity, rows, axis=1)
    order = np.argsort(distance, axis=1, kind="stable")
    return Neighbours(
        np.take_along_axis(rows, order, axis=1), -np.take_along_axis(distance, order, axis=1)
    )


def _joined(blocks: list[Neighbours]) -> Neighbours:
    return Neighbours(*(np.concatenate(arrays) for arrays in zip(*blocks, strict=True)))
