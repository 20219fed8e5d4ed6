"""What a method says about the labels, and rules that several methods share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._typing import Array


class Verdict(NamedTuple):
    """What a method says about each label.

    Attributes
    ----------
    flagged : boolean array
        The samples that the method throws out.
    quality : array
        How well each label fits; low is suspect. Any scale.
    noise_rate : float, optional
        The share of wrong labels, where the method estimates it.
    """

    flagged: Array
    quality: Array
    noise_rate: float | None = None


def flag_worst(quality: Array, share: float) -> Array:
    """Flag this share of the samples, those of the lowest quality.

    A number of samples, not a threshold: where many have the same quality, a threshold would flag
    all of them or none.

    Examples
    --------
    >>> import numpy as np
    >>> flag_worst(np.array([0.9, 0.1, 0.9, 0.9]), 0.5)
    array([ True,  True, False, False])
    """
    flagged = np.zeros(len(quality), bool)
    flagged[np.argsort(quality, kind="stable")[: round(share * len(quality))]] = True
    return flagged


def spare_classes(flagged: Array, y: Array) -> Array:
    """The same flags, but none in classes of which nothing would be left.

    Examples
    --------
    >>> import numpy as np
    >>> spare_classes(np.array([True, True, True, False]), np.array([0, 0, 1, 1]))
    array([False, False,  True, False])
    """
    size = int(y.max(initial=-1)) + 1
    lost = np.bincount(y[~flagged], minlength=size) == 0
    spared: Array = flagged & ~lost[y]
    return spared
