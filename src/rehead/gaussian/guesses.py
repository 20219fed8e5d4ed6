"""Whether labels of hard samples are guesses, and how many labels are wrong at least and at most.

T is read off at anchors, which are easy samples. Errors of people sit where samples are hard:
there, a label is drawn from what the sample looks like, not from what it is. Then it says nothing
that the features do not say, and is right with the probability p_y. Hard samples with right labels
look the same: where classes overlap, the posterior is as vague, and as many labels disagree with
it. The likelihood of the labels does not tell the two apart. Two things help:

- *How far classes are apart can be seen without labels.* Take the samples that seem to be of one
  class. Their margins against another class are about normal, being sums of many features. Of
  calibrated margins the variance is twice the mean. So mean and variance tell the temperature at
  which scores would be calibrated if labels were right, and with it how much classes overlap. If
  clearly more labels disagree than overlap and T explain, labels of hard samples are guesses.
- *Both answers can be said.* If all labels of hard samples are right, the noise is what T says. If
  all are guesses, it is 1 - p_y on average. The truth is in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from rehead._typing import Array
from rehead.gaussian.labelnoise import NoiseModel
from rehead.gaussian.probability import softmax
from rehead.gaussian.settings import SETTINGS

FEWEST = 30
"""Samples that are taken for a class, at least; the variance of fewer margins means little."""


class Scored(NamedTuple):
    """Scores of samples, found without their labels; the labels; how often each sample counts.

    ``mapped``: whether they are scores on a kernel map. Margins on it are no sums of many features,
    and far from normal where features are few: they tell neither overlap nor guesses. ``of``: how
    many samples there are, of which these are some; None if they are all. ``now``: labels as they
    are now, where some were changed since; None if none was.
    """

    scores: Array
    codes: Array
    counts: Array
    mapped: bool = False
    of: float | None = None
    now: Array | None = None


class Disagreement(NamedTuple):
    """Shares of samples: whose label disagrees with the best class, and what explains it.

    ``overlap``: how many samples are of another class than it seems, by margins alone, and
    ``at_anchors`` of the surest ones; ``explained``: how many labels would disagree with that much
    overlap, under T. ``wrong_guesses``: how many labels would be wrong with that much overlap, if
    all of hard samples were guesses.
    """

    seen: float
    explained: float
    overlap: float
    at_anchors: float
    wrong_guesses: float

    @property
    def unexplained(self) -> float:
        """What neither T nor overlap explain, as far as overlap is known."""
        unknown = SETTINGS.slack_of_guesses + SETTINGS.slack_of_overlap * self.overlap
        return max(self.seen - self.explained - unknown, 0.0)

    @property
    def doubtful(self) -> float:
        """Overlap that T may have taken for noise: of the anchors, and of all if it is large."""
        return self.at_anchors + SETTINGS.doubtful_overlap * self.overlap**2


def with_guesses(
    noise: NoiseModel,
    told: Scored,
    share_wrong: Callable[[Array], float],
    at_least: float = 0.0,
) -> NoiseModel:
    """The noise model with what is known about hard samples: ``guessed``, ``least`` and ``most``.

    ``share_wrong`` makes a share of wrong labels of the probabilities that labels are right;
    ``at_least`` so far labels of hard samples are known to be guesses.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian.labelnoise import fit_noise
    >>> rng = np.random.default_rng(0)
    >>> true = rng.integers(2, size=4000)
    >>> x = rng.normal(size=4000) + np.where(true == 1, 2.5, -2.5)
    >>> scores = np.column_stack([-5.0 * x, 5.0 * x]) / 2
    >>> ones, share = np.ones(4000), lambda right: 1.0 - right.mean()
    >>> clean = with_guesses(fit_noise(scores, true), Scored(scores, true, ones), share)
    >>> guessed = np.where(rng.random(4000) < 1 / (1 + np.exp(-0.5 * x)), 1, 0)   # unsure
    >>> noisy = with_guesses(fit_noise(scores, guessed), Scored(scores, guessed, ones), share)
    >>> clean.guessed, clean.most < 0.02, noisy.guessed > 0.5
    (0.0, True, True)
    >>> noisy.least < float((guessed != true).mean()) < noisy.most
    True
    """
    noise, (scores, codes, counts, mapped, _, changed) = noise.without_guesses(), told
    posterior = noise.posterior(scores.astype(np.float64))
    every, now = np.arange(len(codes)), codes if changed is None else changed
    found = disagreement(noise, posterior, told, share_wrong)
    given = noise.given_label(posterior, codes)
    # Whether labels are guesses, they tell as they came; how many are wrong, as they are now.
    shares = [
        (share_wrong(given[every, of]), share_wrong(posterior[every, of])) for of in (codes, now)
    ]
    guessed = float(max(0.0 if mapped else _guessed(found, *shares[0]), at_least))
    right, (hard_are_right, hard_are_guesses) = given[every, now], shares[1]
    wrong = (1.0 - guessed) * hard_are_right + guessed * hard_are_guesses
    # What T says may be overlap; so may guesses that disagree.
    least = hard_are_right - found.doubtful
    least += guessed * max(found.wrong_guesses - found.overlap - least, 0.0)
    if hard_are_right > SETTINGS.mostly_wrong:
        least = 0.0  # features that tell nothing look the same
    # Guesses mislead the classifier too, which then agrees with them.
    most = hard_are_guesses + SETTINGS.misled_share * max(hard_are_guesses - hard_are_right, 0.0)
    reach = SETTINGS.standard_errors * noise.rate_error
    less, more = (share_wrong(_at_rate(right, noise.rate, r)) for r in (-reach, reach))
    # Which samples are of another class than it seems is chance; so is how many labels are wrong.
    by_chance = np.hypot(_error_of(found.overlap, counts), _error_of(hard_are_right, counts))
    by_chance *= SETTINGS.standard_errors
    least -= np.hypot(hard_are_right - less, by_chance)
    most += np.hypot(more - hard_are_right, by_chance)
    least, most = float(np.clip(least, 0.0, wrong)), float(np.clip(most, wrong, 1.0))
    return noise._replace(guessed=guessed, wrong=float(wrong), least=least, most=most)


def _guessed(found: Disagreement, hard_are_right: float, hard_are_guesses: float) -> float:
    """How far labels of hard samples are guesses.

    Most guesses agree with the best class, or overlap explains them: there are more than those that
    nothing explains. At most all are guesses. Then the posterior that makes them likely is as vague
    as they are, which is too vague; that of the margins is too sure, since guesses mislead the
    classifier. The truth is about half-way.
    """
    if hard_are_guesses <= hard_are_right:
        return 0.0
    all_guessed = 0.5 * (found.wrong_guesses + hard_are_guesses) - hard_are_right
    more = min(SETTINGS.wrong_guesses * found.unexplained, max(all_guessed, 0.0))
    return min(more / (hard_are_guesses - hard_are_right), 1.0)


def _at_rate(right: Array, rate: float, change: float) -> Array:
    """Probabilities that labels are right, if T had a rate that is larger by ``change``.

    Where classes are far apart they hardly change: there it is plain which labels are wrong.
    """
    tiny = 1e-9
    before, after = (float(np.clip(r, tiny, 1.0 - tiny)) for r in (rate, rate + change))
    odds = after / (1.0 - after) * (1.0 - before) / before
    changed: Array = right / (right + (1.0 - right) * odds)
    return changed


def _error_of(share: float, counts: Array) -> float:
    """Standard error of a share of the samples, of which each counts or does not by chance."""
    return float(np.sqrt(share * (1.0 - share) / counts.sum()))


def disagreement(
    noise: NoiseModel, posterior: Array, told: Scored, share_wrong: Callable[[Array], float]
) -> Disagreement:
    """How many labels disagree, and how many of them T and the overlap of the classes explain.

    Where margins tell nothing, samples overlap as the posterior says, and all is explained.
    """
    codes, counts = told.codes, told.counts
    share, every = counts / counts.sum(), np.arange(len(codes))
    seen = float(share @ (posterior.argmax(axis=1) != codes))
    p = posterior_of_margins(noise, told)
    explained = seen
    if p is None:
        p = posterior
    else:
        best = p.argmax(axis=1)
        explained = float(1.0 - share @ (p * noise.transition[:, best].T).sum(axis=1))
    doubt = 1.0 - p.max(axis=1)
    at_anchors, wrong = mean_of_least(doubt, counts), share_wrong(p[every, codes])
    return Disagreement(seen, explained, float(share @ doubt), at_anchors, wrong)


def posterior_of_margins(noise: NoiseModel, told: Scored) -> Array | None:
    """What samples are, by scores that margins calibrate, not labels; None if margins do not tell.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian.labelnoise import fit_noise
    >>> codes = np.arange(1000) % 2
    >>> x = 3.0 * np.where(codes == 1, 1, -1) + np.random.default_rng(0).normal(size=1000)
    >>> scores = np.column_stack([-3.0 * x, 3.0 * x])
    >>> told = Scored(scores, codes, np.ones(1000))
    >>> bool(posterior_of_margins(fit_noise(scores, codes), told).max(axis=1).mean() > 0.99)
    True
    """
    temperature = None
    if not told.mapped:
        temperature = temperature_of_margins(told.scores, told.counts, told.of)
    if temperature is None:
        return None
    return softmax(
        told.scores.astype(np.float64) / temperature + np.log(noise.priors), overwrite=True
    )


def mean_of_least(doubt: Array, counts: Array) -> float:
    """Mean doubt of the surest samples, as many as are anchors; as if they were repeated.

    Examples
    --------
    >>> import numpy as np
    >>> doubt = np.array([0.9, 0.0, 0.25, 0.5, 0.8])
    >>> mean_of_least(doubt, np.array([1.0, 0.0, 3.0, 1.0, 1.0]))
    0.25
    """
    order = np.argsort(doubt, kind="stable")
    order = order[counts[order] > 0]
    ranked, often = doubt[order], counts[order]
    before = np.cumsum(often) - often
    within = before <= max(SETTINGS.anchor_shares[0] * (often.sum() - 1.0), 0.0)
    surest = ranked <= ranked[within][-1]
    return float(np.average(ranked[surest], weights=often[surest]))


def enough_of_each(n_samples: float, n_classes: int) -> bool:
    """Whether there are so many samples of each class that guesses can be told from overlap."""
    return n_samples >= SETTINGS.enough_of_each * n_classes


def temperature_of_margins(
    scores: Array, counts: Array | None = None, n_samples: float | None = None
) -> float | None:
    """The temperature at which margins are calibrated if they are normal; labels are not needed.

    Pairs of classes count by how much they overlap, samples as often as ``counts`` says. None where
    there are too few of each class: of all samples, of which those with scores may be some.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=20000) + np.where(rng.random(20000) < 0.5, 1.5, -1.5)
    >>> log_odds = 3.0 * x                                    # of the two normals
    >>> scores = np.column_stack([np.zeros(20000), log_odds])
    >>> [round(temperature_of_margins(k * scores) / k, 1) for k in (1, 3)]
    [1.0, 1.0]
    """
    counts, taken_for = np.ones(len(scores)) if counts is None else counts, scores.argmax(axis=1)
    if not enough_of_each(counts.sum() if n_samples is None else n_samples, scores.shape[1]):
        return None
    if len(scores) < FEWEST * scores.shape[1]:
        return None  # classes that many of these are taken for are those that swallow others
    frequent = np.flatnonzero(np.bincount(taken_for, minlength=scores.shape[1]) >= FEWEST)
    weights, logs = [], []
    for c in frequent:
        of_class, often = scores[taken_for == c].astype(np.float64), counts[taken_for == c]
        margins = of_class[:, [c]] - of_class[:, frequent[frequent != c]]
        share = often / max(often.sum(), np.finfo(float).tiny)
        mean, square = share @ margins, share @ margins**2
        told = (mean > 0) & (square > mean**2)
        mean, square = mean[told], square[told]
        apart = means_in_deviations(square / mean**2)
        weights.append(often.sum() * np.exp(-0.5 * apart**2))
        logs.append(np.log(0.5 * np.sqrt(square / (1.0 + apart**2)) / apart))
    if not weights or not np.concatenate(weights).any():
        return None
    return float(np.exp(np.average(np.concatenate(logs), weights=np.concatenate(weights))))


def means_in_deviations(ratio: Array) -> Array:
    """How many standard deviations a normal's mean is from 0, told by its size alone.

    ``ratio`` is the mean square by the square of the mean size. A sample with a negative margin is
    taken for the other class, where its margin is positive; so only sizes are seen. They hardly
    tell means near 0 apart: no answer is below ``SETTINGS.least_apart``.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.abs(np.random.default_rng(0).normal(2.0, size=100_000))
    >>> means_in_deviations(np.array([(x**2).mean() / x.mean() ** 2, 9.9])).round(1)
    array([2., 1.])
    """
    found: Array = np.interp(-ratio, -_RATIOS, _APART)
    return found


def _ratios(apart: Array) -> Array:
    """Mean square by squared mean of the sizes of a normal (the folded normal distribution)."""
    size = np.sqrt(2.0 / np.pi) * np.exp(-0.5 * apart**2) + apart * (1.0 - 2.0 * ndtr(-apart))
    ratios: Array = (1.0 + apart**2) / size**2
    return ratios


_APART = np.concatenate([np.linspace(SETTINGS.least_apart, 6.0, 500), np.geomspace(6.01, 1e3, 500)])
_RATIOS = _ratios(_APART)
