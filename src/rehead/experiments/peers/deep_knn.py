"""Deep k-NN: keep the samples whose label is the commonest among their neighbours.

Bahri, Jiang and Gupta, "Deep k-NN for Noisy Labels", ICML 2020.
"""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.experiments.peers.neighbours import label_votes, nearest_others, row_blocks, unit_rows
from rehead.experiments.peers.verdict import Verdict

NEIGHBOURS = 100
"""The paper takes a number that grows with the data, and finds that it matters little."""


def deep_knn(
    X: Array, y: Array, n_classes: int, k: int = NEIGHBOURS, block: int | None = None
) -> Verdict:
    """Flag the samples whose label is not the commonest among their k nearest neighbours.

    A label that shares the first place is kept. The quality is the share of neighbours that have
    the label.

    Parameters
    ----------
    X : array of shape (n, d)
    y : integer array of shape (n,)
        Class numbers.
    n_classes : int
    k : int
    block : int, optional
        Rows in a block.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 4, axis=0)
    >>> deep_knn(X, np.array([0, 0, 0, 1, 1, 1, 1, 1]), 2, k=3).flagged
    array([False, False, False,  True, False, False, False, False])
    """
    found = nearest_others(unit_rows(X), k, block=block)
    flagged, quality = np.empty(len(y), bool), np.empty(len(y))
    for span in row_blocks(len(y), n_classes, block):
        labels = y[found.rows[span]]
        votes = label_votes(labels, np.ones(labels.shape), n_classes)
        own = np.take_along_axis(votes, y[span, None], axis=1)[:, 0]
        flagged[span] = own < votes.max(axis=1)
        quality[span] = own / labels.shape[1]
    return Verdict(flagged, quality)
