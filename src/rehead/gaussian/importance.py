"""How much each column tells, by how fast scores on a kernel map change with it.

A kernel map sees all columns alike. Where only some of them tell the classes apart, rows that are
alike in these are kept apart by the others. The scores on a first map show which: their slope is
small along a column that tells nothing. With a column's distances taken in proportion to the mean
slope along it, a second map sees mostly what tells (the diagonal of the average outer product of
gradients; Radhakrishnan et al., 2024).

A score is ``f(z) = sum_l a_l k_l`` with ``k_l = exp(-gamma |z - l|^2)``, so that

    df / dz_j = -2 gamma [ z_j sum_l a_l k_l - sum_l a_l k_l l_j ].
"""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.gaussian.kernel_map import KernelMap, standardised
from rehead.gaussian.threads import own_threads

LEAST = 0.01
"""Of a column that tells nothing, so that no distance is lost altogether."""
MOST_SCORES = 16
"""Directions in which classes differ that are looked at; there are few that matter."""


@own_threads()
def importance(kernel_map: KernelMap, slopes: Array, X: Array, counts: Array) -> Array:
    """Of each column, for a new map: 1 is that of the column that tells most.

    Parameters
    ----------
    kernel_map : KernelMap
        Its own importance is taken into account.
    slopes : array of shape (n_classes, n_columns)
        Scores of the classes are linear in what comes after the map.
    X : array of shape (n, d)
        Some rows, over which slopes along columns are averaged.
    counts : array of shape (n,)
        How often each row counts.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian.kernel_map import make_kernel_map
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> kernel_map = make_kernel_map(X, 50, 1.0, np.random.default_rng(0))
    >>> first = np.linalg.lstsq(kernel_map(X), X[:, 0], rcond=None)[0]
    >>> importance(kernel_map, np.array([first, -first]), X, np.ones(200)).round(1)
    array([1., 0.])
    """
    z = standardised(X, kernel_map.centre, kernel_map.scale)
    similar = np.exp(kernel_map.exponents(X))
    total = np.zeros(z.shape[1])
    for a in (kernel_map.projection @ _directions(slopes)).T:
        parts = similar * a
        slope = z * parts.sum(axis=1)[:, None] - parts @ kernel_map.landmarks
        total += counts @ slope**2
    found = np.sqrt(total)
    if kernel_map.importance is not None:
        found *= kernel_map.importance
    largest = found.max()
    return np.maximum(found / largest, LEAST) if largest > 0 else np.ones(len(found))


def _directions(slopes: Array) -> Array:
    """Slopes of few scores for those of all classes: squares add up to the same, or nearly.

    What all classes have in common tells nothing, and is taken out.
    """
    _, lengths, axes = np.linalg.svd(slopes - slopes.mean(axis=0), full_matrices=False)
    directions: Array = axes[:MOST_SCORES].T * lengths[:MOST_SCORES]
    return directions
