"""SimiFeat: labels that the neighbours outvote, or that they hardly vote for.

Zhu, Dong and Liu, "Detecting Corrupted Labels Without Training a Model to Predict", ICML 2022.

Each round takes a part of the samples, lets the neighbours vote, and flags labels. Labels are
flagged in the end that were flagged in more than half of the rounds that they took part in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.experiments.peers.hoc import count_labels, fit_noise
from rehead.experiments.peers.neighbours import (
    Neighbours,
    label_votes,
    nearest_others,
    nearest_within,
    unit_rows,
)
from rehead.experiments.peers.verdict import Verdict, flag_worst

VOTERS = 10
"""Samples that vote, the sample itself included."""
LEAST, MOST = 0.05, 0.95
"""Share of a class that is flagged by rank: at least, at most."""


class Rounds(NamedTuple):
    """How many rounds there are, with which share of the samples each, and the seed of these."""

    times: int = 21
    share: float = 0.9
    seed: int = 0


DEFAULT = Rounds()


def simifeat_vote(
    X: Array, y: Array, n_classes: int, rounds: Rounds = DEFAULT, block: int | None = None
) -> Verdict:
    """SimiFeat-V: flag the labels that are outvoted.

    The quality is the share of the vote for the label, by length, averaged over the rounds.

    Parameters
    ----------
    X : array of shape (n, d)
    y : integer array of shape (n,)
        Class numbers.
    n_classes : int
    rounds : Rounds
    block : int, optional
        Rows in a block.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    >>> y = np.repeat([0, 1], 20)
    >>> y[3] = 1
    >>> np.flatnonzero(simifeat_vote(X, y, 2).flagged)
    array([3])
    """
    U = unit_rows(X)
    known = nearest_others(U, 2 * VOTERS, block=block)

    def judge(rows: Array, votes: Array) -> tuple[Array, Array]:
        own = votes[np.arange(len(rows)), y[rows]]
        return own < votes.max(axis=1), own

    return _averaged(_votes(known, U, (y, n_classes), rounds), judge, len(y))


def simifeat_rank(
    X: Array, y: Array, n_classes: int, rounds: Rounds = DEFAULT, block: int | None = None
) -> Verdict:
    """SimiFeat-R: flag, in each class, the share of labels that HOC takes for wrong.

    Those are flagged that the vote is least for. HOC is estimated once, with all samples. The
    quality is the logarithm of the vote for the label, averaged over the rounds.
    Parameters as for :func:`simifeat_vote`.
    """
    U = unit_rows(X)
    known = nearest_others(U, 2 * VOTERS, block=block)
    noise = fit_noise(count_labels(y, known.rows, n_classes))
    wrong = np.clip(1 - noise.precision, LEAST, MOST)

    def judge(rows: Array, votes: Array) -> tuple[Array, Array]:
        own = np.log(votes[np.arange(len(rows)), y[rows]] + 1e-8)
        flagged = np.zeros(len(rows), bool)
        for c in np.unique(y[rows]):
            of_class = np.flatnonzero(y[rows] == c)
            flagged[of_class] = flag_worst(own[of_class], wrong[c])
        return flagged, own

    found = _averaged(_votes(known, U, (y, n_classes), rounds), judge, len(y))
    return found._replace(noise_rate=noise.rate)


def weighted_votes(found: Neighbours, own: Array, y: Array, n_classes: int) -> Array:
    """Votes by similarity, of length one, for samples with neighbours ``found``.

    The sample itself votes too. Its similarity of 1 would count too much, so it votes as a
    neighbour would that is as much nearer than the first as the first is nearer than the second.

    Parameters
    ----------
    found : Neighbours
        Without the samples themselves.
    own : integer array
        Labels of the samples.
    y : integer array
        Labels that the row numbers of ``found`` refer to.
    n_classes : int
    """
    first, second = found.similarity[:, 0], found.similarity[:, min(1, found.rows.shape[1] - 1)]
    weights = np.column_stack([2 * first - second, found.similarity])
    labels = np.column_stack([own, y[found.rows]])
    # What is farther away than at a right angle is no neighbour.
    votes = label_votes(labels, np.maximum(weights, 0), n_classes)
    length = np.linalg.norm(votes, axis=1, keepdims=True)
    unit: Array = votes / np.where(length > 0, length, 1)
    return unit


def _votes(
    known: Neighbours, U: Array, labels: tuple[Array, int], rounds: Rounds
) -> Iterator[tuple[Array, Array]]:
    """Row numbers of a round, and the votes about them."""
    y, n_classes = labels
    rng = np.random.default_rng(rounds.seed)
    for _ in range(rounds.times):
        chosen = np.zeros(len(y), bool)
        chosen[rng.permutation(len(y))[: max(round(rounds.share * len(y)), 2)]] = True
        rows = np.flatnonzero(chosen)
        found = nearest_within(known, U, chosen, VOTERS - 1)
        yield rows, weighted_votes(found, y[rows], y, n_classes)


def _averaged(
    rounds: Iterator[tuple[Array, Array]],
    judge: Callable[[Array, Array], tuple[Array, Array]],
    n: int,
) -> Verdict:
    """Flags and qualities, averaged over the rounds that a sample took part in."""
    times, flags, quality = np.zeros((3, n))
    for rows, votes in rounds:
        flagged, own = judge(rows, votes)
        times[rows] += 1
        flags[rows] += flagged
        quality[rows] += own
    times = np.maximum(times, 1)
    return Verdict(flags / times > 0.5, quality / times)
