"""Layers that are each estimated alone, then weighted: the paper's way, and close relatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rehead._progress import step
from rehead._warnings import warn
from rehead.ensemble.fitted import FittedEnsemble
from rehead.ensemble.paper import paper_weights
from rehead.ensemble.problem import STACK, HeldOut, Problem
from rehead.ensemble.weights import estimate_transition, mixture_weights
from rehead.fitted import FittedGaussians
from rehead.fitting import fit_gaussians
from rehead.gaussian.options import Choice
from rehead.gaussian.probability import corrected_likelihood
from rehead.gaussian.threads import own_threads


class Weighting(NamedTuple):
    """How layers that were estimated on their own become one.

    Attributes
    ----------
    rule : {"nll", "authors", "corrected", "equal"}
        What held-out labels are used for.
    penultimate : str or None
        The layer whose distances choose them; the last one where there is no name.
    stack : bool
        Join all layers and estimate once.
    """

    rule: str = "nll"
    penultimate: str | None = None
    stack: bool = False


@own_threads()
def fit_layers_alone(
    problem: Problem, choice: Choice, weighting: Weighting, rng: np.random.Generator
) -> FittedEnsemble:
    """Estimate each layer (or all of them joined), then the weights, on held-out labels if any."""
    parts = {name: [name] for name in problem.layers}
    if weighting.stack:
        parts = {STACK: list(problem.layers)}
    members = {}
    for member, names in parts.items():
        step(f"estimating {member}")
        data = problem.joined(names).with_known(problem.known)
        seed = int(rng.integers(2**31))
        members[member] = fit_gaussians(data, problem.classes, choice, np.random.default_rng(seed))
    _warn_of_members(members)
    n_members = len(members) + len(problem.given)
    last = list(members)[-1]
    fitted = FittedEnsemble(
        classes=problem.classes,
        members=members,
        given=dict.fromkeys(problem.given),
        weights=np.full(n_members, 1.0 / n_members),
        stacked=parts.get(STACK, []),
        density_member=last if weighting.stack else weighting.penultimate or last,
    )
    if problem.held_out is None and weighting.rule != "equal" and n_members > 1:
        warn(
            "No held-out samples were given, so all members count equally. Pass "
            "validation=(layers, labels), or weights='equal' if that is meant."
        )
    if problem.held_out is None or weighting.rule == "equal":
        return fitted
    if weighting.rule == "corrected":
        return _weighted_by_noisy_labels(fitted, problem.held_out)
    weights = paper_weights(fitted, problem.held_out, authors=weighting.rule == "authors")
    return replace(fitted, weights=weights)


def _weighted_by_noisy_labels(fitted: FittedEnsemble, held_out: HeldOut) -> FittedEnsemble:
    """Weights under which the noisy labels of all held-out samples are most likely."""
    posteriors = fitted.member_posteriors(held_out.layers)
    T = estimate_transition(np.mean(posteriors, axis=0), held_out.codes)
    likelihoods = [corrected_likelihood(p, held_out.evidence(len(T)), T) for p in posteriors]
    return replace(fitted, weights=mixture_weights(np.stack(likelihoods, axis=1)), transition=T)


def _warn_of_members(members: Mapping[str, FittedGaussians]) -> None:
    """Say what several layers have in common once, with their names."""
    said: dict[str, list[str]] = {}
    for name, fitted in members.items():
        for note in fitted.notes:
            said.setdefault(note, []).append(name)
    for note, names in said.items():
        plural = "s" if len(names) > 1 else ""
        warn(f"layer{plural} {', '.join(names)}: {note}")
