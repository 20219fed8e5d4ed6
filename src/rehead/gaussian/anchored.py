"""Samples weighted by how far their labels are to be trusted, the noise measured at anchors.

Each round estimates the tied Gaussians from weighted samples, scores every sample by estimates that
did not see it (leave-one-out, in closed form), fits the noise model of ``labelnoise.py`` to these
scores, and takes the trust in each label as its weight for the next round. Rounds go on while the
likelihood of the observed labels grows.

Nothing has to be told how much noise there is. With clean labels the transition matrix at the
anchors is close to the identity, so a label that the Gaussians disagree with is taken for a hard
sample, not for a wrong one, and keeps its weight; fixed fractions and plain agreement drop it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.kernels import BLOCK, MIN_SLACK, Subset, squared_norms
from rehead.gaussian.labelnoise import SAMPLED, NoiseModel, calibrate, corrected_nll, fit_noise
from rehead.gaussian.options import Fit, Options
from rehead.gaussian.posterior import Kept, label_scores
from rehead.gaussian.rows import ByClass, PooledMoments, pooled_moments
from rehead.gaussian.shrinkage import Shrinkage
from rehead.gaussian.tied import TiedGaussians, from_moments


class Regularisation(NamedTuple):
    """How much the covariance is shrunk, and towards what."""

    shrinkage: Shrinkage
    to_diagonal: bool = False


AMOUNTS = (0.02, 0.1, 0.3, 0.6, 0.9)
STRONG = (0.6, 0.3)
"""Amounts that are followed to the end, one after the other, whatever they look like at first."""
CLEARLY = 0.005
"""Nats a label by which one of them has to be better; also by two standard errors."""
CANDIDATES = tuple(Regularisation(a, d) for d in (False, True) for a in AMOUNTS)
"""What ``shrinkage="auto"`` chooses from here, by the likelihood of the labels."""
LEAST = 3.0
"""A class never weighs less than so many samples."""
COLUMNS = 64
"""Features that are looked at together, so that the medians take little memory."""
POWERS = (1.0, 2.0)
"""Powers of the odds of a right label that samples are weighted by, one after the other."""
MANY = 50
"""Samples a feature from which on no shrinkage has to lead out of the noise."""
FAR = 100.0
"""Rows whose squared distance from the middle is so many times the usual one belong to no class."""


class Labelled(NamedTuple):
    """The rows, their classes, and how often each counts (0: not at all).

    The noise model is fitted to ``some`` of the rows; a count of 1 is a weight of ``unit``; moments
    are formed in ``dtype``.
    """

    data: ByClass
    codes: Array
    counts: Array
    some: Array
    unit: float = 1.0
    dtype: Any = None

    @property
    def n_classes(self) -> int:
        return self.data.n_classes

    @property
    def doubtful(self) -> Array:
        """How often each of ``some`` counts for the noise: labels that are known say nothing."""
        counts = self.counts[self.some]
        if self.data.trusted is None:
            return counts
        doubtful = np.where(self.data.trusted[self.some], 0.0, counts)
        return doubtful if doubtful.any() else counts


class Round(NamedTuple):
    """Trust, the Gaussians estimated with it, and the noise model of their scores.

    ``nats`` tells how unlikely each label is.
    """

    trust: Array
    gaussians: TiedGaussians
    noise: NoiseModel
    regularisation: Regularisation
    nats: Array


def anchored(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Weight samples by the trust in their labels; rounds while the labels get more likely."""
    rows = labelled(data, rng)
    first = np.ones(len(rows.codes))
    candidates = CANDIDATES
    if options.shrinkage != "auto":
        candidates = (Regularisation(options.shrinkage),)
    start = _estimated(rows, first, candidates)
    best, trust, step = _rounds(rows, start, options.max_steps)
    # What is best for noisy labels may not be what leads out of them.
    few = rows.counts.sum() < MANY * data.n_features
    for amount in STRONG if few and len(candidates) > 1 else ():
        if amount == start.regularisation.shrinkage:
            continue
        strong = start.regularisation._replace(shrinkage=amount)
        other = _rounds(rows, _estimated(rows, first, (strong,)), options.max_steps)
        if _clearly_better(other[0].nats, best.nats, rows.doubtful):
            best, trust, step = other
    gaussians = from_moments(pooled_by_trust(rows, trust), **best.regularisation._asdict())
    scores = leave_one_out(rows, trust, gaussians)
    some = rows.some
    honest = calibrate(scores, rows.codes[some], best.noise.transition, rows.counts[some])
    gaussians = replace(gaussians, temperature=honest.temperature, offsets=honest.offsets)
    weights = trust * rows.counts * rows.unit
    members = np.where(weights > 0, rows.codes, -1)
    noise = best.noise._replace(wrong=_wrong(rows, best.noise.trust(scores, rows.codes[some])))
    return Fit(gaussians, weights, members, np.full(rows.n_classes, step), [], noise)


