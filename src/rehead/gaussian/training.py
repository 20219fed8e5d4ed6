"""The rows that the noise is found in: how often each counts, and their moments.

What is here is shared by the estimators that measure the noise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rehead._perrow import AllBut, class_totals
from rehead._typing import Array, some_rows
from rehead.gaussian.calibration import Calibration, Priors, calibrate
from rehead.gaussian.composition import Composition
from rehead.gaussian.kernels import MIN_SLACK, evenly_spaced
from rehead.gaussian.labelnoise import NoiseModel, fit_noise
from rehead.gaussian.leave_one_out import all_scores, leave_one_out_scores
from rehead.gaussian.moments import PooledMoments, weighted_moments
from rehead.gaussian.rows import ByClass
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.shrinkage import Shrinkage
from rehead.gaussian.tied import TiedGaussians, from_moments


class Regularisation(NamedTuple):
    """How much the covariance is shrunk, and towards what."""

    shrinkage: Shrinkage
    to_diagonal: bool = False

    def gaussians(self, moments: PooledMoments) -> TiedGaussians:
        """The Gaussians of some moments, regularised like this."""
        spread = with_some_spread(moments)
        return from_moments(spread, shrinkage=self.shrinkage, to_diagonal=self.to_diagonal)


def with_some_spread(moments: PooledMoments) -> PooledMoments:
    """Where a feature is the same all over a class, a little of its whole spread within classes.

    A flag may say outright which class a sample is of. Trust then falls on samples where flag and
    label agree, until no spread is left and distances overflow.

    Examples
    --------
    >>> import numpy as np
    >>> flag = PooledMoments(np.ones(2), np.array([[0.0], [1.0]]), np.array([[1e-90]]))
    >>> bool(with_some_spread(flag).scatter[0, 0] > 1e-9)
    True
    """
    weights, means, scatter = moments
    apart = means - weights @ means / weights.sum()
    within = np.diag(scatter)
    least = SETTINGS.least_within * (within + weights @ apart**2)
    if (within >= least).all():
        return moments
    scatter = scatter.copy(order="K")
    scatter[np.diag_indices_from(scatter)] = np.maximum(within, least)
    return moments._replace(scatter=scatter)


def regularisations(amounts: tuple[float, ...]) -> tuple[Regularisation, ...]:
    """Shrinkage by each of these amounts, towards identity and diagonal."""
    return tuple(Regularisation(a, diagonal) for diagonal in (False, True) for a in amounts)


def stiff_to(pooled: PooledMoments, shrinkage: Shrinkage) -> Regularisation:
    """Shrinkage towards the identity; towards the diagonal where columns have their own units."""
    spread = np.sqrt(np.diag(pooled.covariance))
    usual = np.median(spread[spread > 0]) if spread.any() else 1.0
    return Regularisation(shrinkage, bool(spread.max() > SETTINGS.own_units * usual))


class TrainingRows(NamedTuple):
    """The rows, their classes, and how often each counts (0: not at all; a mask where no other is).

    The noise model is fitted to the ``sampled`` rows; a count of 1 is a weight of ``unit``; moments
    are formed in ``dtype``. ``whole`` are those of all rows, trusted alike: rounds begin with them,
    more than once.
    """

    data: ByClass
    codes: Array
    counts: Array
    sampled: Array
    unit: float = 1.0
    dtype: Any = None
    whole: PooledMoments | None = None

    @property
    def n_classes(self) -> int:
        return self.data.n_classes

    @property
    def n_samples(self) -> float:
        """How many samples there are; a row is as many as it counts."""
        return float(self.counts.sum())

    @property
    def for_each_feature(self) -> float:
        """How many samples there are for each feature."""
        return self.n_samples / self.data.n_features

    @property
    def share_alone(self) -> float:
        """Share of samples that are alone in their class: nothing is left to compare them with."""
        inside = self.composition(all_trusted(len(self.codes)))
        alone = inside.weights >= inside.class_totals[self.codes]
        return float(self.counts @ alone) / self.n_samples

    @property
    def sampled_codes(self) -> Array:
        return self.codes[self.sampled].astype(np.int64)

    @property
    def sampled_counts(self) -> Array:
        """How often each sampled row counts."""
        return self.counts[self.sampled].astype(np.float64)

    @property
    def sampled_noisy(self) -> Array:
        """Labels of the sampled rows before any was corrected: what the noise is read off."""
        return self.data.noisy_codes[self.sampled].astype(np.int64)

    @property
    def sampled_evidence(self) -> Array:
        """Labels of the sampled rows that are to be likely: noisy ones, and known ones."""
        return self.data.evidence[self.sampled].astype(np.int64)

    @property
    def not_sampled(self) -> AllBut:
        """Numbers of the other rows."""
        return AllBut(self.sampled, len(self.codes))

    @property
    def sampled_doubtful(self) -> Array:
        """How often each sampled row counts for the noise.

        All do, as they were before any was corrected. Where that is not known, labels that were
        drawn at random and made right say nothing about it. Those that were checked because they
        looked wrong count: without them, only labels that agree with an earlier model would be
        left, and would vouch for it.
        """
        counts = self.sampled_counts
        if self.data.drawn is None or self.data.uncorrected is not None:
            return counts
        doubtful = np.where(self.data.drawn[self.sampled], 0.0, counts)
        return doubtful if doubtful.any() else counts

    def with_known(self, trust: Array) -> Array:
        """Labels that are known to be right are trusted."""
        if self.data.trusted is not None:
            trust[self.data.trusted] = 1.0
        return trust

    def moments(self, trust: Array) -> PooledMoments:
        """Moments of the classes, samples weighted by trust."""
        if self.whole is not None and (trust == 1.0).all():
            return self.whole
        return weighted_moments(self.data, (trust, self.counts), self.dtype)

    def composition(self, trust: Array) -> Composition:
        """What such moments contain."""
        return Composition(trust * self.counts, self.codes, self.totals(trust))

    def composition_of(self, trust: Array, rows: Array) -> Composition:
        """What such moments contain of some rows."""
        weights = trust[rows] * self.counts[rows]
        return Composition(weights, self.codes[rows], self.totals(trust))

    def totals(self, trust: Array) -> Array:
        """How much there is of each class."""
        return class_totals(self.codes, self.n_classes, trust, self.counts)

    def mean_change(self, trust: Array, before: Array) -> float:
        """How much trust has changed, on average over the samples."""
        change = trust - before
        np.abs(change, out=change)
        change *= self.counts
        return float(change.sum() / self.counts.sum())

    def no_class_empty(self, trust: Array, best_first: Array | None = None) -> Array:
        """Where next to nothing of a class is trusted, its best samples stand for it all the same.

        Those are best for which ``best_first`` is largest: by default, those trusted most.
        """
        least, rank_by = SETTINGS.least_class_weight, trust if best_first is None else best_first
        trusted, present = self.totals(trust), class_totals(self.codes, self.n_classes, self.counts)
        for c in np.flatnonzero(trusted < np.minimum(least, present)):
            of_class = self.data.rows[c]
            # Rows that do not count, as far ones, are no samples that could stand for it.
            of_class = of_class[self.counts[of_class] > 0]
            ranked = of_class[np.argsort(-rank_by[of_class], kind="stable")]
            before = np.cumsum(self.counts[ranked]) - self.counts[ranked]
            trust[ranked[before < least]] = 1.0
        return trust

    def fewer(self) -> TrainingRows:
        """With a quarter of the sampled rows, where that saves much and leaves enough of them."""
        n = len(self.sampled) // 4
        few_scores = self.n_classes * SETTINGS.noise_sample <= SETTINGS.usual_scores
        if n < SETTINGS.enough_rows // 4 or few_scores:
            return self
        return self._replace(sampled=self.sampled[evenly_spaced(len(self.sampled), n)])

    def noise_under(self, scores: Array, start: float | None = None) -> NoiseModel:
        """The noise of the sampled labels under scores; ``start`` is about their temperature."""
        counts, evidence = self.sampled_doubtful, self.sampled_evidence
        return fit_noise(scores, self.sampled_noisy, counts=counts, start=start, evidence=evidence)

    def calibration_of(self, scores: Array, transition: Array) -> Calibration:
        """What makes the sampled labels most likely, by their leave-one-out scores."""
        return calibrate(scores, self.sampled_evidence, transition, self.sampled_counts)

    def sampled_scores(self, trust: Array, gaussians: TiedGaussians) -> Array:
        """Leave-one-out scores of the sampled rows."""
        inside = self.composition_of(trust, self.sampled)
        X = some_rows(self.data.X, self.sampled)
        return leave_one_out_scores(gaussians, X, self.sampled_codes, inside, all_scores)


def training_rows(data: ByClass, rng: np.random.Generator) -> TrainingRows:
    """Rows that count: those of positive weight that are not far from everything."""
    present = np.zeros(len(data.X), bool)
    for of_class in data.rows:
        present[of_class] = True
    counts, unit = present & data.near, data.unit
    if data.weights is not None:
        counts = np.where(counts, data.weights / unit, 0.0)
    sampled = np.flatnonzero(present)
    most = rows_for_noise(data.n_classes)
    if len(sampled) > most:
        sampled = np.sort(rng.choice(sampled, most, replace=False))
    rows = TrainingRows(data, data.codes, counts, sampled, unit)
    whole = rows.moments(all_trusted(len(counts)))
    weakest = Regularisation(SETTINGS.shrinkages[0]).gaussians(whole)
    # Single precision does where what is shrunk least has an inverse in it.
    weak = weakest.factor.slack < MIN_SLACK["f"] or weakest.shrunk > 0
    return rows._replace(dtype=np.float64) if weak else rows._replace(whole=whole)


def all_trusted(n: int) -> Array:
    """The same trust in all of n labels, in no memory: it must not be written to."""
    return np.broadcast_to(np.ones(1), n)


def rows_for_noise(n_classes: int) -> int:
    """Rows that the noise model sees: more for more classes, as far as there is memory for.

    Examples
    --------
    >>> [rows_for_noise(n) for n in (2, 100, 1000, 5000)]
    [15000, 5000, 10000, 6000]
    """
    usual = min(SETTINGS.noise_sample, SETTINGS.usual_scores // n_classes)
    wanted = max(usual, SETTINGS.enough_rows, SETTINGS.noise_sample_of_class * n_classes)
    return min(wanted, max(SETTINGS.most_scores // n_classes, SETTINGS.enough_rows))


def share_of_wrong(rows: TrainingRows, right: Array) -> float:
    """Share of wrong labels, of those that are known to be right too."""
    if rows.data.trusted is not None:
        right = np.where(rows.data.trusted[rows.sampled], 1.0, right)
    return 1.0 - float(np.average(right, weights=rows.sampled_counts))


def calibrated(
    rows: TrainingRows,
    gaussians: TiedGaussians,
    scores: Array,
    calibration: Calibration,
    priors: Any,
) -> TiedGaussians:
    """Gaussians whose posterior is calibrated; ``scores`` are those of the sampled rows."""
    of_classes = Priors.of(priors, calibration.posterior(scores), rows.sampled_counts)
    return of_classes.given_to(calibration.applied_to(gaussians))


def clearly_better(
    now: Array,
    before: Array,
    counts: Array,
    least: float,
    errors: float = SETTINGS.standard_errors,
) -> bool:
    """Whether labels became more likely than chance would have it, by ``least`` nats or more.

    ``errors``: by how many standard errors.
    """
    share, gain = counts / counts.sum(), before - now
    mean = share @ gain
    error = np.sqrt(share**2 @ (gain - mean) ** 2)
    return bool(mean > max(least, errors * error))
