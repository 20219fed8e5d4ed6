"""What a model thinks of labels, as a value; and what makes it of scores, block by block.

What is called on blocks of scores are values here, not closures: they are sent to other processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.labelnoise import NoiseModel
from rehead.gaussian.linear import SecondOpinion
from rehead.gaussian.probability import softmax
from rehead.gaussian.tied import TiedGaussians

JointReduce = Callable[[Array, Array, Array], Array]
"""Makes rows of a result from scores of the Gaussians, joint scores, and labels."""


class LabelVerdicts(NamedTuple):
    """What a model thinks of some labels; one entry a row.

    ``quality`` of the given label, the code of the ``best`` label and its ``probability``; the
    squared ``distance`` to the nearest class, for each feature (as features are before a map);
    ``known`` says whether the model was fitted on the row with this label.
    """

    quality: Array
    best: Array
    probability: Array
    distance: Array
    known: Array


def label_columns(posterior: Array, codes: Array, distance: Array) -> Array:
    """Probability of the label, best class, its probability, and the distance, of each row."""
    every, best = np.arange(len(posterior)), posterior.argmax(axis=1)
    return np.column_stack([posterior[every, codes], best, posterior[every, best], distance])


class Told(NamedTuple):
    """Of each row: its label, and the fold of a second opinion that it is in (or -1)."""

    codes: Array
    folds: Array


@dataclass(frozen=True, eq=False)
class OneOpinion:
    """Scores of Gaussians alone."""

    reduce: JointReduce

    def __call__(self, scores: Array, codes: Array) -> Array:
        return self.reduce(scores, scores, codes)


@dataclass(frozen=True, eq=False)
class TwoOpinions:
    """Scores of Gaussians, and with those of a second opinion of the same rows."""

    second: SecondOpinion
    reduce: JointReduce

    def __call__(self, scores: Array, told: tuple[Array, Array, Array]) -> Array:
        codes, folds, block = told
        return self.reduce(scores, self.second.joint(scores, block, folds), codes)


class GivenLabel(NamedTuple):
    """What samples are, from their scores and labels; without noise, from scores alone.

    ``log_priors`` are relative to equal ones.
    """

    noise: NoiseModel | None
    log_priors: Array
    temperature: float
    offsets: Array | None

    @classmethod
    def by(cls, gaussians: TiedGaussians, noise: NoiseModel | None) -> GivenLabel:
        """As some Gaussians see it."""
        with np.errstate(divide="ignore"):
            log_priors = np.log(gaussians.priors * len(gaussians.priors))
        return cls(noise, log_priors, gaussians.temperature, gaussians.offsets)

    def posterior(self, scores: Array, codes: Array) -> Array:
        """Probabilities of the classes."""
        if self.noise is not None:
            # It has class shares of its own: those of the samples whose labels are judged.
            return self.noise.posterior_given_label(scores, codes)
        calibrated = (scores + self.log_priors) / self.temperature
        calibrated = calibrated if self.offsets is None else calibrated + self.offsets
        return softmax(calibrated.astype(np.float64), overwrite=True)


@dataclass(frozen=True, eq=False)
class Summary:
    """Of each label: its quality, the best one, and how far the sample is from all classes.

    ``width`` is how many features there are.
    """

    given_label: GivenLabel
    width: int

    def __call__(self, scores: Array, joint: Array, codes: Array) -> Array:
        posterior = self.given_label.posterior(joint, codes)
        return label_columns(posterior, codes, nearest_distance(scores, self.width))


@dataclass(frozen=True, eq=False)
class WholePosterior:
    """The posterior itself, and how far the sample is; as :class:`Summary`."""

    given_label: GivenLabel
    width: int

    def __call__(self, scores: Array, joint: Array, codes: Array) -> Array:
        posterior = self.given_label.posterior(joint, codes)
        return np.column_stack([posterior, nearest_distance(scores, self.width)])


def nearest_distance(scores: Array, width: int) -> Array:
    """Squared distance to the nearest class, for each feature: about 1 for usual samples."""
    distance: Array = -2.0 * (scores.max(axis=1) + np.log(scores.shape[1])) / width
    return distance
