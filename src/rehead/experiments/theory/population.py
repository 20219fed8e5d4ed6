"""What the MCD tends to: C-steps on the distribution itself instead of on samples.

With ever more samples the kept subset becomes an ellipsoid of mass alpha that is centred at its own
mean and shaped by its own covariance (Butler, Davies and Jhun, 1993). For spherical Gaussians whose
means lie on one axis, the covariance is ``along`` on the axis and ``across`` elsewhere. A cloud of
mean p and variance v has in the slice at x the mass

    phi((x - p) / sqrt v) / sqrt v  *  F_{d-1}(t),    t = across (r^2 - (x - m)^2 / along) / v,

F_k being the chi-square distribution, and there the second moment v F_{d+1}(t) in each direction
across. All moments are integrals over one variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammainc

from rehead._typing import Array
from rehead.experiments.theory.world import Cloud, World

NODES = 60
"""Nodes of the quadrature in each piece."""

REACH = 9.0
"""Standard deviations of a cloud beyond which its density is nothing."""

_X, _W = np.polynomial.legendre.leggauss(NODES)


class Ellipsoid(NamedTuple):
    """Mean on the axis, variances along and across it; what the MCD tends to."""

    mean: float
    along: float
    across: float


class Limit(NamedTuple):
    """A fixed point of the C-step.

    Attributes
    ----------
    ellipsoid : Ellipsoid
    log_det : float
    shares : list of float
        Of what is kept, the share that comes from each cloud.
    """

    ellipsoid: Ellipsoid
    log_det: float
    shares: list[float]


def mcd_limit(world: World, c: int) -> Limit:
    """The limit of class c's MCD: the fixed point with the smallest determinant.

    C-steps start from the clean samples, from each kind of outlier, and from all samples.

    Examples
    --------
    >>> from rehead.experiments.theory.closed import truncation
    >>> clean = World(d=3, delta_out=0.0, delta_mcd=0.5)
    >>> limit = mcd_limit(clean, 0).ellipsoid
    >>> bool(np.allclose([limit.along, limit.across], truncation(3, 0.5)))
    True
    """
    clouds = world.clouds(c)
    return min(limits(clouds, world.d, world.delta_mcd), key=lambda limit: limit.log_det)


def limits(clouds: Sequence[Cloud], d: int, alpha: float) -> list[Limit]:
    """Fixed points reached from each cloud alone, in their order, and from the whole."""
    starts = [Ellipsoid(p.position, p.variance, p.variance) for p in clouds]
    return [settle(clouds, d, alpha, start) for start in [*starts, whole(clouds)]]


def settle(
    clouds: Sequence[Cloud], d: int, alpha: float, start: Ellipsoid, most: int = 2000
) -> Limit:
    """C-steps until nothing moves."""
    now = start
    for _ in range(most):
        new, shares = c_step(clouds, d, alpha, now)
        moved = max(abs(a - b) for a, b in zip(new, now, strict=True))
        now = new
        if moved < 1e-11 * now.across**0.5:
            break
    else:
        raise ArithmeticError(f"{most} C-steps did not settle for {clouds}, d {d}, alpha {alpha}.")
    return Limit(now, float(np.log(now.along) + (d - 1) * np.log(now.across)), shares)


def c_step(
    clouds: Sequence[Cloud], d: int, alpha: float, now: Ellipsoid
) -> tuple[Ellipsoid, list[float]]:
    """The moments of the ellipsoid of mass ``alpha`` about ``now``, and the share of each cloud."""

    def excess(log_r2: float) -> float:
        return float(sum(m[0] for m in _moments(clouds, d, now, np.exp(log_r2)))) - alpha

    r2 = float(np.exp(brentq(excess, -30.0, 30.0, xtol=1e-14, rtol=1e-14)))
    moments = np.array(_moments(clouds, d, now, r2))
    mass, first, second, across = moments.sum(axis=0)
    mean = now.mean + first / mass
    along = second / mass - (first / mass) ** 2
    shares = (moments[:, 0] / mass).tolist()
    return Ellipsoid(float(mean), float(along), float(across / mass)), shares


def _moments(clouds: Sequence[Cloud], d: int, now: Ellipsoid, r2: float) -> list[Array]:
    """For each cloud, within the ellipsoid: mass, first two moments about its mean, and across."""
    half = np.sqrt(r2 * now.along)
    found = []
    for p in clouds:
        # x = mean + half sin(angle) takes the root out of the ends of the range.
        low, high = _angles(now.mean, half, p)
        angle = 0.5 * (high - low) * _X + 0.5 * (high + low)
        z = half * np.sin(angle)
        density = np.exp(-0.5 * (now.mean + z - p.position) ** 2 / p.variance)
        density *= half * np.cos(angle) * 0.5 * (high - low) / np.sqrt(2 * np.pi * p.variance)
        weight = p.weight * _W * density
        t = now.across * r2 * np.cos(angle) ** 2 / p.variance
        inside = weight * gammainc(0.5 * (d - 1), 0.5 * t)
        squares = p.variance * weight * gammainc(0.5 * (d + 1), 0.5 * t)
        found.append(
            np.array([inside.sum(), (z * inside).sum(), (z**2 * inside).sum(), squares.sum()])
        )
    return found


def _angles(mean: float, half: float, p: Cloud) -> tuple[float, float]:
    """The range of angles in which a cloud has any density."""
    reach = REACH * np.sqrt(p.variance)
    ends = (p.position + np.array([-reach, reach]) - mean) / half
    low, high = np.arcsin(np.clip(ends, -1.0, 1.0))
    return float(low), float(high)


def whole(clouds: Iterable[Cloud]) -> Ellipsoid:
    """Mean and covariance of the mixture."""
    w, p, v = np.array(list(clouds)).T
    mean, across = w @ p, w @ v
    return Ellipsoid(float(mean), float(across + w @ (p - mean) ** 2), float(across))
