"""Worlds that satisfy A1 to A4 as printed, and in which the MCD goes wrong."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from rehead.experiments.theory.cells import Found, all_claims, pooled_figures
from rehead.experiments.theory.closed import truncation
from rehead.experiments.theory.estimates import ESTIMATORS, class_samples, estimate_all, smallest
from rehead.experiments.theory.exact import exact_mcd
from rehead.experiments.theory.limits import exact_limit, kept_of_clean
from rehead.experiments.theory.repeats import Draws, generator, mean_figure
from rehead.experiments.theory.world import Drawn, World, draw
from rehead.gaussian.mcd import support_size
from rehead.gaussian.starts import random_start

WORLDS: dict[str, World] = {
    "spike": World(d=4, delta_out=0.4, delta_mcd=0.5, sigma_out=3.0, spike=0.9),
    "small subset": World(d=2, delta_out=0.4, delta_mcd=0.3, sigma_out=3.0, spike=0.9),
    "hardly wider": World(d=30, delta_out=0.3, delta_mcd=0.5, sigma_out=1.05),
}
"""Most outliers in a spike; the same with a subset that fits into it; Gaussian outliers."""


def counterexample(world: World, draws: Draws, key: int) -> dict[str, Any]:
    """Limits and a Monte Carlo of a world in which the MCD prefers outliers, ready for JSON.

    ``log_det_gap`` is the log determinant of what the MCD keeps, less that of the best subset of
    clean samples: below 0, no clean subset is the MCD.
    """
    claims = all_claims(world)
    clean = world.d * np.log(truncation(world.d, kept_of_clean(world)) * world.sigma**2)
    repeats = [_measure(world, draws, (key, i)) for i in range(draws.repeats)]
    return {
        "world": asdict(world),
        "n": draws.n,
        "assumptions": world.assumptions(draws.n),
        "limit": {e: {k: v["exact"] for k, v in claims[e].items()} for e in ESTIMATORS},
        "measured": pooled_figures(world, [found for found, _ in repeats]),
        "log_det_gap": {
            "limit": float(np.mean(exact_limit(world).log_dets) - clean),
            **mean_figure([gap for _, gap in repeats]),
        },
    }


def _measure(world: World, draws: Draws, key: tuple[int, int]) -> tuple[Found, float]:
    rng = generator(draws.seed, *key)
    drawn = draw(world, draws.n, rng)
    found = estimate_all(drawn, world.delta_mcd, rng)
    clean = [_best_clean(drawn, c, world.delta_mcd, rng) for c in range(2)]
    return found, float(np.mean(found["mcd"].log_dets) - np.mean(clean))


def _best_clean(drawn: Drawn, c: int, delta_mcd: float, rng: np.random.Generator) -> float:
    """The smallest log determinant of a subset of K clean samples of a class."""
    of_class = drawn.codes == c
    X = drawn.X[of_class & ~drawn.outlier]
    k = support_size(int(of_class.sum()), X.shape[1], delta_mcd)
    starts = [random_start(rng, len(X), k) for _ in range(2)]
    return smallest(class_samples(X), k, starts).log_dets[-1]


TINY = World(d=2, delta_out=0.4, delta_mcd=0.5, sigma_out=3.0, spike=0.9)


def by_enumeration(draws: Draws) -> dict[str, Any]:
    """The spike with so few samples that the exact MCD can be had: every subset is tried."""
    k = int(support_size(draws.n, TINY.d, TINY.delta_mcd))
    kept = []
    for i in range(draws.repeats):
        drawn = draw(TINY, draws.n, generator(draws.seed, i))
        first = drawn.codes == 0
        subset = exact_mcd(drawn.X[first], k)
        kept.append(float(drawn.outlier[first][subset.positions].mean()))
    return {
        "world": asdict(TINY),
        "n": draws.n,
        "assumptions": TINY.assumptions(draws.n),
        "outliers_kept": mean_figure(kept),
    }


def skewed(draws: Draws) -> dict[str, Any]:
    """No outliers at all, and clean samples that are not symmetric: exponential, in one dimension.

    A1 asks for a mean and a variance only. The half with the smallest variance is the lower one,
    from 0 to log 2, and its mean is ``1 - log 2``; that of the samples is 1.
    """
    k = support_size(draws.n, 1, 0.5)
    means = []
    for i in range(draws.repeats):
        rng = generator(draws.seed, i)
        X = rng.exponential(size=(draws.n, 1))
        starts = [random_start(rng, draws.n, k) for _ in range(2)]
        kept = smallest(class_samples(X), k, starts).subset
        means.append(float(X[kept.positions].mean()))
    return {"n": draws.n, "mean": mean_figure(means), "limit": float(1 - np.log(2)), "printed": 1.0}
