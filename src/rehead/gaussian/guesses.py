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

from rehead._typing import Array
from rehead.gaussian.labelnoise import NoiseModel
from rehead.gaussian.probability import softmax
from rehead.gaussian.settings import SETTINGS

FEWEST = 30
"""Samples that are taken for a class, at least; the variance of fewer margins means little."""


class Scored(NamedTuple):
    """Scores of samples, found without their labels; the labels; how often each sample counts."""

    scores: Array
    codes: Array
    counts: Array


class Disagreement(NamedTuple):
    """Shares of samples: whose label disagrees with the best class, and what explains it.

    ``overlap``: how many samples are of another class than it seems, by margins alone, and
    ``at_anchors`` of the surest ones; ``explained``: how many labels would disagree with that much
    overlap, under T.
    """

    seen: float
    explained: float
    overlap: float
    at_anchors: float

    @property
    def unexplained(self) -> float:
        """What neither T nor overlap explain; as much again as the overlap means nothing."""
        return max(self.seen - self.explained - self.overlap - SETTINGS.slack_of_guesses, 0.0)


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
    noise, (scores, codes, counts) = noise.without_guesses(), told
    posterior = noise.posterior(scores.astype(np.float64))
    every = np.arange(len(codes))
    found = disagreement(noise, posterior, told)
    guessed = max(min(found.unexplained / SETTINGS.range_of_guesses, 1.0), at_least)
    hard_are_right = share_wrong(noise.given_label(posterior, codes)[every, codes])
    hard_are_guesses = share_wrong(posterior[every, codes])
    vague = float(np.average(1.0 - posterior.max(axis=1), weights=counts))
    reach = SETTINGS.standard_errors * noise.rate_error
    # What T says may be overlap: of the anchors, or where the classifier is sure and wrong.
    overlap = found.at_anchors + SETTINGS.doubtful_overlap * vague
    least = hard_are_right + found.unexplained - overlap - reach
    if hard_are_right > SETTINGS.mostly_wrong:
        least = 0.0  # features that tell nothing look the same
    # Guesses mislead the classifier too, which then agrees with them.
    most = hard_are_guesses + reach
    most += SETTINGS.misled_share * max(hard_are_guesses - hard_are_right, 0.0)
    return noise._replace(
        guessed=guessed,
        wrong=(1.0 - guessed) * hard_are_right + guessed * hard_are_guesses,
        least=float(np.clip(least, 0.0, hard_are_right)),
        most=float(np.clip(most, hard_are_right, 1.0)),
    )


def disagreement(noise: NoiseModel, posterior: Array, told: Scored) -> Disagreement:
    """How many labels disagree, and how many of them T and the overlap of the classes explain."""
    scores, codes, counts = told
    share = counts / counts.sum()
    seen = float(share @ (posterior.argmax(axis=1) != codes))
    temperature = temperature_of_margins(scores)
    if temperature is None:
        return Disagreement(seen, seen, 0.0, 0.0)
    p = softmax(scores.astype(np.float64) / temperature + np.log(noise.priors), overwrite=True)
    best = p.argmax(axis=1)
    agreed = (p * noise.transition[:, best].T).sum(axis=1)
    doubt = 1.0 - p.max(axis=1)
    surest = doubt <= np.quantile(doubt, SETTINGS.anchor_shares[0])
    return Disagreement(
        seen, float(1.0 - share @ agreed), float(share @ doubt), float(doubt[surest].mean())
    )


def temperature_of_margins(scores: Array) -> float | None:
    """The temperature at which margins are calibrated if they are normal; labels are not needed.

    Pairs of classes count by how much they overlap. None where too few samples are taken for each
    class.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=20000) + np.where(rng.random(20000) < 0.5, 2.0, -2.0)
    >>> log_odds = 4.0 * x                                    # of the two normals
    >>> scores = np.column_stack([np.zeros(20000), log_odds])
    >>> [round(temperature_of_margins(k * scores) / k, 1) for k in (1, 3)]
    [0.9, 0.9]
    """
    taken_for = scores.argmax(axis=1)
    frequent = np.flatnonzero(np.bincount(taken_for, minlength=scores.shape[1]) >= FEWEST)
    weights, logs = [], []
    for c in frequent:
        of_class = scores[taken_for == c].astype(np.float64)
        margins = of_class[:, [c]] - of_class[:, frequent[frequent != c]]
        mean, variance = margins.mean(axis=0), margins.var(axis=0)
        told = (mean > 0) & (variance > 0)
        mean, variance = mean[told], variance[told]
        weights.append(len(of_class) * np.exp(-0.5 * mean**2 / variance))
        logs.append(np.log(0.5 * variance / mean))
    if not weights or not np.concatenate(weights).any():
        return None
    return float(np.exp(np.average(np.concatenate(logs), weights=np.concatenate(weights))))
