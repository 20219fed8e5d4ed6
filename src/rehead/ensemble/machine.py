"""Layers of a network whose labels a machine made.

Held-out labels are the machine's as well: by their likelihood the best member would be the one that
copies the machine. So they decide nothing here. Each layer has its Gaussians, as stiff as those of
one layer (``gaussian/machine.py``). The first layer, next to the input, knows least of what the
network has learnt of the labels, and counts as much as all others, if it is sure enough of what
samples are. What is given, as the network's own softmax, has learnt the machine's errors, and
counts nothing.
"""

from __future__ import annotations

import numpy as np

from rehead._progress import step
from rehead._typing import Array, Features, some_rows
from rehead.ensemble.fitted import Consensus, FittedEnsemble
from rehead.ensemble.problem import Problem
from rehead.fitted import FittedGaussians
from rehead.fitting import fit_gaussians
from rehead.gaussian.kernels import evenly_spaced
from rehead.gaussian.options import Choice
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.threads import own_threads


@own_threads()
def fit_machine_layers(problem: Problem, choice: Choice, seed: int) -> FittedEnsemble:
    """Stiff Gaussians of each layer, the first of which judges the labels."""
    copies = problem.copies()
    names = [name for name in problem.layers if name not in copies]
    members: dict[str, FittedGaussians] = {}
    for name in names:
        step(f"estimating {name}")
        data = problem.grouped[name].with_known(problem.known)
        rng = np.random.default_rng(seed)
        members[name] = fit_gaussians(data, problem.classes, choice, rng)
    first = members[names[0]]
    assert first.noise is not None
    rounds = int(first.n_iter.max())
    return FittedEnsemble(
        classes=problem.classes,
        members=members,
        given=dict.fromkeys(problem.given),
        weights=layer_weights(
            len(members),
            len(problem.given),
            first_is_sure=is_sure(first, problem.grouped[names[0]].X),
        ),
        stacked=[],
        density_member=names[0],
        transition=first.noise.transition,
        consensus=Consensus({}, [names[0]], first.noise, first.trust, rounds),
    )


def layer_weights(n_layers: int, n_given: int, *, first_is_sure: bool = True) -> Array:
    """The first layer counts as much as all others, what is given nothing.

    A first layer that is not sure knows too little, and counts as any other.

    Examples
    --------
    >>> layer_weights(3, 1)
    array([0.5 , 0.25, 0.25, 0.  ])
    >>> layer_weights(4, 0, first_is_sure=False)
    array([0.25, 0.25, 0.25, 0.25])
    >>> layer_weights(1, 0)
    array([1.])
    """
    others = n_layers - 1
    first = 0.5 if first_is_sure and others else 1.0 / n_layers
    weights = [first, *[(1.0 - first) / max(others, 1)] * others]
    return np.array([*weights, *[0.0] * n_given])


def is_sure(fitted: FittedGaussians, X: Features) -> bool:
    """Whether the best class of a sample is probable, on average."""
    rows = evenly_spaced(len(X), SETTINGS.noise_sample)
    surest = fitted.posterior(some_rows(X, rows)).max(axis=1)
    return bool(surest.mean() >= SETTINGS.sure_first)
