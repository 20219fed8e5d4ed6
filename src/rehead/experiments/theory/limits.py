"""What the estimators tend to: as printed, with the factor, and as it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from rehead._typing import Array
from rehead.experiments.theory.closed import phi, truncation
from rehead.experiments.theory.estimates import PAPER, Gaussians
from rehead.experiments.theory.figures import figures
from rehead.experiments.theory.population import Ellipsoid, Limit, c_step, mcd_limit, whole
from rehead.experiments.theory.world import World

Claims = dict[str, dict[str, float]]
"""By figure, what it tends to: ``printed`` in the paper, ``repaired``, ``exact``."""


def sample_limit(world: World) -> Gaussians:
    """Lemma 1: ``(1 - delta) mu_c``, and the covariance of the mixture, tied.

    Examples
    --------
    >>> world = World(d=2, delta_out=0.25, delta_mcd=0.5, sigma_out=3.0, positions=(4.0, -4.0))
    >>> sample_limit(world).means[0] / world.means[0]
    array([0.75, 0.75])
    """
    delta, u = world.delta_out, world.axis
    across = (1 - delta) * world.sigma**2 + delta * world.sigma_out**2
    between = delta * (1 - delta) * float(np.mean(np.square(world.positions)))
    covariance = across * np.eye(world.d) + between * np.outer(u, u)
    return Gaussians((1 - delta) * world.means, covariance, delta, [])


def printed_limit(world: World) -> Gaussians:
    """Lemma 1 for the MCD, as printed: mu_c and sigma^2 I."""
    return Gaussians(world.means, world.sigma**2 * np.eye(world.d), 0.0, [])


def kept_of_clean(world: World) -> float:
    """Share of the clean samples that the MCD keeps if it keeps no outlier."""
    return min(world.delta_mcd / (1.0 - world.delta_out), 1.0)


def repaired_limit(world: World) -> Gaussians:
    """Lemma 1 with the factor: exact for Gaussian clean samples and outliers out of reach."""
    factor = truncation(world.d, kept_of_clean(world))
    return Gaussians(world.means, factor * world.sigma**2 * np.eye(world.d), 0.0, [])


@cache
def exact_limit(world: World) -> Gaussians:
    """The limit of the MCD, by quadrature; outliers within its reach included."""
    return _tied(world, [mcd_limit(world, c) for c in range(2)])


def algorithm_1_limit(world: World) -> Gaussians:
    """The limit of Algorithm 1 as printed.

    A random subset tends to the whole distribution, so it is two C-steps away from that.
    """
    found = []
    for c in range(2):
        clouds = world.clouds(c)
        now, shares = whole(clouds), [cloud.weight for cloud in clouds]
        for _ in range(PAPER.most):
            now, shares = c_step(clouds, world.d, world.delta_mcd, now)
        found.append(Limit(now, 0.0, shares))
    return _tied(world, found)


def sample_claims(world: World) -> Claims:
    """What the sample estimator is said to tend to; distances of means as printed in the proof."""
    figure = figures(world, sample_limit(world), sample_limit(world))
    claims = {name: {"printed": value, "exact": value} for name, value in figure.items()}
    claims["distance"]["printed"] = (1 - world.delta_out) ** 2
    return claims


def mcd_claims(world: World) -> Claims:
    """What the MCD is said to tend to, and what it tends to."""
    sample = sample_limit(world)
    readings = {
        "printed": printed_limit(world),
        "repaired": repaired_limit(world),
        "exact": exact_limit(world),
    }
    by_reading = {name: figures(world, g, sample) for name, g in readings.items()}
    names = by_reading["exact"]
    claims = {n: {reading: f[n] for reading, f in by_reading.items()} for n in names}
    # Equation 4 as printed, whichever way the norms are read.
    printed = 1.0 / ((1 - world.delta_out) ** 2 * phi(sample.covariance))
    claims["ratio"]["printed"] = claims["ratio_squared"]["printed"] = printed
    return claims


def algorithm_1_claims(world: World) -> Claims:
    """What the MCD is said to tend to, beside what two C-steps from a random start tend to."""
    exact = figures(world, algorithm_1_limit(world), sample_limit(world))
    said = mcd_claims(world)
    return {n: {"printed": said[n]["printed"], "exact": value} for n, value in exact.items()}


def _tied(world: World, found: Sequence[Limit]) -> Gaussians:
    """Means of the classes, and the mean of their covariances."""
    means = np.outer([limit.ellipsoid.mean for limit in found], world.axis)
    covariance = np.mean([_matrix(world, limit.ellipsoid) for limit in found], axis=0)
    kept = float(np.mean([1.0 - limit.shares[0] for limit in found]))
    return Gaussians(means, covariance, kept, [limit.log_det for limit in found])


def _matrix(world: World, e: Ellipsoid) -> Array:
    u = world.axis
    matrix: Array = e.across * np.eye(world.d) + (e.along - e.across) * np.outer(u, u)
    return matrix
