"""Layers of a network whose labels a machine made.

Held-out labels are the machine's as well: by their likelihood the best member would be the one that
copies the machine. So they decide nothing here. Each layer has its Gaussians, as stiff as those of
one layer (``gaussian/machine.py``). The first layer, next to the input, knows least of what the
network has learnt of the labels. It judges them, and counts as much as all others. If it can hardly
tell the classes apart, another one judges, and all count alike. What is given, as the network's own
softmax, has learnt the machine's errors, and counts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rehead._progress import step
from rehead._typing import Array, some_rows
from rehead._warnings import warn
from rehead.ensemble.fitted import Consensus, FittedEnsemble
from rehead.ensemble.problem import Problem
from rehead.fitted import FittedGaussians
from rehead.fitting import fit_gaussians
from rehead.gaussian import ByClass
from rehead.gaussian.kernels import evenly_spaced
from rehead.gaussian.options import Choice
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.threads import own_threads


@own_threads()
def fit_machine_layers(problem: Problem, choice: Choice, seed: int) -> FittedEnsemble:
    """Stiff Gaussians of each layer; the first that can tell classes apart judges the labels."""
    copies = problem.copies()
    names = [name for name in problem.layers if name not in copies]
    members: dict[str, FittedGaussians] = {}
    for name in names:
        step(f"estimating {name}")
        data = problem.grouped[name].with_known(problem.known)
        rng = np.random.default_rng(seed)
        members[name] = fit_gaussians(data, problem.classes, choice, rng)
    judge = judging_layer({n: share_found(members[n], problem.grouped[n]) for n in names})
    asked = members[judge]
    assert asked.noise is not None
    for note in asked.notes:
        warn(note)
    rounds = int(asked.n_iter.max())
    return FittedEnsemble(
        classes=problem.classes,
        members=members,
        given=dict.fromkeys(problem.given),
        weights=layer_weights(len(names), len(problem.given), first_judges=judge == names[0]),
        stacked=[],
        density_member=judge,
        transition=asked.noise.transition,
        consensus=Consensus({}, [judge], asked.noise, asked.trust, rounds),
    )


def share_found(fitted: FittedGaussians, data: ByClass) -> float:
    """How many labels a layer finds, each judged without itself: 0 is chance, 1 is all."""
    rows = evenly_spaced(len(data.codes), SETTINGS.noise_sample)
    X, codes, every = some_rows(data.X, rows), data.codes[rows], np.ones(len(rows), bool)
    scores, _ = fitted.without_themselves(X, codes, every, _all_scores)
    found = float((scores.argmax(axis=1) == codes).mean())
    by_chance = 1.0 / len(fitted.classes)
    return (found - by_chance) / (1.0 - by_chance)


def _all_scores(scores: Array, joint: Array, codes: Array) -> Array:
    return scores


def judging_layer(found: Mapping[str, float]) -> str:
    """The first layer that can tell the classes apart; if none can, the one that does best.

    Examples
    --------
    >>> judging_layer({"input": 0.9, "hidden": 0.95}), judging_layer({"input": 0.2, "hidden": 0.6})
    ('input', 'hidden')
    """
    able = (name for name, share in found.items() if share >= SETTINGS.found_by_judge)
    return next(able, max(found, key=found.__getitem__))


def layer_weights(n_layers: int, n_given: int, *, first_judges: bool = True) -> Array:
    """The first layer counts as much as all others, what is given nothing.

    If the first layer knows too little to judge, all layers count alike.

    Examples
    --------
    >>> layer_weights(3, 1)
    array([0.5 , 0.25, 0.25, 0.  ])
    >>> layer_weights(4, 0, first_judges=False)
    array([0.25, 0.25, 0.25, 0.25])
    >>> layer_weights(1, 0)
    array([1.])
    """
    others = n_layers - 1
    first = 0.5 if first_judges and others else 1.0 / n_layers
    weights = [first, *[(1.0 - first) / max(others, 1)] * others]
    return np.array([*weights, *[0.0] * n_given])