def _wrong(rows: Labelled, right: Array) -> float:
    """Share of wrong labels, of those that are known to be right too."""
    if rows.data.trusted is not None:
        right = np.where(rows.data.trusted[rows.some], 1.0, right)
    return 1.0 - float(np.average(right, weights=rows.counts[rows.some]))


def _rounds(rows: Labelled, best: Round, max_steps: int) -> tuple[Round, Array, int]:
    """Estimate and trust in turns, while the labels get more likely.

    First with trust as it is, which does not commit itself early. Then doubtful samples count for
    less, where that makes the labels more likely still.
    """
    trust = sharper = _trust(rows, best, POWERS[0])
    steps = 1
    for power in POWERS:
        if power != POWERS[0]:
            sharper = _trust(rows, best, power)
        for _ in range(max_steps - 1):
            steps += 1
            now = _estimated(rows, sharper, (best.regularisation,))
            if now.noise.nll >= best.noise.nll:
                break
            best, sharper = now, _trust(rows, now, power)
            trust = sharper
    return best, trust, steps


def _clearly_better(now: Array, before: Array, counts: Array) -> bool:
    """Whether labels became more likely than chance would have it."""
    share, gain = counts / counts.sum(), before - now
    mean = share @ gain
    error = np.sqrt(share**2 @ (gain - mean) ** 2)
    return bool(mean > max(CLEARLY, 2.0 * error))


def labelled(data: ByClass, rng: np.random.Generator) -> Labelled:
    """Rows that count: those of positive weight that are not far from everything."""
    present = np.zeros(len(data.X), bool)
    present[np.concatenate(data.rows)] = True
    counts = np.where(present, 1.0 if data.weights is None else data.weights, 0.0)
    # Weights may sum to 1; that does not make samples few.
    unit = min(1.0, float(counts[present].mean()))
    counts = np.where(sane_rows(data), counts / unit, 0.0)
    some = np.flatnonzero(present)
    if len(some) > SAMPLED:
        some = np.sort(rng.choice(some, SAMPLED, replace=False))
    found = Labelled(data, class_codes(data), counts, some, unit)
    weakest = from_moments(pooled_by_trust(found, np.ones(len(counts))), shrinkage=AMOUNTS[0])
    # Single precision does where what is shrunk least has an inverse in it.
    weak = weakest.factor.slack < MIN_SLACK["f"] or weakest.shrunk > 0
    return found._replace(dtype=np.float64) if weak else found


def sane_rows(data: ByClass) -> Array:
    """Rows that are not far from everything; trusted ones, and no class is left empty."""
    sane = ~far_outliers(data.X, data.weights)
    if data.trusted is not None:
        sane |= data.trusted
    for rows in data.rows:
        if not sane[rows].any():
            sane[rows] = True
    return sane


def far_outliers(X: Array, counts: Array | None = None) -> Array:
    """Rows so far away that they would rule every moment; no label has to be looked at for that.

    Distance from the median of each feature, in units of its median absolute deviation, or of half
    the mean one where that is more. Features of which more than half of the values are the same
    have none, and are left out.
    """
    some = np.linspace(0, len(X) - 1, min(len(X), SAMPLED)).astype(np.int64)
    w = None if counts is None else counts[some]
    middle, scale = np.empty(X.shape[1]), np.empty(X.shape[1])
    for a in range(0, X.shape[1], COLUMNS):
        part = slice(a, a + COLUMNS)
        values = X[some, part].astype(np.float64)
        middle[part] = _medians(values, w)
        values = np.abs(np.subtract(values, middle[part], out=values), out=values)
        deviation = _medians(values, w)
        # A feature that is often silent has a small median deviation; it is not that precise.
        mean = np.average(values, axis=0, weights=w)
        scale[part] = np.where(deviation > 0, np.maximum(deviation, mean / 2), 0.0)
    if not (scale > 0).any():
        return np.zeros(len(X), bool)
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0).astype(X.dtype)
    middle = middle.astype(X.dtype)
    squares = np.empty(len(X))
    for a in range(0, len(X), BLOCK):
        z = X[a : a + BLOCK] - middle
        z *= inverse
        squares[a : a + BLOCK] = squared_norms(z)
    usual = float(_medians(squares[:, None], counts)[0])
    far: Array = squares > FAR * max(usual, np.finfo(float).tiny)
    return far


