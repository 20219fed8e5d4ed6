"""WANN: neighbours that vote by how reliable their labels are, and as many as a label needs.

Di Salvo, Doerrich, Rieger and Ledig, "An Embedding is Worth a Thousand Noisy Labels", TMLR 2025.
"""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.experiments.peers.neighbours import (
    label_votes,
    nearest,
    nearest_others,
    row_blocks,
    unit_rows,
)

FEWEST, MOST = 11, 51
"""Neighbours that may vote, as in the paper."""


def neighbours_needed(X: Array, y: Array, n_classes: int, block: int | None = None) -> Array:
    """The smallest odd number of neighbours, from 11 to 49, whose vote is the label; else 51.

    The sample itself is none of them. Of classes with the same number of votes, the first wins.
    The reliability of a label is one over this number.

    Parameters
    ----------
    X : array of shape (n, d)
    y : integer array of shape (n,)
        Class numbers.
    n_classes : int
    block : int, optional
        Rows in a block.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 60, axis=0)
    >>> y = np.repeat([0, 1], 60)
    >>> y[0] = 1
    >>> neighbours_needed(X, y, 2)[:3]
    array([51, 11, 11])
    """
    labels = y[nearest_others(unit_rows(X), MOST - 2, block=block).rows]
    needed = np.full(len(y), MOST)
    for span in row_blocks(len(y), n_classes, block):
        needed[span] = _needed(labels[span], y[span], n_classes)
    return needed


def wann_predict(
    train: tuple[Array, Array], needed: Array, X: Array, n_classes: int, block: int | None = None
) -> Array:
    """Classes of new samples.

    A sample asks as many neighbours as its nearest one needed. They vote by their reliability.

    Parameters
    ----------
    train : pair of arrays
        Features and class numbers of the training samples.
    needed : integer array
        Of the training samples (:func:`neighbours_needed`).
    X : array of shape (m, d)
        New samples.
    n_classes : int
    block : int, optional
        Rows in a block.
    """
    features, y = train
    rows = nearest(unit_rows(X), unit_rows(features), MOST, block=block).rows
    asked = np.arange(rows.shape[1]) < needed[rows[:, 0], None]
    predicted = np.empty(len(X), y.dtype)
    for span in row_blocks(len(X), n_classes, block):
        weights = asked[span] / needed[rows[span]]
        predicted[span] = label_votes(y[rows[span]], weights, n_classes).argmax(axis=1)
    return predicted


def _needed(labels: Array, y: Array, n_classes: int) -> Array:
    """The same for some samples, from the labels of their neighbours, nearest first."""
    needed, every = np.full(len(y), MOST), np.arange(len(y))
    votes = np.zeros((len(y), n_classes), np.int32)
    for k in range(1, labels.shape[1] + 1):
        votes[every, labels[:, k - 1]] += 1
        if k >= FEWEST and k % 2 == 1:
            agrees = (votes.argmax(axis=1) == y) & (needed == MOST)
            needed[agrees] = k
    return needed
