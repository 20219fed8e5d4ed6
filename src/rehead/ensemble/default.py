"""The default for several layers: a consensus, or layers whose labels a machine made.

Users say which it is (``labels_from``). Trusted labels that were drawn at random may know better:
then both are fitted, and what is kept is what makes these labels more likely (``told.py``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rehead._progress import step
from rehead._typing import Array
from rehead._warnings import held_back, warn
from rehead.ensemble.consensus import fit_consensus
from rehead.ensemble.fitted import FittedEnsemble
from rehead.ensemble.machine import fit_machine_layers
from rehead.ensemble.problem import STACK, Problem
from rehead.ensemble.told import ask_trusted_labels
from rehead.fairsample import (
    doubt_about_corrections,
    doubt_about_draw,
    doubt_about_trusted,
)
from rehead.fitted import FittedGaussians
from rehead.gaussian import ByClass
from rehead.gaussian.calibration import Priors
from rehead.gaussian.options import MACHINE, Choice
from rehead.gaussian.settings import SETTINGS
from rehead.trusted import other_choice, with_own_shares, with_shares


def fit_default(problem: Problem, choice: Choice, rng: np.random.Generator) -> FittedEnsemble:
    """Fit as asked, unless trusted labels speak clearly against it."""
    drawn = problem.drawn
    if drawn is None or drawn.sum() < SETTINGS.fewest_trusted:
        return _fit(problem, choice, int(rng.integers(2**31)))
    seed = int(rng.integers(2**31))
    ways, warnings, own = [], [], with_own_shares(choice)
    for way in (own, other_choice(own)):
        # Only what is kept has anything to say.
        with held_back() as said:
            ways.append(_fit(problem, way, seed))
        warnings.append(said)
    step("asking trusted labels")
    judge, data = _judge_of(ways[0], problem)
    if (doubt := doubt_about_draw(judge, data)) is not None:
        warn(doubt)
        return _fit(replace(problem, drawn=None), choice, seed)
    kept, fitted = ask_trusted_labels(ways, problem)
    for message in warnings[kept]:
        warn(message)
    doubts = doubt_about_trusted(*_judge_of(fitted, problem)), doubt_about_corrections(judge, data)
    for message in filter(None, doubts):
        warn(message)
    return _with_shares(fitted, choice.options.with_priors(problem.classes).priors)


def _judge_of(fitted: FittedEnsemble, problem: Problem) -> tuple[FittedGaussians, ByClass]:
    """What judges the labels, and the rows as it sees them."""
    name = fitted.judging_member
    data = problem.joined(fitted.stacked) if name == STACK else problem.grouped[name]
    return fitted.members[name], data.with_known(problem.known)


def _with_shares(fitted: FittedEnsemble, priors: str | Array) -> FittedEnsemble:
    """Members for samples of other class shares than those that they were fitted for."""
    members = {name: with_shares(member, priors) for name, member in fitted.members.items()}
    now, before = (m[fitted.judging_member].gaussians.priors for m in (members, fitted.members))
    shift = Priors(now, before).shift
    given = {
        name: None if calibration is None else calibration.with_shift(shift)
        for name, calibration in fitted.given.items()
    }
    return replace(fitted, members=members, given=given)


def _fit(problem: Problem, choice: Choice, seed: int) -> FittedEnsemble:
    if choice.options.labels_from == MACHINE:
        return fit_machine_layers(problem, choice, seed)
    return fit_consensus(problem, choice, np.random.default_rng(seed))
