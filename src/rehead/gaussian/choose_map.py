"""Whether the features are mapped before Gaussians are estimated on them, and how.

Linear scores on the features are the paper's shape. Where features are few, or classes are not
Gaussian, it is the wrong one, and what does not fit it is taken for noise. The likelihood of the
noisy labels tells, as it tells the shrinkage: rows are judged leave-one-out, as they are and after
maps of a few widths, on a sample. A map has to be clearly better, for it costs time and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.anchored import most_likely
from rehead.gaussian.importance import importance
from rehead.gaussian.kernel_map import KernelMap, map_of_rows
from rehead.gaussian.kernels import evenly_spaced
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


class Judged(NamedTuple):
    """How unlikely each label is, how often it counts, and the slopes of the classes' scores."""

    nats: Array
    counts: Array
    slopes: Array


class Candidate(NamedTuple):
    """A map of the sample, its width, and how likely labels are on it."""

    width: float
    kernel_map: KernelMap
    judged: Judged

    @property
    def total(self) -> float:
        """How unlikely all labels are."""
        return float(self.judged.counts @ self.judged.nats)

    def with_price(self) -> Candidate:
        """Labels less likely by a nat for each column that was weighed.

        The labels that are judged have set the weights too, so that they vouch for themselves: by a
        nat for each number, if it were the most likely one (Akaike, 1974).
        """
        nats, counts, _ = self.judged
        if (columns := self.kernel_map.importance) is None:
            return self
        return self._replace(judged=self.judged._replace(nats=nats + len(columns) / counts.sum()))


def choose_map(data: ByClass, rng: np.random.Generator) -> KernelMap | None:
    """The map under which the labels are most likely; None where that is not clearly better."""
    seed = int(rng.integers(2**31))
    sampled = some_of_each_class(data, np.random.default_rng(seed))
    if len(sampled.counted) < SETTINGS.fewest_rows_for_map * data.n_classes:
        return None
    # As many as the map has that is taken, where the sample is all rows; fewer for fewer rows.
    n_landmarks = landmarks_for(sampled)

    def tried(width: float, columns: Array | None = None) -> Candidate:
        rng = np.random.default_rng(seed)
        kernel_map = map_of_rows(sampled, rng, n_landmarks, width, columns)
        return Candidate(width, kernel_map, _judged(sampled.mapped(kernel_map)))

    usual = _judged(sampled)
    best = _most_likely(map(tried, SETTINGS.kernel_widths))
    if usual.counts.sum() >= SETTINGS.rows_a_column * data.n_features:
        best = _most_likely([best, _columns_weighed(sampled, best, tried).with_price()])
    least, errors = SETTINGS.clear_gain_of_map, SETTINGS.standard_errors
    if not clearly_better(best.judged.nats, usual.nats, usual.counts, least, errors):
        return None
    columns, rng = best.kernel_map.importance, np.random.default_rng(seed)
    return map_of_rows(data, rng, landmarks_for(data), best.width, columns)


def _columns_weighed(
    sampled: ByClass, best: Candidate, tried: Callable[[float, Array], Candidate]
) -> Candidate:
    """Columns count by their importance on the map before, while that makes labels more likely.

    Where few columns are left to tell rows apart, a narrower map may be better.
    """
    for _ in range(SETTINGS.weighings):
        columns = _importance(sampled, best)
        widths = [w for w in SETTINGS.kernel_widths if w >= best.width][:2]
        now = _most_likely(tried(width, columns) for width in widths)
        if now.total >= best.total:
            break
        best = now
    return best


def _importance(sampled: ByClass, candidate: Candidate) -> Array:
    """Of the columns, on a map."""
    rows = sampled.counted
    rows = rows[evenly_spaced(len(rows), SETTINGS.rows_for_importance)]
    counts = np.ones(len(rows)) if sampled.weights is None else sampled.weights[rows]
    return importance(candidate.kernel_map, candidate.judged.slopes, sampled.X[rows], counts)


def _most_likely(candidates: Iterable[Candidate]) -> Candidate:
    return min(candidates, key=lambda candidate: candidate.total)


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


def _judged(data: ByClass) -> Judged:
    """Labels judged leave-one-out, all trusted alike."""
    rows = training_rows(data, np.random.default_rng(0))
    found = most_likely(rows, np.ones(len(rows.codes)), SHRINKAGES)
    nats = found.noise.nats(found.scores, rows.sampled_evidence)
    return Judged(nats, rows.sampled_doubtful, found.gaussians.weights)
