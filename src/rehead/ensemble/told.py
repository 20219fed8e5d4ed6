"""Trusted labels choose between ensembles, each judged as it would predict.

A sample with a trusted label is judged without itself where members are Gaussians. Hidden layers
and the network's softmax have seen it, with the label that it had then. Where that was wrong,
members that know it by heart are wrong as well, as often as labels are. So where few labels are
wrong, they look better than they are, and the consensus that hears them stays. They do not look
better than what finds wrong labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rehead._typing import Array
from rehead.ensemble.fitted import FittedEnsemble, mixture
from rehead.ensemble.problem import STACK, Problem
from rehead.ensemble.weights import mixture_weights
from rehead.gaussian.probability import LEAST_PROBABILITY, softmax
from rehead.gaussian.settings import SETTINGS
from rehead.trusted import Judged, as_checked, first_unless_better, judged, with_slope


def ask_trusted_labels(
    ways: Sequence[FittedEnsemble], problem: Problem
) -> tuple[int, FittedEnsemble]:
    """Which way makes trusted labels most likely, and what is fitted then.

    It is the first unless another is clearly better. Held-out labels have weighed and calibrated
    the members of a consensus. Those of a machine's labels are weighed and calibrated here.
    """
    posteriors = [_posteriors(way, problem) for way in ways]
    both = list(zip(ways, posteriors, strict=True))
    weights = [_weights(way, p, problem) if of_machine(way) else way.weights for way, p in both]
    seen = [_judged(w, p, problem) for w, p in zip(weights, posteriors, strict=True)]
    kept = first_unless_better(seen)
    fitted = replace(ways[kept], weights=weights[kept])
    members = fitted.members
    if of_machine(fitted):
        slope = seen[kept].slope()
        members = {name: with_slope(member, slope) for name, member in members.items()}
    judge, found = fitted.judging_member, fitted.consensus
    told = replace(members[judge], told=seen[kept].number)
    fitted = replace(fitted, members={**members, judge: told})
    if found is None:
        return kept, fitted
    counts = np.ones(len(problem.codes))
    noise = as_checked(found.noise, problem.known, problem.codes, counts)
    assert noise is not None
    return kept, replace(fitted, consensus=found._replace(noise=noise))


def of_machine(fitted: FittedEnsemble) -> bool:
    """Whether labels were taken for a machine's."""
    return bool(fitted.members[fitted.judging_member].way)


def _posteriors(fitted: FittedEnsemble, problem: Problem) -> list[Array]:
    """What each member takes the trusted samples for; Gaussians judge each without itself."""
    rows, found = _rows(problem), []
    for name, member in fitted.members.items():
        layer = problem.joined(fitted.stacked) if name == STACK else problem.grouped[name]
        found.append(softmax(judged(member, layer.with_known(problem.known)).scores))
    given = {name: p[rows] for name, p in problem.given.items()}
    return [*found, *(fitted.given_posterior(name, given) for name in fitted.given)]


def _rows(problem: Problem) -> Array:
    """The samples with trusted labels, those that were drawn at random."""
    assert problem.drawn is not None
    return np.flatnonzero(problem.drawn)


def _judged(weights: Array, posteriors: Sequence[Array], problem: Problem) -> Judged:
    """Trusted samples as the mixture judges them."""
    mixed = mixture(weights, posteriors).astype(np.float64)
    codes = problem.codes[_rows(problem)]
    return Judged(np.log(np.maximum(mixed, LEAST_PROBABILITY)), codes, np.ones(len(codes)))


def _weights(fitted: FittedEnsemble, posteriors: Sequence[Array], problem: Problem) -> Array:
    """Weights of the members that trusted labels ask for.

    The weights that members have count as much as a few labels. Who has none is not asked.
    """
    codes = problem.codes[_rows(problem)]
    every, asked = np.arange(len(codes)), fitted.weights > 0
    likelihoods = np.stack([p[every, codes] for p in posteriors], axis=1)
    prior = SETTINGS.trusted_prior * fitted.weights
    weights = np.zeros(len(asked))
    weights[asked] = mixture_weights(likelihoods[:, asked], prior[asked])
    return weights
