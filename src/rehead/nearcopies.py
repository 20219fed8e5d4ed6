"""Rows that are nearly the same as another: rounded, converted, with a little noise.

A row is judged without its copies, but only if these are the same to the last digit. Others vouch
for its label.
"""

from __future__ import annotations

import numpy as np

from rehead._typing import Array, Features, row_spans
from rehead.gaussian import ByClass
from rehead.gaussian.kernels import evenly_spaced

ENTRIES = 2**18
"""Of a table of features, or of distances, at a time: little beside the features."""
SAMPLE = 200
"""Rows that are looked at, about."""
FEWEST = 20
"""Rows of a class that is looked at, at least."""
NEIGHBOURS = 50
"""The last of these, with the same label, is as far away as rows are that are no copies."""
NEAR = 0.003
"""A near copy is nearer than this share of that, and of the usual difference in each column. On a
line, one in seven rows is by chance."""
MANY = 0.2
"""Share of rows with a near copy that is worth a warning."""


def doubt_about_copies(data: ByClass) -> str | None:
    """What to say where many rows have a near copy with the same label.

    Examples
    --------
    >>> from rehead.gaussian import group_by_class
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(300, 4)), rng.integers(2, size=300)
    >>> twice = np.vstack([X, X + 1e-6 * rng.normal(size=X.shape)])
    >>> doubt_about_copies(group_by_class(X, y, 2)) is None
    True
    >>> doubt_about_copies(group_by_class(twice, np.tile(y, 2), 2))[:60]
    'Nearly the same as another row with their label are 100% of '
    """
    seen = [rows for rows in data.rows if len(rows) >= FEWEST]
    n = sum(len(rows) for rows in seen)
    if 2 * n < sum(len(rows) for rows in data.rows) or not n:
        return None
    usual = _usual_differences(data.X, np.concatenate(seen))
    near = np.concatenate(
        [near_copies(data.X, rows, usual, SAMPLE * len(rows) / n) for rows in seen]
    )
    if near.mean() < MANY:
        return None
    return (
        f"Nearly the same as another row with their label are {near.mean():.0%} of the rows. If "
        "these are copies that were changed a little (rounded, converted), wrong labels that were "
        "copied with them look right. Keep one of each."
    )


def near_copies(X: Features, rows: Array, usual: Array, most: float) -> Array:
    """Whether some rows of a class, ``most`` at most, have a near copy in it."""
    few = rows[evenly_spaced(len(rows), int(np.ceil(most)))]
    own = np.asarray(X[few], np.float64)
    middle = own.mean(axis=0)
    neighbours = min(NEIGHBOURS, len(rows) // 2)
    nearest, least = np.full((len(few), neighbours), np.inf), np.full(len(few), np.inf)
    copies = np.zeros(len(few), np.int64)
    for span in row_spans(len(rows), max(SAMPLE, own.shape[1]), ENTRIES):
        others = np.asarray(X[rows[span]], np.float64) - middle
        squares = np.einsum("nd,nd->n", others, others) - 2.0 * (own - middle) @ others.T
        squares[few[:, None] == rows[span]] = np.inf
        copies = np.where(squares.min(axis=1) < least, rows[span][squares.argmin(axis=1)], copies)
        least = np.minimum(least, squares.min(axis=1))
        both = np.concatenate([nearest, squares], axis=1)
        nearest = np.partition(both, neighbours - 1, axis=1)[:, :neighbours]
    apart = np.abs(np.asarray(X[copies], np.float64) - own)
    squares = nearest.max(axis=1) + np.einsum("nd,nd->n", own - middle, own - middle)
    far = np.sqrt(np.maximum(squares, 0.0))
    near: Array = np.linalg.norm(apart, axis=1) < NEAR * far
    # Rows of a small group (a category, a pattern of missing values) are near each other, too, but
    # not in each column.
    return near & (apart <= NEAR * usual).all(axis=1)


def _usual_differences(X: Features, rows: Array) -> Array:
    """How much two rows differ in each column, as a rule; or on the mean, where most do not."""
    few = np.asarray(X[rows[evenly_spaced(len(rows), SAMPLE)]], np.float64)
    apart = np.abs(few - np.roll(few, len(few) // 2, axis=0))
    usual: Array = np.median(apart, axis=0)
    return np.where(usual > 0, usual, apart.mean(axis=0))
