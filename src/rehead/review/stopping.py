"""When to stop: how many wrong labels are left, with an interval that believes no model.

Samples fall into parts, which are fixed when a review begins:

- the suspects that were gone through in order without a gap: nothing is left there but what
  reviewers left open;
- the other suspects;
- all other samples, below the cut.

Of each of the last two, some are drawn at random, in the order of a permutation that was fixed
beforehand too, and all of these are answered. The number of wrong ones among them is then
hypergeometric, and the interval inverts its two tails, as that of Clopper and Pearson does for a
share. It holds for any number of draws, and whatever the model believes. A draw that was left open
(unsure, skipped, disputed) counts as right for the lower end and as wrong for the upper end.

What is left is what a part holds less what was found in it. Where two parts are uncertain, each is
given half of the permitted error, so that the sum of the two intervals holds as promised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

from rehead._typing import Array

CONFIDENCE = 0.9
"""Of the interval; so there are more wrong labels than its upper end with a chance of 1 in 20."""


class Part(NamedTuple):
    """Samples of which some were drawn at random.

    Attributes
    ----------
    size : int
        How many samples there are.
    drawn, wrong, open : int
        How many were drawn at random; of these, how many labels are wrong, and how many are open.
    found : int
        How many wrong labels were found in it, drawn or not.
    unanswered : int
        How many samples have no definite answer: undecided, unsure, skipped or disputed.
    """

    size: int
    drawn: int
    wrong: int
    open: int
    found: int
    unanswered: int


class Left(NamedTuple):
    """Wrong labels that are left: an estimate (None without draws) and an interval.

    ``drawn`` is how many random draws it rests on, ``confidence`` that of the interval.
    """

    estimate: float | None
    low: int
    high: int
    drawn: int
    confidence: float


@lru_cache(maxsize=4096)
def number_interval(size: int, drawn: int, wrong: int, level: float) -> tuple[int, int]:
    """How many of a population are wrong, from a random draw without replacement.

    Each tail has at most the probability ``level``: the numbers under which so few, or so many,
    wrong ones among those drawn would be less probable are left out.

    Examples
    --------
    Ten draws without an error say little: a quarter may still be wrong.

    >>> number_interval(100_000, 10, 0, 0.05)
    (0, 25885)
    >>> number_interval(40, 40, 7, 0.05)
    (7, 7)
    """
    if drawn == 0:
        return 0, size
    right = drawn - wrong

    def few_enough(m: int) -> bool:
        return bool(hypergeom.cdf(wrong, size, m, drawn) > level)

    def many_enough(good: int) -> bool:
        return bool(hypergeom.cdf(right, size, good, drawn) > level)

    # The fewest wrong ones are the most good ones, of which the draw has few.
    fewest = size - _last(many_enough, right, size - wrong)
    return fewest, _last(few_enough, wrong, size - right)


def wrong_left(parts: Sequence[Part], confidence: float = CONFIDENCE) -> Left:
    """How many wrong labels are left in all parts together.

    Parameters
    ----------
    parts : sequence of Part
        Disjoint.
    confidence : float in (0, 1), default=0.9

    Examples
    --------
    >>> suspects = Part(size=50, drawn=50, wrong=40, open=0, found=40, unanswered=0)
    >>> others = Part(size=950, drawn=60, wrong=0, open=0, found=0, unanswered=890)
    >>> wrong_left([suspects, others])
    Left(estimate=0.0, low=0, high=44, drawn=60, confidence=0.9)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}.")
    uncertain = [p for p in parts if p.size > p.drawn]
    level = (1 - confidence) / 2 / max(len(uncertain), 1)
    ends = [_ends(part, level) for part in parts]
    told = [_estimate(part) for part in parts]
    return Left(
        estimate=None if None in told else float(sum(t for t in told if t is not None)),
        low=sum(low for low, _ in ends),
        high=sum(high for _, high in ends),
        drawn=sum(p.drawn for p in uncertain),
        confidence=confidence,
    )


def parts_of(
    suspects: Array, order: tuple[Array, Array], answered: Array, wrong: Array
) -> tuple[Part, Part, Part]:
    """The parts of a review: suspects gone through, other suspects, samples below the cut.

    Parameters
    ----------
    suspects : array of int
        Rows, worst first.
    order : (array, array)
        Rows of the suspects, and of all other samples, in the order of their random draw.
    answered : boolean array of shape (n_samples,)
        Whether somebody has answered: with a decision, or that it is left open.
    wrong : array of shape (n_samples,)
        1 where the label was found wrong, 0 where it was found right, NaN where that is open.
    """
    gaps = np.flatnonzero(~answered[suspects])
    through = int(gaps[0]) if len(gaps) else len(suspects)
    passed = np.zeros(len(answered), bool)
    passed[suspects[:through]] = True
    above = order[0][~passed[order[0]]]
    return (
        _part(suspects[:through], through, answered, wrong),
        _part(above, _answered_first(above, answered), answered, wrong),
        _part(order[1], _answered_first(order[1], answered), answered, wrong),
    )


def _part(rows: Array, drawn: int, answered: Array, wrong: Array) -> Part:
    """Of rows in the order of their draw, the first ``drawn`` of which are answered."""
    said = np.where(answered[rows], wrong[rows], np.nan)
    first = said[:drawn]
    return Part(
        size=len(rows),
        drawn=drawn,
        wrong=int((first == 1).sum()),
        open=int(np.isnan(first).sum()),
        found=int((said == 1).sum()),
        unanswered=int(np.isnan(said).sum()),
    )


def _answered_first(rows: Array, answered: Array) -> int:
    """How many of the first are answered without a gap: only these are a fair draw.

    Counted beyond a gap, samples that take long to decide would be missing from the draw.
    """
    gaps = np.flatnonzero(~answered[rows])
    return int(gaps[0]) if len(gaps) else len(rows)


def _ends(part: Part, level: float) -> tuple[int, int]:
    fewest, _ = number_interval(part.size, part.drawn, part.wrong, level)
    _, most = number_interval(part.size, part.drawn, part.wrong + part.open, level)
    low, high = (int(np.clip(m - part.found, 0, part.unanswered)) for m in (fewest, most))
    return low, high


def _estimate(part: Part) -> float | None:
    if part.drawn == 0:
        return None if part.unanswered else 0.0
    share = (part.wrong + part.open / 2) / part.drawn
    return float(np.clip(share * part.size - part.found, 0, part.unanswered))


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The largest whole number in a range for which something holds that holds up to some point.

    It holds for the first number.
    """
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
