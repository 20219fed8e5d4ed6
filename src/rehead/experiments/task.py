"""What ways to predict are given: features by layer, noisy labels, the network's own outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rehead._typing import Array

PARTS = ("train", "validation", "test")


@dataclass(frozen=True)
class Part:
    """Some samples: features by layer, labels, and the network's logits.

    Attributes
    ----------
    layers : mapping of str to array
        From the input to the output.
    y : array
        Class numbers: noisy ones, but for the test part.
    outputs : array, optional
        The network's logits; None for features of an encoder that was not trained on the labels.
    """

    layers: Mapping[str, Array]
    y: Array
    outputs: Array | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """A network and its noisy data, as features. The test labels are clean.

    Attributes
    ----------
    train, validation, test : Part
    truth : array
        True classes of the training samples.
    changed : boolean array
        The training samples that are not what their label says.
    taps : tuple of str
        The layers that the paper's ensemble takes, from the input to the output; the last one is
        the penultimate layer.
    auto : tuple of str
        The layers that the default takes.
    n_classes : int

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.experiments.task import Part, Task
    >>> part = Part({"last": np.eye(3)}, np.arange(3))
    >>> truth, changed = np.array([0, 1, 1]), np.array([False, False, True])
    >>> task = Task(part, part, part, truth, changed, ("last",), ("last",), 3)
    >>> task.last, round(task.noise_rate, 2)
    ('last', 0.33)
    """

    train: Part
    validation: Part
    test: Part
    truth: Array
    changed: Array
    taps: tuple[str, ...]
    auto: tuple[str, ...]
    n_classes: int

    @property
    def noise_rate(self) -> float:
        """Share of training samples that are not what their label says."""
        return float(np.mean(self.changed))

    @property
    def last(self) -> str:
        """The penultimate layer."""
        return self.taps[-1]

    @property
    def first(self) -> str:
        """The layer next to the input, or the input itself."""
        return next(iter(self.train.layers))


@dataclass(frozen=True)
class Prediction:
    """What a way to predict gives.

    Attributes
    ----------
    labels : array
        Class numbers of the test samples.
    quality : array, optional
        How well the label of each training sample fits; low is suspect. Any scale.
    noise_rate : float, optional
        The share of wrong training labels, as it was estimated.
    details : mapping
        What else there is to know, ready for JSON: weights of layers, clean share among the kept.
    """

    labels: Array
    quality: Array | None = None
    noise_rate: float | None = None
    details: Mapping[str, object] | None = None