def _medians(values: Array, counts: Array | None) -> Array:
    """Median of each column; with counts, as if rows were repeated."""
    if counts is None:
        medians: Array = np.median(values, axis=0)
        return medians
    order = np.argsort(values, axis=0, kind="stable")
    reached = np.cumsum(counts[order], axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    half = counts.sum() / 2.0
    at = [(reached >= half).argmax(axis=0), (reached > half).argmax(axis=0)]
    middle: Array = np.mean([np.take_along_axis(ranked, i[None], axis=0)[0] for i in at], axis=0)
    return middle


def class_codes(data: ByClass) -> Array:
    """The class of each row; rows of weight 0 count to the first."""
    codes = np.zeros(len(data.X), np.int64)
    for c, rows in enumerate(data.rows):
        codes[rows] = c
    return codes


def pooled_by_trust(rows: Labelled, trust: Array) -> PooledMoments:
    """Moments of the classes, samples weighted by trust."""
    w = trust * rows.counts
    subsets = [Subset(np.arange(len(r)), w[r]) for r in rows.data.rows]
    return pooled_moments(rows.data, subsets, rows.dtype)


def _estimated(rows: Labelled, trust: Array, candidates: tuple[Regularisation, ...]) -> Round:
    """Gaussians of weighted samples, regularised so that the labels are most likely."""
    pooled = pooled_by_trust(rows, trust)
    some = rows.some

    def estimated(candidate: Regularisation) -> Round:
        gaussians = from_moments(pooled, **candidate._asdict())
        scores = leave_one_out(rows, trust, gaussians)
        noise = fit_noise(scores, rows.codes[some], counts=rows.doubtful)
        nats = corrected_nll(noise.posterior(scores), rows.codes[some], noise.transition)
        return Round(trust, gaussians, noise, candidate, nats)

    # One after the other: the covariances of all at once would be large.
    return min(map(estimated, candidates), key=lambda r: r.noise.nll)


def _inside(rows: Labelled, trust: Array) -> Kept:
    """What the estimates contain. One copy of a row is left out, also where it counts more."""
    one = trust * np.minimum(rows.counts, 1.0)
    classes = np.bincount(rows.codes, weights=trust * rows.counts, minlength=rows.n_classes)
    return Kept(one, rows.codes, classes)


def leave_one_out(rows: Labelled, trust: Array, gaussians: TiedGaussians) -> Array:
    """Leave-one-out scores of some rows."""
    inside, some = _inside(rows, trust), rows.some
    of_some = Kept(inside.rows[some], inside.members[some], inside.classes)
    X = rows.data.X[some]
    return label_scores(gaussians, X, rows.codes[some], of_some, lambda s, _: s)


def _trust(rows: Labelled, now: Round, power: float) -> Array:
    """The weights of the next round; known labels keep all of theirs."""
    data, inside = rows.data, _inside(rows, now.trust)
    weights = partial(now.noise.weights, power=power)
    trust: Array = label_scores(now.gaussians, data.X, rows.codes, inside, weights)
    if data.trusted is not None:
        trust[data.trusted] = 1.0
    counted = trust * rows.counts
    for of_class in data.rows:
        if counted[of_class].sum() < min(LEAST, rows.counts[of_class].sum()):
            # Next to nothing is trusted here; its best samples stand for the class all the same.
            ranked = of_class[np.argsort(-trust[of_class], kind="stable")]
            before = np.cumsum(rows.counts[ranked]) - rows.counts[ranked]
            trust[ranked[before < LEAST]] = 1.0
    return trust
