"""What is measured of estimates: the same figures for samples and for limits."""

from __future__ import annotations

import numpy as np

from rehead.experiments.theory.closed import bound_terms, lda_error, mean_errors, phi
from rehead.experiments.theory.estimates import Gaussians
from rehead.experiments.theory.world import World


def figures(world: World, g: Gaussians, sample: Gaussians) -> dict[str, float]:
    """Figures of an estimate, by name.

    - ``pull_1, pull_2``: how far the mean of the class is drawn towards that of the outliers, as a
      share of the way. Equation 3 says 0 for the MCD, delta_out for the sample estimator.
    - ``l1_error``: ``|mu_c - mean_c|_1``, the mean over both classes.
    - ``along, across, scale``: variance on the axis of the means, across it, and the mean of all.
    - ``phi``: as in Theorem 1.
    - ``distance, distance_squared``: between the means of the classes, as a share of the true one.
    - ``ratio, ratio_squared``: the left side of equation 4, with norms and with squared norms.
    - ``outliers_kept``: among the samples that were used.
    - ``terms, terms_squared, mean_errors``: parts of the bound.
    - ``error``: of the classifier, on clean samples.
    """
    u, d = world.axis, world.d
    along = float(u @ g.covariance @ u)
    pulls = (world.means - g.means) @ u / np.array(world.positions)
    distance = _apart(g) / abs(world.positions[0] - world.positions[1])
    ratio = phi(g.covariance) / phi(sample.covariance)
    relative = _apart(g) / _apart(sample)
    off = mean_errors(g.means, world.means)
    return {
        "pull_1": float(pulls[0]),
        "pull_2": float(pulls[1]),
        "l1_error": off / len(g.means),
        "along": along,
        "across": float((np.trace(g.covariance) - along) / (d - 1)),
        "scale": float(np.trace(g.covariance) / d),
        "phi": phi(g.covariance),
        "distance": distance,
        "distance_squared": distance**2,
        "ratio": ratio * relative,
        "ratio_squared": ratio * relative**2,
        "outliers_kept": g.outliers_kept,
        "terms": bound_terms(g.means, g.covariance, world.sigma, power=1),
        "terms_squared": bound_terms(g.means, g.covariance, world.sigma, power=2),
        "mean_errors": off,
        "error": lda_error(list(g.means), g.covariance, world.means, world.sigma),
    }


def _apart(g: Gaussians) -> float:
    return float(np.linalg.norm(g.means[0] - g.means[1]))
