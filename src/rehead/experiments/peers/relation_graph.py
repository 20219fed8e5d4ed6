"""Neural Relation Graph: labels that agree with similar samples speak for each other.

Kim, Yun and Song, "Neural Relation Graph: A Unified Framework for Identifying Label Noise and
Outlier Data", NeurIPS 2023.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.experiments.peers.neighbours import row_blocks, unit_rows
from rehead.experiments.peers.verdict import Verdict

WEAKEST = 0.03
"""Weaker relations are dropped."""
NOISY = -0.05
"""Samples whose score is below this share of the largest one count as noisy in the second pass."""


class Nodes(NamedTuple):
    """Samples of the graph: unit rows, class numbers, class probabilities."""

    U: Array
    y: Array
    probabilities: Array

    def at(self, rows: Array | slice) -> Nodes:
        """Some of them."""
        return Nodes(*(a[rows] for a in self))


def relation_graph(X: Array, y: Array, probabilities: Array, block: int | None = None) -> Verdict:
    """Score labels by their relations to all other samples, and flag those below zero.

    The relation of two samples is ``r = +-max(0, cos) (p_i . p_j)``, + where their labels agree.
    The score of a sample is the sum of ``sign(r) |r|^4`` over those with ``|r| > 0.03``. A second
    pass turns the relations to samples that look noisy around: it subtracts them twice.
    The paper only ranks; below zero, more speaks against a label than for it. The sample itself,
    which always agrees, is left out.

    Parameters
    ----------
    X : array of shape (n, d)
    y : integer array of shape (n,)
        Class numbers.
    probabilities : array of shape (n, n_classes)
        Of the classes, as a network or classifier sees them.
    block : int, optional
        Rows in a block.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 4, axis=0)
    >>> y = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    >>> relation_graph(X, y, np.full((8, 2), 0.5)).flagged
    array([False, False, False,  True, False, False, False, False])
    """
    if probabilities.shape[0] != len(y):
        raise ValueError(
            f"There are {len(y)} labels, but probabilities of {probabilities.shape[0]} samples. "
            "Pass one row for each sample."
        )
    U = unit_rows(X)
    nodes = Nodes(U, y, probabilities.astype(U.dtype))
    every = np.arange(len(y))
    first = relation_sums(nodes, every, block)
    noisy = every[first < NOISY * np.abs(first).max(initial=0)]
    score = first - 2 * relation_sums(nodes, noisy, block)
    return Verdict(score < 0, score)


def relation_sums(nodes: Nodes, to: Array, block: int | None = None) -> Array:
    """Sum of the powers of the relations of each node to some others, without itself."""
    others = nodes.at(to)
    sums = np.zeros(len(nodes.y))
    for span in row_blocks(len(sums), len(to), block):
        some = nodes.at(span)
        strength = some.U @ others.U.T
        strength *= some.probabilities @ others.probabilities.T
        strength[strength <= WEAKEST] = 0  # negative ones too
        strength[np.arange(span.start, span.stop)[:, None] == to] = 0
        np.square(np.square(strength, out=strength), out=strength)
        agrees = some.y[:, None] == others.y
        sums[span] = 2 * np.sum(strength, axis=1, where=agrees) - strength.sum(axis=1)
    return sums
