"""The noisy data of the accuracy grid; semantic noise has a labeller of the grid's own."""

from __future__ import annotations

import dataclasses

import numpy as np

from rehead import noise
from rehead._typing import Array
from rehead.experiments.cache import Cache
from rehead.experiments.grid.encoders import image_features
from rehead.experiments.noisy import NoisyTask, TrainSettings, noisy_task

VIEW = 64
"""Images are labelled from features of this size of them: another view than the one that the frozen
features of the grid have."""
CLEAN, CLEAN_IMAGES = 0.02, 0.05
"""Few clean samples, so that the labeller is wrong often enough to matter."""


def grid_noise(settings: TrainSettings, cache: Cache) -> NoisyTask:
    """The data set with noise, validation labels in the same way."""
    if settings.noise != "semantic":
        return noisy_task(settings)
    task = noisy_task(dataclasses.replace(settings, noise="none"))
    train, held_out = views(task, settings.data, cache)
    clean = CLEAN_IMAGES if settings.data == "cifar10" else CLEAN
    rng = np.random.default_rng(np.random.SeedSequence([settings.seed, 5]))
    made = noise.semantic(train, task.labels, clean=clean, random_state=rng)
    return task._replace(
        labels=made.labels,
        validation_labels=made.label(held_out),
        changed=made.changed,
        rate=made.rate,
        transition=made.transition,
    )


def views(task: NoisyTask, data: str, cache: Cache) -> tuple[Array, Array]:
    """What the labeller sees of training and validation samples."""
    splits = task.splits
    if data != "cifar10":
        return splits.train.X, splits.validation.X
    seen = image_features(VIEW, cache)["train/features"]
    return seen[splits.train.ids], seen[splits.validation.ids]
