"""Where the features of the grid come from: trained networks, frozen encoders, the data itself.

All layers of a task are the paper's layers and those of the default: ways to predict differ in what
they make of them, not in what they are given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehead._typing import Array
from rehead.experiments.cache import Arrays, Cache
from rehead.experiments.cell import Cell
from rehead.experiments.grid.encoders import document_features, encode_images, image_features
from rehead.experiments.grid.noise import grid_noise
from rehead.experiments.grid.tasks import AS_IT_IS, settings_of, task_of
from rehead.experiments.noisy import NoisyTask, TrainSettings
from rehead.experiments.sources import (
    Source,
    Taken,
    described,
    one_thread,
    taken,
    task_arrays,
    train_network,
)

FEATURES = "features"
"""The one layer of a frozen encoder."""
SIZE = 96
"""Images are scaled to this before they are encoded."""


@dataclass(frozen=True)
class GridNetwork:
    """A network that is trained on noisy labels: the input and all layers, or all blocks."""

    settings: TrainSettings

    @property
    def what(self) -> Mapping[str, Any]:
        """The settings."""
        return {"source": "grid network", **described(self.settings)}

    def make(self, cache: Cache) -> Arrays:
        """Train, and take the features. What was trained before it was killed is not lost."""
        with one_thread():
            return self._trained(grid_noise(self.settings, cache), cache.working(self.what))

    def _trained(self, task: NoisyTask, folder: Path) -> Arrays:
        settings = self.settings
        if settings.noise == "semantic":
            settings = dataclasses.replace(settings, noise="none", labels=task.labels)
        result, facts = train_network(settings, folder)
        net: Any = result.trained.net
        images = task.splits.train.X.ndim == 4
        names = list(net.block_layers) if images else ["input", *net.feature_layers]
        return {**task_arrays(task, taken(net, task, names), names, names), **facts}


@dataclass(frozen=True)
class FrozenImages:
    """Images through EfficientNet-lite0, never trained on their labels."""

    settings: TrainSettings

    @property
    def what(self) -> Mapping[str, Any]:
        """The settings of data and noise, and the size of the images."""
        return {"source": "efficientnet-lite0", "size": SIZE, **described(self.settings)}

    def make(self, cache: Cache) -> Arrays:
        """Look the features up; images from elsewhere are encoded."""
        task = grid_noise(self.settings, cache)
        encoded = image_features(SIZE, cache, self.settings.data)
        splits, seen = task.splits, encoded["train/features"]
        # Ids count on from the training images to the test images.
        test = encoded["test/features"][splits.test.ids - splits.test.ids.min()]
        train = seen[splits.train.ids]
        if self.settings.noise == "open-set":
            train[task.changed] = encode_images(splits.train.X[task.changed], SIZE)
        return _frozen(task, train, seen[splits.validation.ids], test)


@dataclass(frozen=True)
class FrozenTexts:
    """Documents through MiniLM, never trained on their labels."""

    settings: TrainSettings

    @property
    def what(self) -> Mapping[str, Any]:
        """The settings of data and noise."""
        return {"source": "minilm", **described(self.settings)}

    def make(self, cache: Cache) -> Arrays:
        """Look the features up."""
        task = grid_noise(self.settings, cache)
        encoded = document_features(cache, self.settings.data)
        rows = {int(i): row for row, i in enumerate(encoded["ids"])}
        parts = [[rows[int(i)] for i in split.ids] for split in task.splits[:3]]
        return _frozen(task, *(encoded["features"][part] for part in parts))


@dataclass(frozen=True)
class PlainFeatures:
    """The features of a data set as they are."""

    settings: TrainSettings

    @property
    def what(self) -> Mapping[str, Any]:
        """The settings of data and noise."""
        return {"source": AS_IT_IS, **described(self.settings)}

    def make(self, cache: Cache) -> Arrays:
        """Load them."""
        task = grid_noise(self.settings, cache)
        return _frozen(task, *(split.X for split in task.splits[:3]))


def _frozen(task: NoisyTask, *features: Array) -> Arrays:
    parts = [Taken({FEATURES: X}) for X in features]
    return task_arrays(task, parts, [FEATURES], [FEATURES])


ENCODERS: dict[str, Callable[[TrainSettings], Source]] = {
    "efficientnet-lite0": FrozenImages,
    "minilm": FrozenTexts,
    AS_IT_IS: PlainFeatures,
}


def grid_source(cell: Cell) -> Source:
    """What makes the features of a cell of the grid.

    Examples
    --------
    >>> from rehead.experiments.grid.sources import grid_source
    >>> from rehead.experiments.grid.tasks import grid_cells
    >>> grid_source(grid_cells(["reuters8-frozen"])[0]).what["source"]
    'minilm'
    """
    make = ENCODERS.get(task_of(cell).network, GridNetwork)
    return make(settings_of(cell))
