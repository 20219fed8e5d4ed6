"""Whether the features are mapped before Gaussians are estimated on them, and how."""

from __future__ import annotations

import numpy as np

from rehead.gaussian.kernel_map import KernelMap, map_of_rows
from rehead.gaussian.options import Options
from rehead.gaussian.rows import ByClass


def map_for(data: ByClass, options: Options, rng: np.random.Generator) -> KernelMap | None:
    """The map that the options ask for; None where features stay as they are."""
    if options.feature_map == "none":
        return None
    if options.feature_map == "kernel":
        return map_of_rows(data, rng)
    return choose_map(data, options, rng)


def choose_map(data: ByClass, options: Options, rng: np.random.Generator) -> KernelMap | None:
    """The map under which the labels are most likely; None where that is none.

    There is no rule yet: features stay as they are.
    """
    return None
