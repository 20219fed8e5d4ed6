"""Whether the features are mapped before Gaussians are estimated on them, and how.

Linear scores on the features are the paper's shape. Where features are few, or classes are not
Gaussian, it is the wrong one, and what does not fit it is taken for noise. The likelihood of the
noisy labels tells, as it tells the shrinkage: rows are judged leave-one-out, as they are and after
maps of a few widths, on a sample. A map has to be clearly better, for it costs time and memory.
"""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.gaussian.anchored import most_likely
from rehead.gaussian.kernel_map import KernelMap, map_of_rows
from rehead.gaussian.options import Options
from rehead.gaussian.rows import ByClass, group_by_class
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.training import clearly_better, regularisations, training_rows

SHRINKAGES = regularisations(SETTINGS.shrinkages)[: len(SETTINGS.shrinkages)]
"""Towards the identity: enough to compare maps by."""


def map_for(data: ByClass, options: Options, rng: np.random.Generator) -> KernelMap | None:
    """The map that the options ask for; None where features stay as they are."""
    if options.feature_map == "none":
        return None
    if options.feature_map == "kernel":
        return map_of_rows(data, rng, landmarks_for(data), SETTINGS.kernel_widths[0])
    return choose_map(data, rng)


def landmarks_for(data: ByClass) -> int:
    """How many landmarks there are rows for."""
    n = sum(len(rows) for rows in data.rows)
    return int(np.clip(n / SETTINGS.rows_a_landmark, *SETTINGS.landmarks))


def choose_map(data: ByClass, rng: np.random.Generator) -> KernelMap | None:
    """The map under which the labels are most likely; None where that is not clearly better."""
    seed = int(rng.integers(2**31))
    sampled = some_of_each_class(data, np.random.default_rng(seed))
    if sampled.near.sum() < SETTINGS.fewest_rows_for_map * data.n_classes:
        return None
    usual, counts = _nats(sampled)
    n_landmarks = landmarks_for(data)
    fewer = min(n_landmarks, sum(map(len, sampled.rows)) // SETTINGS.rows_a_landmark)
    best_width, best = None, usual
    for width in SETTINGS.kernel_widths:
        kernel_map = map_of_rows(sampled, np.random.default_rng(seed), fewer, width)
        nats, _ = _nats(sampled.mapped(kernel_map))
        if counts @ nats < counts @ best:
            best_width, best = width, nats
    least, errors = SETTINGS.clear_gain_of_map, SETTINGS.standard_errors_of_map
    if best_width is None or not clearly_better(best, usual, counts, least, errors):
        return None
    return map_of_rows(data, np.random.default_rng(seed), n_landmarks, best_width)


def some_of_each_class(data: ByClass, rng: np.random.Generator) -> ByClass:
    """A sample of the rows, in which no class is missing."""
    n = sum(len(rows) for rows in data.rows)
    if n <= SETTINGS.map_sample:
        return data
    share = SETTINGS.map_sample / n
    drawn = [
        rng.choice(rows, min(len(rows), max(round(share * len(rows)), 5)), replace=False)
        for rows in data.rows
    ]
    rows = np.sort(np.concatenate(drawn))
    return group_by_class(
        data.X[rows],
        data.codes[rows],
        data.n_classes,
        weights=None if data.weights is None else data.weights[rows],
    ).with_known(data.known.take(rows))


def _nats(data: ByClass) -> tuple[Array, Array]:
    """How unlikely each label is, judged leave-one-out, and how often it counts."""
    rows = training_rows(data, np.random.default_rng(0))
    found = most_likely(rows, np.ones(len(rows.codes)), SHRINKAGES)
    return found.noise.nats(found.scores, rows.sampled_evidence), rows.sampled_doubtful
