"""Rows that are nearly the same as another: augmented copies, images that were saved again.

A row is judged without its copies, but only if these are the same to the last digit. Others vouch
for its label.
"""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.gaussian import ByClass
from rehead.gaussian.kernels import BLOCK, evenly_spaced

SAMPLE = 200
"""Rows that are looked at, about."""
NEIGHBOURS = 50
"""Of its own label: the last of them is as far away as rows are that are no copies. A row that is
far from everything is no copy, so the usual distance counts where that is smaller."""
NEAR = 0.003
"""A near copy is nearer than this share of that. On a line, one in seven rows is by chance."""
MANY = 0.2
"""Share of rows with a near copy that is worth a warning."""


def doubt_about_copies(data: ByClass) -> str | None:
    """What to say where many rows have a near copy with the same label; features in memory only.

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
    if not isinstance(data.X, np.ndarray):
        return None
    n = sum(len(rows) for rows in data.rows)
    found = [_near_copies(data.X, rows, SAMPLE * len(rows) / n) for rows in data.rows]
    near = np.concatenate(found)
    if not len(near) or near.mean() < MANY:
        return None
    return (
        f"Nearly the same as another row with their label are {near.mean():.0%} of the rows. If "
        "these are copies that were changed a little (augmented, rounded, saved again), wrong "
        "labels that were copied with them look right. Keep one of each."
    )


def _near_copies(X: Array, rows: Array, most: float) -> Array:
    """Whether some rows of a class have a near copy in it."""
    if len(rows) < NEIGHBOURS + 2:
        return np.zeros(0, bool)
    few = rows[evenly_spaced(len(rows), int(np.ceil(most)))]
    own = X[few].astype(np.float64)
    middle = own.mean(axis=0)
    distances = np.empty((len(few), len(rows)))
    for start in range(0, len(rows), BLOCK):
        others = X[rows[start : start + BLOCK]] - middle
        squares = np.einsum("nd,nd->n", others, others)
        distances[:, start : start + BLOCK] = squares - 2.0 * (own - middle) @ others.T
    nearest = rows[np.argpartition(distances, NEIGHBOURS + 1, axis=1)[:, : NEIGHBOURS + 2]]
    exact = [np.sort(np.linalg.norm(X[of] - x, axis=1)) for of, x in zip(nearest, own, strict=True)]
    near = np.array(exact)  # the first of each is the row itself
    far = near[:, NEIGHBOURS]
    copies: Array = near[:, 1] < NEAR * np.minimum(far, np.median(far))
    return copies
