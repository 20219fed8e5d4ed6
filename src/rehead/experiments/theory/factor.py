"""The factor of truncation by Monte Carlo: clean Gaussians, and what the MCD makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rehead.experiments.theory.cells import Plan
from rehead.experiments.theory.closed import truncation
from rehead.experiments.theory.estimates import mcd_estimate
from rehead.experiments.theory.repeats import Figure, generator, mean_figure
from rehead.experiments.theory.world import World, draw


def measure_factor(d: int, alpha: float, plan: Plan, key: int) -> dict[str, Any]:
    """The scale of the MCD's covariance where sigma is 1, beside its closed form.

    ``repaired`` is the scale divided by the factor: 1 if the factor is right.
    """
    world = World(d=d, delta_out=0.0, delta_mcd=alpha)
    runs: list[dict[str, Any]] = []
    for n in plan.sizes:
        scales = []
        for i in range(plan.repeats):
            rng = generator(plan.seed, key, n, i)
            g = mcd_estimate(draw(world, n, rng), alpha, rng)
            scales.append(float(np.trace(g.covariance) / d))
        runs.append({"n": n, "scale": mean_figure(scales)})
    scale: Figure = runs[-1]["scale"]
    factor = truncation(d, alpha)
    repaired: Figure = {name: value / factor for name, value in scale.items()}
    return {
        "d": d,
        "alpha": alpha,
        "runs": runs,
        "scale": scale,
        "factor": factor,
        "repaired": repaired,
    }
