"""The default for several layers: a consensus, or layers whose labels a machine made.

Users say which it is (``labels_from``). Trusted labels that were drawn at random may know better:
then both are fitted, and what is kept is what makes these labels more likely (``told.py``).
"""

from __future__ import annotations

import numpy as np

from rehead._progress import step
from rehead._warnings import held_back, warn
from rehead.ensemble.consensus import fit_consensus
from rehead.ensemble.fitted import FittedEnsemble
from rehead.ensemble.machine import fit_machine_layers
from rehead.ensemble.problem import Problem
from rehead.ensemble.told import ask_trusted_labels
from rehead.gaussian.options import MACHINE, Choice
from rehead.gaussian.settings import SETTINGS
from rehead.trusted import other_choice


def fit_default(problem: Problem, choice: Choice, rng: np.random.Generator) -> FittedEnsemble:
    """Fit as asked, unless trusted labels speak clearly against it."""
    drawn = problem.drawn
    if drawn is None or drawn.sum() < SETTINGS.fewest_trusted:
        return _fit(problem, choice, int(rng.integers(2**31)))
    seed = int(rng.integers(2**31))
    ways, warnings = [], []
    for way in (choice, other_choice(choice)):
        # Only what is kept has anything to say.
        with held_back() as said:
            ways.append(_fit(problem, way, seed))
        warnings.append(said)
    step("asking trusted labels")
    kept, fitted = ask_trusted_labels(ways, problem)
    for message in warnings[kept]:
        warn(message)
    return fitted


def _fit(problem: Problem, choice: Choice, seed: int) -> FittedEnsemble:
    if choice.options.labels_from == MACHINE:
        return fit_machine_layers(problem, choice, seed)
    return fit_consensus(problem, choice, np.random.default_rng(seed))
