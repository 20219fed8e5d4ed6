"""Monte Carlo of one world: the estimators at several sizes, and what they tend to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.experiments.theory.bound import compare_bounds, limiting_bounds
from rehead.experiments.theory.closed import truncation
from rehead.experiments.theory.estimates import ESTIMATORS, Gaussians, estimate_all
from rehead.experiments.theory.figures import figures
from rehead.experiments.theory.limits import (
    Claims,
    algorithm_1_claims,
    kept_of_clean,
    mcd_claims,
    sample_claims,
)
from rehead.experiments.theory.repeats import Figure, generator, jackknife, mean_figures
from rehead.experiments.theory.world import World, draw

Found = dict[str, Gaussians]
"""Estimates from one draw, by estimator."""


class Plan(NamedTuple):
    """How much is drawn: samples a class from few to many, repetitions, and the seed."""

    sizes: Sequence[int]
    repeats: int
    seed: int


def run_cell(world: World, plan: Plan, key: int, constants: Sequence[float]) -> dict[str, Any]:
    """Everything that is measured of one world, ready for JSON.

    Parameters
    ----------
    world : World
    plan : Plan
    key : int
        Which world it is: its draws depend on the seed, on this number and on nothing else.
    constants : sequence of float
        Values of the bound's constant D.
    """
    claims = all_claims(world)
    runs, found = [], []
    for n in plan.sizes:
        found = [estimates(world, n, plan.seed, (key, n, i)) for i in range(plan.repeats)]
        measured = [_figures(world, f) for f in found]
        by_estimator = {e: mean_figures([m[e] for m in measured]) for e in ESTIMATORS}
        bounds = compare_bounds(measured, constants)
        runs.append({"n": n, "figures": by_estimator, "bounds": bounds})
    pooled = pooled_figures(world, found)
    return {
        "world": asdict(world),
        "assumptions": world.assumptions(plan.sizes[-1]),
        "claims": claims,
        "runs": runs,
        "pooled": pooled,
        "repaired_scale": repaired_scale(world, pooled["mcd"]["scale"]),
        "bound_limits": limiting_bounds(claims, constants),
    }


def repaired_scale(world: World, scale: Figure) -> dict[str, Figure]:
    """The MCD's scale over sigma^2 and over the factor: 1 where it is repaired.

    ``known``: the factor of the share of clean samples that is kept, which takes delta_out.
    ``unknown``: that of the share of all samples, which is all a user has.
    """
    shares = {"known": kept_of_clean(world), "unknown": world.delta_mcd}
    factors = {name: truncation(world.d, a) * world.sigma**2 for name, a in shares.items()}
    return {name: {k: v / f for k, v in scale.items()} for name, f in factors.items()}


def all_claims(world: World) -> dict[str, Claims]:
    """What each estimator is said to tend to, and tends to."""
    return {
        "sample": sample_claims(world),
        "mcd": mcd_claims(world),
        "algorithm_1": algorithm_1_claims(world),
    }


def estimates(world: World, n: int, seed: int, key: tuple[int, ...]) -> Found:
    """One draw of ``n`` samples a class, and what each estimator makes of it."""
    rng = generator(seed, *key)
    return estimate_all(draw(world, n, rng), world.delta_mcd, rng)


def pooled_figures(world: World, found: Sequence[Found]) -> dict[str, dict[str, Figure]]:
    """Figures of the mean estimates of all repetitions, by the jackknife.

    phi, for example, is 1 only where all eigenvalues are equal, which no single draw has.
    """
    r = len(found)
    every = np.ones((r, r)) - np.eye(r)
    whole = _figures(world, _mean(found, np.ones(r)))
    without = [_figures(world, _mean(found, weights)) for weights in every]
    return {
        e: {name: jackknife(v, [w[e][name] for w in without]) for name, v in whole[e].items()}
        for e in ESTIMATORS
    }


def _figures(world: World, found: Found) -> dict[str, dict[str, float]]:
    return {e: figures(world, g, found["sample"]) for e, g in found.items()}


def _mean(found: Sequence[Found], weights: Array) -> Found:
    """Mean estimates, with weights."""
    w = weights / weights.sum()
    return {
        e: Gaussians(
            np.tensordot(w, [f[e].means for f in found], 1),
            np.tensordot(w, [f[e].covariance for f in found], 1),
            float(w @ [f[e].outliers_kept for f in found]),
            [],
        )
        for e in ESTIMATORS
    }
