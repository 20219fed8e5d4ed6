"""Gaussians of the features as they are, beside those of a map: they tell how far a row is.

A map hides what is far. Distances from its landmarks show it, but they have long tails where
features are: a pixel that is rarely on is far in units of its spread. Gaussians of the same rows,
which count as they did on the map, know which directions vary together, and are shrunk.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from rehead._perrow import rows_where
from rehead._typing import Array, Features, some_rows
from rehead.gaussian.anchored import REGULARISATIONS
from rehead.gaussian.composition import Composition
from rehead.gaussian.kernels import evenly_spaced
from rehead.gaussian.labelnoise import fit_noise
from rehead.gaussian.leave_one_out import all_scores, leave_one_out_scores
from rehead.gaussian.moments import pooled_moments
from rehead.gaussian.rows import ByClass, group_by_class
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.tied import TiedGaussians
from rehead.gaussian.training import Regularisation


def unmapped_gaussians(data: ByClass, inside: Composition) -> TiedGaussians:
    """Gaussians that contain so much of each row, shrunk so that the labels are most likely.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.random.default_rng(0).normal(size=(60, 2)), np.repeat([0, 1], 30)
    >>> X[y == 1] += 5.0
    >>> inside = Composition.from_rows(np.ones(60), y, 2)
    >>> unmapped_gaussians(group_by_class(X, y, 2), inside).means.round() + 0.0
    array([[0., 0.],
           [5., 5.]])
    """
    counted = group_by_class(data.X, inside.counted_as, data.n_classes, weights=inside.weights)
    every = [counted.whole(c) for c in range(data.n_classes)]
    moments = pooled_moments(counted, every, np.float64)
    counts = inside.weights > 0
    rows = rows_where(counts, evenly_spaced(int(counts.sum()), SETTINGS.map_sample))
    X, codes, part = some_rows(data.X, rows), data.codes[rows], inside.take(rows)

    def unlikely(regularisation: Regularisation) -> float:
        scores = leave_one_out_scores(regularisation.gaussians(moments), X, codes, part, all_scores)
        return fit_noise(scores, codes).nll

    return min(REGULARISATIONS, key=unlikely).gaussians(moments)


def nearest_distances(gaussians: TiedGaussians, X: Features, inside: Composition) -> Array:
    """Squared distance to the nearest class, for each feature; rows of the fit without themselves.

    About 1 for usual samples.
    """
    even = gaussians.without_priors()
    nearest = partial(_nearest, *gaussians.means.shape)
    return leave_one_out_scores(even, X, inside.counted_as, inside, nearest)


def _nearest(n_classes: int, width: int, scores: Array, _: Array) -> Array:
    distance: Array = -2.0 * (scores.max(axis=1) + np.log(n_classes)) / width
    return distance
