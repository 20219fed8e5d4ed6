"""Monte Carlo of one world: both estimators at several sizes, and where they tend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from rehead.experiments.theory.bound import compare_bounds, limiting_bounds
from rehead.experiments.theory.estimates import ESTIMATORS, estimate_all
from rehead.experiments.theory.figures import figures
from rehead.experiments.theory.limits import (
    Claims,
    algorithm_1_claims,
    mcd_claims,
    sample_claims,
)
from rehead.experiments.theory.repeats import extrapolate, generator, mean_figures
from rehead.experiments.theory.world import World, draw

Measured = dict[str, dict[str, float]]
"""Figures of one repetition, by estimator."""


class Plan(NamedTuple):
    """How much is drawn: samples a class, repetitions, and the seed."""

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
    runs = []
    for n in plan.sizes:
        repeats = [measure(world, n, plan.seed, (key, n, i)) for i in range(plan.repeats)]
        by_estimator = {e: mean_figures([r[e] for r in repeats]) for e in ESTIMATORS}
        bounds = compare_bounds(repeats, constants)
        runs.append({"n": n, "figures": by_estimator, "bounds": bounds})
    return {
        "world": asdict(world),
        "assumptions": world.assumptions(max(plan.sizes)),
        "claims": claims,
        "runs": runs,
        "limits": _limits(runs),
        "bound_limits": limiting_bounds(claims, constants),
    }


def all_claims(world: World) -> dict[str, Claims]:
    """What each estimator is said to tend to, and tends to."""
    return {
        "sample": sample_claims(world),
        "mcd": mcd_claims(world),
        "algorithm_1": algorithm_1_claims(world),
    }


def measure(world: World, n: int, seed: int, key: tuple[int, ...]) -> Measured:
    """One draw of ``n`` samples a class, and the figures of each estimator."""
    rng = generator(seed, *key)
    found = estimate_all(draw(world, n, rng), world.delta_mcd, rng)
    return {name: figures(world, g, found["sample"]) for name, g in found.items()}


def _limits(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Each figure for ever more samples."""
    sizes = [run["n"] for run in runs]
    return {
        e: {
            name: extrapolate(sizes, [run["figures"][e][name] for run in runs])
            for name in runs[0]["figures"][e]
        }
        for e in ESTIMATORS
    }
