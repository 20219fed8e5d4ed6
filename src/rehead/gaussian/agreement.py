"""Agreement trimming: a sample stays if the class it is predicted as is its label.

Predictions are leave-one-out, in closed form, so that a label does not vouch for itself. The share
that stays is not set: it adapts to the noise. At low noise some hard clean samples go; "anchored"
keeps those.
"""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.gaussian.classwise import tie
from rehead.gaussian.composition import Composition
from rehead.gaussian.fit import Fit, fit_of_subsets
from rehead.gaussian.kernels import Subset
from rehead.gaussian.leave_one_out import leave_one_out_scores
from rehead.gaussian.options import Options
from rehead.gaussian.posterior import log_odds
from rehead.gaussian.rows import ByClass

FEWEST_KEPT = 3
"""The fewest samples that a class keeps: those whose label is most probable."""
SETTLED = 0.005
"""Rounds end when no more than this share of the samples comes or goes."""


def agreement(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Keep samples whose leave-one-out prediction is their label; repeat until it settles."""
    codes = data.codes
    subsets = [data.whole(c) for c in range(data.n_classes)]
    step = 0
    for step in range(1, options.max_steps + 1):
        gaussians = tie(data, subsets, options, [])
        inside = Composition.from_subsets(data, subsets)
        agrees = leave_one_out_scores(gaussians, data.X, codes, inside, _agrees)
        previous, subsets = subsets, [_agreeing(data, c, agrees) for c in range(data.n_classes)]
        pairs = zip(previous, subsets, strict=True)
        changed = sum(len(np.setxor1d(a.positions, b.positions)) for a, b in pairs)
        if changed <= SETTLED * sum(map(len, data.rows)):
            break
    notes: list[str] = []
    gaussians = tie(data, subsets, options, notes)
    return fit_of_subsets(data, gaussians, subsets, [step] * data.n_classes, notes)


def _agrees(scores: Array, codes: Array) -> Array:
    """Whether the label is the most probable class, and by how much it is."""
    agrees = scores.argmax(axis=1) == codes
    return np.column_stack([agrees, log_odds(scores, codes)])


def _agreeing(data: ByClass, c: int, agrees: Array) -> Subset:
    rows, w = data.rows[c], data.class_weights(c)
    keep = agrees[rows, 0] > 0
    if data.trusted is not None:
        keep |= data.trusted[rows]
    if keep.sum() < FEWEST_KEPT:
        keep[np.argsort(-agrees[rows, 1], kind="stable")[:FEWEST_KEPT]] = True
    positions = np.flatnonzero(keep)
    return Subset(positions, None if w is None else w[positions])
