"""Theorem 1 as an experiment: settings in, a result that is ready for JSON out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from rehead.experiments.theory.bound import rescaled
from rehead.experiments.theory.breakdown import (
    breakdown_curve,
    exact_breakdown,
    printed_breakdown,
)
from rehead.experiments.theory.cells import Plan, run_cell
from rehead.experiments.theory.closed import phi
from rehead.experiments.theory.counterexamples import (
    WORLDS,
    by_enumeration,
    counterexample,
    skewed,
)
from rehead.experiments.theory.factor import measure_factor
from rehead.experiments.theory.repeats import LEVEL, Draws, generator
from rehead.experiments.theory.settings import TheoremSettings
from rehead.experiments.theory.statements import statements

FORMAT, VERSION = "rehead-theorem", 1

Progress = Callable[[str, float], None]
"""Called with what is being done and which share is finished."""

APART = 2.0
"""Standard deviations between the classes that are measured in several units."""


def run_theorem(settings: TheoremSettings, progress: Progress | None = None) -> dict[str, Any]:
    """Try Theorem 1, Lemma 1, the bound and the breakdown points on data that fit them.

    Parameters
    ----------
    settings : TheoremSettings
    progress : callable, optional
        Called with what is being done and which share is finished.

    Returns
    -------
    dict
        Ready for JSON. Measured figures are ``{"value", "se"}``. ``statements`` has for each
        printed statement what it says, whether it holds, and the evidence.

    Examples
    --------
    >>> from rehead.experiments.theory import TheoremSettings, run_theorem
    >>> result = run_theorem(TheoremSettings.tiny())
    >>> round(result["factor"][0]["factor"], 4)
    0.3069
    """
    say: Progress = progress or _say_nothing
    result: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "level": LEVEL,
        "settings": asdict(settings),
        **_limits(settings, say),
        **_counterexamples(settings, say),
        **_breakdowns(settings, say),
        "rescaled": rescaled(APART, settings.scales),
        "phi_scale_change": _phi_change(_seed(settings, SHAPES)),
    }
    result["statements"] = statements(result)
    say("done", 1.0)
    ready: dict[str, Any] = json.loads(json.dumps(_rounded(result), allow_nan=False))
    return ready


CELLS, FACTOR, COUNTER, BREAKDOWN, EXACT, TINY, SKEWED, SHAPES = range(8)
"""Sections; each has seeds of its own."""


def _limits(s: TheoremSettings, say: Progress) -> dict[str, Any]:
    plan = Plan(s.sizes, s.repeats, _seed(s, CELLS))
    cells = []
    for key, world in enumerate(s.worlds):
        say(f"world {key + 1} of {len(s.worlds)}", 0.6 * key / len(s.worlds))
        cells.append(run_cell(world, plan, key, s.constants))
    plan = Plan(s.factor_sizes, s.factor_repeats, _seed(s, FACTOR))
    grid = [(d, alpha) for d in s.factor_dims for alpha in s.factor_shares]
    factors = []
    for key, (d, alpha) in enumerate(grid):
        say(f"factor, d {d}, {alpha:g} kept", 0.6 + 0.2 * key / len(grid))
        factors.append(measure_factor(d, alpha, plan, key))
    return {"cells": cells, "factor": factors}


def _counterexamples(s: TheoremSettings, say: Progress) -> dict[str, Any]:
    found = {}
    for key, (name, world) in enumerate(WORLDS.items()):
        say(f"counterexample: {name}", 0.8 + 0.03 * key)
        found[name] = counterexample(world, Draws(*s.counter, _seed(s, COUNTER)), key)
    return {
        "counterexamples": found,
        "enumerated": by_enumeration(Draws(*s.tiny_counter, _seed(s, TINY))),
        "skewed": skewed(Draws(*s.counter, _seed(s, SKEWED))),
    }


def _breakdowns(s: TheoremSettings, say: Progress) -> dict[str, Any]:
    say("breakdown", 0.9)
    n, d, repeats = s.breakdown
    rows = breakdown_curve(Draws(n, repeats, _seed(s, BREAKDOWN)), d, s.replaced)
    curve = {"n": n, "d": d, "printed": printed_breakdown(n, d), "rows": rows}
    n, d, repeats = s.exact
    rows = exact_breakdown(Draws(n, repeats, _seed(s, EXACT)), d)
    exact = {"n": n, "d": d, "printed": printed_breakdown(n, d), "rows": rows}
    return {"breakdown": curve, "exact_breakdown": exact}


def _rounded(value: Any) -> Any:
    """Eight digits of every number: more than is known, less than a double has."""
    if isinstance(value, float):
        return float(f"{value:.8g}")
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list | tuple) else value


def _say_nothing(text: str, share: float) -> None:
    """Nobody is looking."""


def _seed(s: TheoremSettings, section: int) -> int:
    """A seed for each section: draws of one do not depend on how many another makes."""
    return int(np.random.SeedSequence(s.seed, spawn_key=(section,)).generate_state(1)[0])


def _phi_change(seed: int) -> float:
    """How much phi changes at most when random covariances are multiplied by a number."""
    rng = generator(seed)
    changes = []
    for _ in range(50):
        A = rng.normal(size=(6, 5))
        S = A.T @ A
        changes.append(abs(phi(10.0 ** rng.uniform(-3, 3) * S) - phi(S)))
    return max(changes)
