"""The estimators by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rehead.gaussian.agreement import agreement
from rehead.gaussian.anchored import anchored
from rehead.gaussian.auto import auto
from rehead.gaussian.classwise import identity, lts, mcd_tied, sample
from rehead.gaussian.fit import Fit
from rehead.gaussian.mixture import mixture
from rehead.gaussian.options import Options
from rehead.gaussian.posterior import trim_by_posterior
from rehead.gaussian.rows import ByClass
from rehead.gaussian.threads import own_threads
from rehead.gaussian.trimmed import trimmed_kmeans

ESTIMATORS: dict[str, Callable[[ByClass, Options, np.random.Generator], Fit]] = {
    "agreement": agreement,
    "anchored": anchored,
    "auto": auto,
    "identity": identity,
    "lts": lts,
    "mcd": mcd_tied,
    "mixture": mixture,
    "posterior": trim_by_posterior,
    "sample": sample,
    "trimmed-kmeans": trimmed_kmeans,
}
"""Functions by name; ``options.USAGE`` has the options that each of them uses."""


@own_threads()
def estimate(name: str, data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Run an estimator by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian import Options, estimate, group_by_class
    >>> data = group_by_class(np.array([[0.0], [2.0], [7.0], [9.0]]), np.array([0, 0, 1, 1]), 2)
    >>> estimate("sample", data, Options(), np.random.default_rng(0)).gaussians.means
    array([[1.],
           [8.]])
    """
    fit = ESTIMATORS[name](data, options, rng)
    # What weights are in is the same for all estimators, whatever they counted in.
    inside = fit.composition._replace(unit=data.unit)
    return fit._replace(composition=inside)
