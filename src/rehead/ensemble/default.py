"""The default for several layers: a consensus, or layers whose labels a machine made.

Users say which it is (``labels_from``). Trusted labels that were drawn at random may know better.
They are asked about the first layer only: deeper ones may know their training labels by heart, and
would vouch for whatever believes labels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rehead._progress import step
from rehead.ensemble.consensus import fit_consensus
from rehead.ensemble.fitted import FittedEnsemble
from rehead.ensemble.machine import fit_machine_layers
from rehead.ensemble.problem import Problem
from rehead.gaussian.options import MACHINE, Choice
from rehead.gaussian.settings import SETTINGS
from rehead.trusted import fit_with_trusted, other_choice


def fit_default(problem: Problem, choice: Choice, rng: np.random.Generator) -> FittedEnsemble:
    """Fit as asked, unless trusted labels speak clearly against it."""
    choice, told = _as_trusted_labels_say(problem, choice, rng)
    if choice.options.labels_from == MACHINE:
        fitted = fit_machine_layers(problem, choice, int(rng.integers(2**31)))
    else:
        fitted = fit_consensus(problem, choice, rng)
    judge = fitted.judging_member
    members = {**fitted.members, judge: replace(fitted.members[judge], told=told)}
    return replace(fitted, members=members) if told else fitted


def _as_trusted_labels_say(
    problem: Problem, choice: Choice, rng: np.random.Generator
) -> tuple[Choice, int]:
    """What is to be fitted, and how many labels said so."""
    drawn = problem.drawn
    if drawn is None or drawn.sum() < SETTINGS.fewest_trusted:
        return choice, 0
    step("asking trusted labels")
    name = next(iter(problem.layers))
    data = problem.grouped[name].with_known(problem.known)
    seed = np.random.default_rng(int(rng.integers(2**31)))
    found = fit_with_trusted(data, problem.classes, choice, seed)
    as_asked = bool(found.way) == (choice.options.labels_from == MACHINE)
    return choice if as_asked else other_choice(choice), found.told
