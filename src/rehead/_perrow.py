"""What there is one of for each row, in few bytes: there may be millions.

Numbers of rows take four bytes where that is enough. What is added up, or picked, goes a span at a
time, so that nothing else grows with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from rehead._typing import Array

SPAN = 2**16
"""Rows that are looked at together."""


def spans_of(n: int) -> Iterator[slice]:
    """Some rows at a time."""
    return (slice(a, min(a + SPAN, n)) for a in range(0, n, SPAN))


def number_type(n: int) -> type[np.signedinteger[Any]]:
    """The integers that count to n in the fewest bytes: four, mostly."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


def class_totals(codes: Array, n_classes: int, *factors: Array) -> Array:
    """How much there is of each class: rows, or the sum over them of a product of factors.

    Rows are added up one after the other, as :func:`numpy.bincount` does: the same to the last bit,
    without copies of all rows. A code below 0 counts as 0.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([1, 0, 1])
    >>> class_totals(codes, 3), class_totals(codes, 3, np.array([0.5, 1.0, 2.0]))
    (array([1, 2, 0]), array([1. , 2.5, 0. ]))
    """
    if not factors:
        counts = np.zeros(n_classes, np.int64)
        for span in spans_of(len(codes)):
            counts += np.bincount(np.maximum(codes[span], 0), minlength=n_classes)
        return counts
    totals: Array = np.zeros(n_classes)
    every = np.arange(n_classes)
    for span in spans_of(len(codes)):
        each = factors[0][span].astype(np.float64)
        for factor in factors[1:]:
            each *= factor[span]
        # What there was so far comes first, so the sum goes on as if nothing had been cut.
        of = np.concatenate([every, np.maximum(codes[span], 0)])
        totals = np.bincount(of, np.concatenate([totals, each]), minlength=n_classes)
    return totals


def rows_by_class(codes: Array, n_classes: int, kept: Array | None = None) -> list[Array]:
    """Numbers of the rows of each class, in order; of those that are kept, where not all are.

    Examples
    --------
    >>> import numpy as np
    >>> [rows.tolist() for rows in rows_by_class(np.array([1, 0, 1]), 2)]
    [[1], [0, 2]]
    """
    n, spans = len(codes), list(spans_of(len(codes)))
    sizes = np.zeros(n_classes, np.int64)
    for span in spans:
        sizes += np.bincount(_kept_codes(codes, span, kept)[1], minlength=n_classes)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    numbers, free = np.empty(bounds[-1], number_type(n)), bounds[:-1].copy()
    for span in spans:
        rows, of = _kept_codes(codes, span, kept)
        order = np.argsort(of, kind="stable")
        rows, of = rows[order], of[order]
        counts = np.bincount(of, minlength=n_classes)
        within = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        numbers[free[of] + within] = rows
        free += counts
    return [numbers[a:b] for a, b in pairwise(bounds.tolist())]


def _kept_codes(codes: Array, span: slice, kept: Array | None) -> tuple[Array, Array]:
    """Rows of a span that are kept and in a class, and their codes."""
    of = codes[span]
    wanted = of >= 0 if kept is None else (of >= 0) & kept[span]
    at = np.flatnonzero(wanted)
    return span.start + at, of[at]


def rows_where(mask: Array, which: Array) -> Array:
    """Some of the rows that a mask marks: the first one for 0, the second for 1; sorted.

    Examples
    --------
    >>> import numpy as np
    >>> rows_where(np.array([False, True, True, False, True]), np.array([0, 2]))
    array([1, 4])
    """
    found, before = np.empty(len(which), np.int64), 0
    for span in spans_of(len(mask)):
        marked = np.flatnonzero(mask[span])
        a, b = np.searchsorted(which, [before, before + len(marked)])
        found[a:b] = span.start + marked[which[a:b] - before]
        before += len(marked)
    return found


class AllBut:
    """Numbers of all of n rows but some, made when they are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> others = AllBut(np.array([1, 2]), 6)
    >>> len(others), others[1:3]
    (4, array([3, 4]))
    """

    def __init__(self, left_out: Array, n: int) -> None:
        self._n = n - len(left_out)
        # Before each of the others, as many are left out as come before its place.
        self._places = left_out - np.arange(len(left_out))

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, span: slice) -> Array:
        at = np.arange(*span.indices(self._n))
        numbers: Array = at + np.searchsorted(self._places, at, side="right")
        return numbers
