"""What is wrong with a sample: rules, in order.

1. "out of distribution": it is unlike every class. Then posteriors mean nothing, since they compare
   classes of which none fits. Two p-values are looked at, each for *all* judged samples together,
   by the step-up rule of Benjamini and Hochberg, so that of the samples called so, only a small
   share (``FALSE_OUTLIERS``) is expected to be ordinary. A bare threshold would call its own share
   of any clean data outliers. What is called so has no right label: its quality is lessened.

   - :func:`rehead.typicality`, a rank among trusted training samples. It needs no assumption, but
     it cannot tell strange samples that are a part of the training set from the last of the usual.
   - How far the sample is from its nearest class, beside the others there: logarithms of distances
     are taken as normal, with the spread of the nearer ones, which strange samples do not reach.
     This overstates the tails of Gaussians, and so errs on the safe side. What is not ``FARTHER``
     than the usual sample of its class is never strange, however small the spread.
2. "ambiguous": no label has at least the probability ``CLEAR``, two to one against all others.
   Another label may be more probable than the given one, but a reviewer had better look.
3. "wrong label": another label than the given one is clear.
4. "ok": the given label is clear.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import false_discovery_control

from rehead._typing import Array

OK, WRONG, OUTLIER, AMBIGUOUS = "ok", "wrong label", "out of distribution", "ambiguous"
KINDS = (OK, WRONG, OUTLIER, AMBIGUOUS)

CLEAR = 2 / 3
"""A label is clear where it is twice as probable as all others together."""
FALSE_OUTLIERS = 0.1
"""Expected share of ordinary samples among those called out of distribution, at most."""
FARTHER = 1.5
"""Strange samples are this many times as far from their class as the usual one, or more."""
NEARER = 0.8
"""The spread is that between the middle and this share of the samples."""
FEW_SAMPLES = 50
"""A class of fewer samples is given the spread of all."""


def kinds_of(given: Array, suggested: Array, probability: Array, ordinary: Array) -> Array:
    """The kind of each sample.

    From its labels (codes), the suggestion's probability, and its :func:`ordinary_share`.

    Examples
    --------
    >>> import numpy as np
    >>> given, suggested = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])
    >>> ordinary = np.array([1.0, 1.0, 0.7, 0.01])
    >>> kinds_of(given, suggested, np.array([0.9, 0.9, 0.6, 0.9]), ordinary).tolist()
    ['ok', 'wrong label', 'ambiguous', 'out of distribution']
    """
    rules = [ordinary <= FALSE_OUTLIERS, probability < CLEAR, suggested != given]
    found: Array = np.select(rules, [OUTLIER, AMBIGUOUS, WRONG], OK)
    return found


def ordinary_share(typical: Array, distance: Array, nearest: Array) -> Array:
    """Of the samples that are as strange as this one or more, the share expected to be ordinary.

    From p-values of each sample's being usual, and its squared distance to the nearest class (its
    code).

    Examples
    --------
    >>> import numpy as np
    >>> typical, distance = np.array([0.9, 0.5, 0.7, 0.001]), np.ones(4)
    >>> ordinary_share(typical, distance, np.zeros(4, int)).tolist()
    [1.0, 1.0, 1.0, 0.008]
    """
    found = np.ones(len(typical))
    for p in (typical, p_of_distances(distance, nearest)):
        # Whichever is smaller counts, so each is expected to call ordinary samples half as often.
        np.fmin(found, 2.0 * false_share(p), out=found)
    return found


def quality_of_strange(quality: Array, ordinary: Array) -> Array:
    """Quality of labels, less for samples that are out of distribution: none is right.

    Samples that are not called so keep their quality, so that clean data loses nothing.

    Examples
    --------
    >>> import numpy as np
    >>> quality_of_strange(np.array([0.9, 0.9]), np.array([0.5, 0.01])).round(3).tolist()
    [0.9, 0.009]
    """
    lessened: Array = np.where(ordinary <= FALSE_OUTLIERS, quality * ordinary, quality)
    return lessened


def p_of_distances(squared: Array, nearest: Array) -> Array:
    """P-values of squared distances being usual for their class.

    1 where there are too few samples to tell what is usual.

    Examples
    --------
    >>> import numpy as np
    >>> squared = np.append(np.random.default_rng(0).chisquare(5, size=200), 300.0)
    >>> p = p_of_distances(squared, np.zeros(201, int))
    >>> bool(p[:200].min() > 1e-3), bool(p[200] < 1e-6)
    (True, True)
    """
    p = np.ones(len(squared))
    if len(squared) < FEW_SAMPLES:
        return p
    logs = np.log(np.maximum(squared, np.finfo(float).tiny))
    for c in np.unique(nearest):
        rows = np.flatnonzero(nearest == c)
        middle, upper = np.quantile(logs[rows] if len(rows) >= FEW_SAMPLES else logs, [0.5, NEARER])
        spread = (upper - middle) / ndtri(NEARER)
        beyond = logs[rows] - middle
        strange = (beyond > 2 * np.log(FARTHER)) & (spread > 0)
        p[rows[strange]] = ndtr(-beyond[strange] / max(spread, np.finfo(float).tiny))
    return p


def false_share(p: Array) -> Array:
    """Of the p-values that are this small or smaller, the share that is expected by chance.

    The rule of Benjamini and Hochberg as a number: n p / k for the k-th smallest of n, or that of a
    larger one if that is less. NaN where there is no p-value.

    Examples
    --------
    >>> import numpy as np
    >>> false_share(np.array([0.001, 0.04, 0.5, 0.9])).round(3).tolist()
    [0.004, 0.08, 0.667, 0.9]
    """
    found, told = np.full(len(p), np.nan), ~np.isnan(p)
    found[told] = false_discovery_control(p[told])
    return found
