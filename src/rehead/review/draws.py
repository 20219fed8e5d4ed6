"""Which sample is shown next, why, and with what probability.

Suspects come worst first. Now and then (``share``, one in twenty) there is a sample that was drawn
at random from those that are *not* suspect, and as often one drawn from all suspects. Both are
shown without the model's opinion, so that nobody can tell them apart, and nobody is led by it. Only
such draws say how many wrong labels are left: see ``stopping.py``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.review.decisions import (
    DISAGREEMENT,
    RANDOM_OTHER,
    RANDOM_SUSPECT,
    SECOND_LOOK,
    SUSPECT,
)

SHARE = 0.05
"""Of the samples shown, those drawn at random from the others; as many are random suspects."""


class Shares(NamedTuple):
    """How often something else than the next suspect is shown.

    Attributes
    ----------
    random : float
        A random draw from those that are not suspect; as often one from the suspects.
    second_look : float
        A sample that another reviewer has decided.
    """

    random: float = SHARE
    second_look: float = 0.0


class Shown(NamedTuple):
    """A sample, why it is shown, and the probability of the draw, where it is random."""

    row: int
    reason: str
    probability: float | None = None


class Candidates(NamedTuple):
    """Rows to choose from, each list in the order in which they are wanted.

    Attributes
    ----------
    disputed : rows on which reviewers disagree
    suspects : undecided suspects, worst first
    random_suspects, random_others : undecided, in the order of their random draw
    second_look : decided by others, at random
    """

    disputed: Iterable[int]
    suspects: Iterable[int]
    random_suspects: Iterable[int]
    random_others: Iterable[int]
    second_look: Iterable[int] = ()


def draw_order(n: int, suspects: Array, seed: int) -> tuple[Array, Array]:
    """Suspects, and all other rows, each in a random order that the seed fixes.

    Examples
    --------
    >>> import numpy as np
    >>> above, below = draw_order(6, np.array([4, 1]), seed=0)
    >>> sorted(above.tolist()), sorted(below.tolist())
    ([1, 4], [0, 2, 3, 5])
    """
    rng = np.random.default_rng(seed)
    others = np.setdiff1d(np.arange(n), suspects)
    return rng.permutation(np.sort(suspects)), rng.permutation(others)


def next_samples(
    candidates: Candidates, shares: Shares, left: dict[str, int], turn: Callable[[int], float]
) -> Iterator[Shown]:
    """Samples in the order in which they are shown, without end of turns, until none is left.

    Parameters
    ----------
    candidates : Candidates
    shares : Shares
    left : dict of reason to int
        How many samples each random draw is from, for its probability.
    turn : function of int to float in [0, 1)
        The random number of each turn, which decides what is shown in it.
    """
    lists = {
        DISAGREEMENT: iter(candidates.disputed),
        SUSPECT: iter(candidates.suspects),
        RANDOM_SUSPECT: iter(candidates.random_suspects),
        RANDOM_OTHER: iter(candidates.random_others),
        SECOND_LOOK: iter(candidates.second_look),
    }
    given: set[int] = set()
    number = 0
    while True:
        for reason in _wanted(turn(number), shares):
            row = next((r for r in lists[reason] if r not in given), None)
            if row is not None:
                break
        else:
            return
        given.add(row)
        n = left.get(reason)
        yield Shown(int(row), reason, 1.0 / n if n else None)
        if n:
            left[reason] = n - 1
        number += 1


def turns_of(seed: int, who: str, start: int) -> Callable[[int], float]:
    """The random numbers of a reviewer's turns from one on; the same whenever they are asked for.

    Examples
    --------
    >>> turns_of(1, "Ann", 0)(5) == turns_of(1, "Ann", 5)(0)
    True
    """

    def turn(number: int) -> float:
        text = f"{seed}|{who}|{start + number}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") / 2**64

    return turn


def _wanted(u: float, shares: Shares) -> tuple[str, ...]:
    """What a turn is for, then what to show where there is none of it.

    Disagreements come first. When all suspects are decided, the others are drawn at random.
    """
    usual = (SUSPECT, RANDOM_OTHER)
    if u < shares.random:
        return (DISAGREEMENT, RANDOM_OTHER, *usual)
    if u < 2 * shares.random:
        return (DISAGREEMENT, RANDOM_SUSPECT, *usual)
    if u < 2 * shares.random + shares.second_look:
        return (DISAGREEMENT, SECOND_LOOK, *usual)
    return (DISAGREEMENT, *usual)
