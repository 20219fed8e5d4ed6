"""Ranking samples by the posterior of their label, judged by estimates that did not see them.

Ranking by distance asks whether a sample is close to the mean of its class. Ranking by posterior
asks whether another class explains it better, which is the question label noise poses: a sample of
another class in the middle of feature space is near in distance and unlikely in posterior.

Estimates that a sample is judged by must not contain it (``leave_one_out.py``).
"""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.gaussian.classwise import class_support, tie
from rehead.gaussian.composition import Composition
from rehead.gaussian.fit import Fit, fit_of_subsets
from rehead.gaussian.kernels import select_smallest
from rehead.gaussian.leave_one_out import leave_one_out_scores
from rehead.gaussian.options import Options
from rehead.gaussian.rows import ByClass


def log_odds(scores: Array, codes: Array) -> Array:
    """``log p_y - log (1 - p_y)`` of the given label: ranks where posteriors saturate at 1.

    Uses up ``scores``.
    """
    every = np.arange(len(scores))
    own = scores[every, codes]
    scores[every, codes] = -np.inf
    # A finite top keeps the odds defined where no other class has a posterior at all.
    top = np.maximum(scores.max(axis=1), np.finfo(scores.dtype).min)
    scores -= top[:, None]
    np.exp(scores, out=scores)
    with np.errstate(divide="ignore"):
        odds: Array = own - top - np.log(scores.sum(axis=1))
    return odds


def trim_by_posterior(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Keep, in each class, the samples whose label has the highest leave-one-out posterior.

    Starts from all samples, so there is no randomness. Each round costs about one covariance and
    one distance pass over the data.

    Made for samples of *other classes*. Far outliers of no class can mislead it, since the first
    estimates contain them and no class explains them; "mcd" is the one to use against those.
    """
    C = data.n_classes
    codes = data.codes
    subsets = [data.whole(c) for c in range(C)]
    step = 0
    notes: list[str] = []
    for step in range(1, options.max_steps + 1):
        gaussians = tie(data, subsets, options, [])
        inside = Composition.from_subsets(data, subsets)
        odds = leave_one_out_scores(gaussians, data.X, codes, inside, log_odds)
        previous = subsets
        subsets = [
            select_smallest(
                data.favour_trusted(c, -odds[data.rows[c]]),
                class_support(data, c, options),
                data.class_weights(c),
            )
            for c in range(C)
        ]
        if all(
            np.array_equal(a.positions, b.positions) for a, b in zip(previous, subsets, strict=True)
        ):
            break
    gaussians = tie(data, subsets, options, notes)
    return fit_of_subsets(data, gaussians, subsets, [step] * C, notes)
