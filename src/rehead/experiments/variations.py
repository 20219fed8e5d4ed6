"""Variations: one thing changed in a table's setting, by name, to see what it does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rehead import _validation as check
from rehead.experiments.noisy import TrainSettings


class Variation(NamedTuple):
    """One change of a table's setting.

    Attributes
    ----------
    text : str
        In words.
    change : callable
        From the table's settings to others.
    tables : sequence of str
        Those that it is tried on.
    method : str
        The training method that it is tried with; of table 3, D2L as well.
    """

    text: str
    change: Callable[[TrainSettings], TrainSettings]
    tables: Sequence[str] = ("5",)
    method: str = "cross-entropy"


def _set(**values: object) -> Callable[[TrainSettings], TrainSettings]:
    return lambda settings: dataclasses.replace(settings, **values)  # type: ignore[arg-type]


def _half_as_long(settings: TrainSettings) -> TrainSettings:
    epochs = settings.epochs
    if epochs is None:
        from rehead.torch.training import find_recipe

        epochs = find_recipe(settings.recipe, settings.data).epochs
    return dataclasses.replace(settings, epochs=max(1, epochs // 2))


VARIATIONS: dict[str, Variation] = {
    "short": Variation("5 epochs in place of 15", _set(epochs=5)),
    "long": Variation("60 epochs in place of 15", _set(epochs=60)),
    "cosine": Variation("a learning rate that falls to 0", _set(recipe="table5-cosine")),
    "held-out-1000": Variation("1,000 held-out samples of all classes", _set(validation=1000)),
    "tf-idf": Variation("TF-IDF in place of binary input", _set(data="reuters8_tfidf")),
    "narrow": Variation(
        "64 features a layer in place of 256: fewer than any class has samples",
        _set(model_options={"hidden": (64, 64)}),
    ),
    "with-true-class": Variation(
        "uniform noise that may keep the true class", _set(noise="uniform-mix")
    ),
    "gold-at-random": Variation(
        "trusted samples drawn at random, so that rare classes may have none",
        _set(trusted_every_class=False, method_options={"every_class": False}),
        method="glc",
    ),
    "half-as-long": Variation("half of the epochs", _half_as_long, ("1",)),
    "augmented": Variation(
        "random crops and flips, as in the paper", _set(recipe="quick-augmented"), ("1", "3", "6")
    ),
    "more-images": Variation(
        "10,000 images in place of 5,000", _set(limit=10_000), ("1", "3", "6")
    ),
}
"""By name. Changes of inference alone are columns."""


def vary(settings: TrainSettings, name: str) -> TrainSettings:
    """The settings with a variation; no name, no change."""
    if not name:
        return settings
    check.check_choice(name, VARIATIONS, "variation")
    return VARIATIONS[name].change(settings)
