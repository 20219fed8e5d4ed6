"""How much of Theorem 1 is tried: worlds, sizes, repetitions, seed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rehead.experiments.theory.world import World

BASE = World(d=4, delta_out=0.3, delta_mcd=0.5, sigma=1.0, sigma_out=3.0, positions=(4.0, -2.0))

WORLDS = (
    BASE,
    replace(BASE, delta_out=0.0),
    replace(BASE, delta_out=0.1),
    replace(BASE, delta_out=0.45),
    replace(BASE, delta_mcd=0.3),
    replace(BASE, delta_mcd=0.65),
    replace(BASE, sigma=0.5),
    replace(BASE, sigma_out=1.5),
    replace(BASE, sigma_out=10.0),
    replace(BASE, d=2),
    replace(BASE, d=12),
    replace(BASE, positions=(3.0, -3.0)),
)
"""One thing changed at a time."""


@dataclass(frozen=True)
class TheoremSettings:
    """What :func:`run_theorem` does. The defaults are those of :meth:`quick`.

    Attributes
    ----------
    name : str
    seed : int
    worlds : tuple of World
        Each satisfies A1 to A4.
    sizes : tuple of int
        Samples a class, from few to many; limits are tested at the last one.
    repeats : int
    factor_dims, factor_shares : tuple
        Dimensions and kept shares at which the factor of truncation is measured.
    factor_sizes, factor_repeats : tuple of int, int
    constants : tuple of float
        Values of the bound's constant D.
    scales : tuple of float
        Units in which the bound is computed for the same two classes.
    breakdown : tuple of int
        Samples, features and repetitions for breakdown.
    replaced : tuple of int
        How many of those samples are replaced.
    exact : tuple of int
        Samples, features and repetitions where every subset is tried.
    counter : tuple of int
        Samples a class and repetitions for the counterexamples.
    tiny_counter : tuple of int
        The same where every subset is tried.

    Examples
    --------
    >>> TheoremSettings.quick().repeats > TheoremSettings.tiny().repeats
    True
    """

    name: str = "quick"
    seed: int = 0
    worlds: tuple[World, ...] = WORLDS
    sizes: tuple[int, ...] = (100, 400, 1600, 6400)
    repeats: int = 24
    factor_dims: tuple[int, ...] = (2, 5, 10)
    factor_shares: tuple[float, ...] = (0.5, 0.75, 0.9)
    factor_sizes: tuple[int, ...] = (400, 6400)
    factor_repeats: int = 12
    constants: tuple[float, ...] = (0.0, 0.01, 0.1, 1.0)
    scales: tuple[float, ...] = (1.0, 0.1, 0.05)
    breakdown: tuple[int, int, int] = (100, 3, 20)
    replaced: tuple[int, ...] = (1, 10, 20, 25, 30, 35, 40, 45, 48, 49)
    exact: tuple[int, int, int] = (10, 2, 20)
    counter: tuple[int, int] = (4000, 12)
    tiny_counter: tuple[int, int] = (15, 30)

    @classmethod
    def quick(cls, seed: int = 0) -> TheoremSettings:
        """About a minute on one core."""
        return cls(seed=seed)

    @classmethod
    def tiny(cls, seed: int = 0) -> TheoremSettings:
        """Two seconds: everything runs, nothing is decided."""
        return cls(
            name="tiny",
            seed=seed,
            worlds=(BASE, replace(BASE, delta_out=0.0), replace(BASE, sigma_out=1.5)),
            sizes=(40, 80),
            repeats=3,
            factor_dims=(2, 5),
            factor_shares=(0.5, 0.9),
            factor_sizes=(40, 80),
            factor_repeats=3,
            breakdown=(30, 3, 2),
            replaced=(1, 9, 14),
            exact=(8, 2, 2),
            counter=(100, 2),
            tiny_counter=(10, 3),
        )
