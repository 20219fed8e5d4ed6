"""The world of Theorem 1: clean samples about a mean of their class, outliers about the origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rehead._typing import Array


class Cloud(NamedTuple):
    """A spherical Gaussian on the axis: its weight, its mean along the axis, its variance."""

    weight: float
    position: float
    variance: float


@dataclass(frozen=True)
class World:
    """Assumptions A1 to A4 with numbers in them.

    The means of the classes lie on one axis, ``u = (1, ..., 1) / sqrt(d)``, and the outliers of
    every class about the origin. As estimators are affine equivariant, the axis is no loss; and
    along this one the limits in the 1-norm are those along the axis, times ``sqrt(d)``.

    Attributes
    ----------
    d : int
    delta_out : float
        Share of outliers in each class.
    delta_mcd : float
        Share that the MCD keeps, K_c / N_c.
    sigma, sigma_out : float
        Standard deviation of clean samples and of outliers, in each feature.
    positions : pair of float
        Where the means of the two classes lie on the axis.
    spike : float
        Share of the outliers that sit in a narrow spike at the origin. The others lie so far out
        that the covariance of all is still ``sigma_out^2 I``, as A1 has it. 0: Gaussian outliers.
    spike_width : float
        Standard deviation in the spike.

    Examples
    --------
    >>> World(d=2, delta_out=0.3, delta_mcd=0.5, sigma_out=3.0).assumptions(100)
    {'A1': True, 'A2': True, 'A3': True, 'A4': True}
    """

    d: int
    delta_out: float
    delta_mcd: float
    sigma: float = 1.0
    sigma_out: float = 3.0
    positions: tuple[float, float] = (4.0, -2.0)
    spike: float = 0.0
    spike_width: float = 0.05

    def __post_init__(self) -> None:
        if self.d < 2:
            raise ValueError(f"d must be 2 or more, got {self.d}: an axis and what is across it.")
        for name in ("delta_out", "spike"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be in [0, 1), got {getattr(self, name)}.")
        if not 0 < self.delta_mcd <= 1:
            raise ValueError(f"delta_mcd must be in (0, 1], got {self.delta_mcd}.")
        if not (min(self.sigma, self.sigma_out) > 0 and 0 < self.spike_width < self.sigma_out):
            raise ValueError(
                "sigma, sigma_out and spike_width must be positive, and the spike narrower than "
                f"sigma_out; got {self.sigma}, {self.sigma_out}, {self.spike_width}."
            )

    @property
    def axis(self) -> Array:
        """The direction u of the means."""
        axis: Array = np.full(self.d, self.d**-0.5)
        return axis

    @property
    def means(self) -> Array:
        """mu_c, a row for each class."""
        means: Array = np.outer(self.positions, self.axis)
        return means

    def outlier_clouds(self) -> list[Cloud]:
        """P_out as Gaussians whose weights add up to 1."""
        if not self.spike:
            return [Cloud(1.0, 0.0, self.sigma_out**2)]
        narrow = self.spike_width**2
        wide = (self.sigma_out**2 - self.spike * narrow) / (1.0 - self.spike)
        return [Cloud(self.spike, 0.0, narrow), Cloud(1.0 - self.spike, 0.0, wide)]

    def clouds(self, c: int) -> list[Cloud]:
        """P_mix of a class: the clean samples first, then the outliers."""
        clean = Cloud(1.0 - self.delta_out, self.positions[c], self.sigma**2)
        outliers = [p._replace(weight=self.delta_out * p.weight) for p in self.outlier_clouds()]
        return [clean, *(outliers if self.delta_out else [])]

    def assumptions(self, n: int) -> dict[str, bool]:
        """Which assumptions of Theorem 1 hold for ``n`` samples a class."""
        return {
            "A1": True,  # by construction
            "A2": self.delta_out < 1 and self.delta_mcd < 1,
            "A3": self.sigma < self.sigma_out,
            "A4": self.delta_out < 1 - self.delta_mcd and self.delta_mcd > self.d / n,
        }


class Drawn(NamedTuple):
    """Samples of all classes, the class of each, and which are outliers."""

    X: Array
    codes: Array
    outlier: Array


def draw(world: World, n: int, rng: np.random.Generator) -> Drawn:
    """Draw ``n`` samples of each class; the number of outliers is fixed, as A2 has it."""
    n_out = round(world.delta_out * n)
    outlier = np.arange(n) >= n - n_out
    X = rng.normal(size=(len(world.positions), n, world.d))
    for rows, mean in zip(X, world.means, strict=True):
        rows[~outlier] = mean + world.sigma * rows[~outlier]
        rows[outlier] *= _spreads(world, n_out, rng)[:, None]
    codes = np.repeat(np.arange(len(X)), n)
    return Drawn(X.reshape(-1, world.d), codes, np.tile(outlier, len(X)))


def _spreads(world: World, n: int, rng: np.random.Generator) -> Array:
    """The standard deviation of each of n outliers."""
    clouds = world.outlier_clouds()
    which = rng.choice(len(clouds), size=n, p=[p.weight for p in clouds])
    spreads: Array = np.sqrt([p.variance for p in clouds])[which]
    return spreads
