"""Robust estimation of class Gaussians. Needs numpy and scipy only."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rehead.gaussian.agreement import agreement
from rehead.gaussian.anchored import anchored
from rehead.gaussian.classwise import identity, lts, mcd_tied, sample
from rehead.gaussian.mcd import support_size
from rehead.gaussian.mixture import mixture
from rehead.gaussian.options import Fit, Options
from rehead.gaussian.posterior import trim_by_posterior
from rehead.gaussian.rows import ByClass, group_by_class
from rehead.gaussian.threads import own_threads
from rehead.gaussian.tied import TiedGaussians, tied_gaussians
from rehead.gaussian.trimmed import trimmed_kmeans


class Estimator(NamedTuple):
    """A way to estimate the Gaussians: its function, the options it uses, and its defaults."""

    function: Callable[[ByClass, Options, np.random.Generator], Fit]
    uses: frozenset[str]
    defaults: Options = Options()


_ALWAYS = frozenset({"priors", "shrinkage"})
_TRIMS = _ALWAYS | {"support_fraction", "max_steps"}

ESTIMATORS: dict[str, Estimator] = {
    "agreement": Estimator(agreement, _ALWAYS | {"max_steps"}, Options(max_steps=5)),
    "anchored": Estimator(
        anchored, frozenset({"shrinkage", "max_steps"}), Options(max_steps=8, shrinkage="auto")
    ),
    # The library's own choice; for several layers, LayerEnsemble makes more of it.
    "auto": Estimator(
        anchored, frozenset({"shrinkage", "max_steps"}), Options(max_steps=8, shrinkage="auto")
    ),
    "identity": Estimator(identity, _ALWAYS),
    "lts": Estimator(lts, _TRIMS),
    "mcd": Estimator(mcd_tied, _TRIMS | {"n_starts", "start", "leave_one_out"}),
    "mixture": Estimator(
        mixture, frozenset({"shrinkage", "max_steps"}), Options(max_steps=20, shrinkage="auto")
    ),
    "posterior": Estimator(trim_by_posterior, _TRIMS, Options(support_fraction=0.5, max_steps=3)),
    "sample": Estimator(sample, _ALWAYS),
    "trimmed-kmeans": Estimator(trimmed_kmeans, _TRIMS),
}
"""Estimators by name."""


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
    with own_threads(float(len(data.X)) * data.n_features**2):
        return ESTIMATORS[name].function(data, options, rng)


__all__ = [
    "ESTIMATORS",
    "ByClass",
    "Estimator",
    "Fit",
    "Options",
    "TiedGaussians",
    "estimate",
    "group_by_class",
    "support_size",
    "tied_gaussians",
]
