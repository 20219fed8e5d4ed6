"""How many labels to look at: expected wrong ones are the sum of ``1 - quality``."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from rehead._typing import Array

SHARE, ONE_IN = 0.95, 10.0
"""By default: look until this share of the wrong labels is found, or the next are rarely wrong."""
ROUNDING = 1e-12


def n_review(quality: Array, share: float = SHARE, one_in: float = ONE_IN) -> int:
    """How many of the worst labels to look at.

    Enough to find, in expectation, the ``share`` of all wrong labels; but no label whose chance of
    being wrong is less than one in ``one_in``. (The second rule is for clean data: the last few
    wrong labels among thousands of good ones would mean looking at all of them.)

    Examples
    --------
    >>> import numpy as np
    >>> quality = np.array([0.0, 0.1, 0.5, 0.95, 0.99, 0.99])
    >>> n_review(quality), n_review(quality, share=0.5), n_review(quality, share=1, one_in=50)
    (3, 2, 4)
    >>> n_review(np.full(1000, 0.999))
    0
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must be in (0, 1], got {share!r}.")
    if not one_in >= 1.0:
        raise ValueError(f"one_in must be at least 1 (inf for no limit), got {one_in!r}.")
    wrong = 1.0 - np.sort(quality)
    found = np.cumsum(wrong)
    # A hair less, which rounding may keep a sum or a difference from reaching.
    worth = int((wrong >= (1.0 - ROUNDING) / one_in).sum())
    enough = int(np.searchsorted(found, (1.0 - ROUNDING) * share * found[-1])) + 1
    # Labels beyond doubt are never worth a look, whatever the limit.
    return min(worth, enough, int((wrong > 0).sum()))


def expected_wrong(quality: Array, n: int | None = None) -> float:
    """Expected number of wrong labels among the n worst, or among all."""
    n = len(quality) if n is None else check_number(n)
    return float((1.0 - np.sort(quality)[:n]).sum())


def check_number(n: Any) -> int:
    """A number of labels."""
    if not isinstance(n, numbers.Integral) or n < 0:
        raise ValueError(f"n must be a whole number of at least 0, got {n!r}.")
    return int(n)
