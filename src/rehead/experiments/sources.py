"""Where a task comes from: a network that is trained, and its features."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from rehead._typing import Array
from rehead.experiments.cache import Arrays, Cache, digest
from rehead.experiments.noisy import (
    QUICK,
    NoisyTask,
    TrainSettings,
    noisy_task,
)
from rehead.experiments.task import PARTS, Part, Task

if TYPE_CHECKING:
    from rehead.experiments.training import TrainResult

FEATURES_VERSION = 1
"""Raise it where the same settings give other features than before: a recipe, a network, a method,
the noise or the reading of data has changed. What is in caches is then made again."""
LAYER, OUTPUTS = "layer", "outputs"
FACTS = ("fitted", "seconds", "cpu_seconds", "parameters")
"""Single numbers that are kept beside the arrays."""
LATER = {"trusted_every_class": True}
"""Settings that came later, and what they were before: so, they are not part of a description."""
LABELLER = (
    "data",
    "recipe",
    "rate",
    "labeller",
    "labeller_options",
    "labeller_samples",
    "validation",
    "limit",
    "seed",
)
"""What the labels of a labeller depend on: not on what is trained with them."""


class Taken(NamedTuple):
    """What is taken of some samples: features by layer, and logits where there is a network."""

    layers: Mapping[str, Array]
    outputs: Array | None = None


class Source(Protocol):
    """What makes the arrays of a task; two with the same description make the same."""

    @property
    def what(self) -> Mapping[str, Any]:
        """A description, which can be JSON."""
        ...

    def make(self, cache: Cache) -> Arrays:
        """The arrays of a task, as :func:`load_task` reads them."""
        ...


@dataclass(frozen=True)
class TrainedNetwork:
    """A network that is trained on noisy labels.

    Attributes
    ----------
    settings : TrainSettings
    """

    settings: TrainSettings

    @property
    def what(self) -> Mapping[str, Any]:
        """The settings."""
        return {"source": "network", **described(self.settings)}

    def make(self, cache: Cache) -> Arrays:
        """Train, and take the features. What was trained before it was killed is not lost."""
        with one_thread():
            labeller = taught_labeller(self.settings, cache)
            result, facts = train_network(self.settings, cache.working(self.what), labeller)
            return {**features_of(result.trained.net, result.task), **facts}


def described(settings: TrainSettings) -> dict[str, Any]:
    """Settings as part of a description; it is the same as before there were later ones."""
    asked = dataclasses.asdict(settings)
    later = {name for name, usual in LATER.items() if asked[name] == usual}
    known = {name: value for name, value in asked.items() if name not in later}
    return {**features_version(), **known}


def train_network(
    settings: TrainSettings, folder: Path, labeller: Path | None = None
) -> tuple[TrainResult, Arrays]:
    """Train, and note how long it took, and what share of the labels the network fits.

    Epochs that were trained before an interruption count.

    Parameters
    ----------
    settings : TrainSettings
    folder : Path
        For work in progress.
    labeller : Path, optional
        For the training of a labeller, which other networks may use.
    """
    from rehead.experiments.training import run_training

    before = spent_before(folder)
    wall, cpu = time.perf_counter(), time.process_time()
    result = run_training(settings, folder, labeller_folder=labeller, progress=False)
    facts = {
        "fitted": result.fitted,
        "seconds": before[0] + time.perf_counter() - wall,
        "cpu_seconds": before[1] + time.process_time() - cpu,
        "parameters": sum(p.numel() for p in result.trained.net.parameters()),
    }
    return result, {name: np.array(value) for name, value in facts.items()}


def spent_before(folder: Path) -> tuple[float, float]:
    """Seconds, and those of the processor, of the epochs that the logs of a run know."""
    from rehead.torch.training.checkpoint import LOG

    epochs = [entry for path in folder.rglob(LOG) for entry in _entries(path)]
    # Earlier logs have no time of the processor; networks of experiments have one thread.
    of_cpu = (epoch.get("cpu_seconds", epoch["seconds"]) for epoch in epochs)
    return sum(epoch["seconds"] for epoch in epochs), sum(of_cpu)


def _entries(log: Path) -> Iterator[dict[str, Any]]:
    for line in log.read_bytes().splitlines():
        with suppress(ValueError):  # half written when it was killed
            yield json.loads(line)


def features_version() -> dict[str, int]:
    """Nothing for the first, so that what was made before there were versions is found."""
    return {"version": FEATURES_VERSION} if FEATURES_VERSION > 1 else {}


@contextmanager
def one_thread() -> Iterator[None]:
    """Another number of threads gives other weights: they must not depend on a sweep's jobs."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def taught_labeller(settings: TrainSettings, cache: Cache) -> Path | None:
    """The folder of a labeller, which is taught first; networks that share it wait for it."""
    if settings.noise != "semantic":
        return None
    what = {**features_version(), **{name: getattr(settings, name) for name in LABELLER}}
    if settings.recipe in QUICK:
        what["recipe"] = QUICK[0]  # one labeller for all of them
    folder = cache.folder / "labellers" / digest(what)
    with cache.alone({"source": "labeller", **what}):
        noisy_task(settings, folder)
    return folder


def features_of(net: Any, task: NoisyTask) -> Arrays:
    """Features of the paper's layers, of all blocks, and of what the default would choose."""
    from rehead.torch import extract_features

    first = task.splits.train.X[:8]
    chosen = list(extract_features(net, first, "auto", progress=False).layers)
    taps = list(net.feature_layers)
    names = [*chosen, *(n for n in (*net.block_layers, *taps) if n not in chosen)]
    names = _in_order(names, [*chosen[:1], *net.block_layers, *taps])
    return task_arrays(task, taken(net, task, names), taps, chosen)


def taken(net: Any, task: NoisyTask, names: Sequence[str]) -> Iterator[Taken]:
    """Features of some layers, part by part."""
    from rehead.torch import extract_features

    for split in task.splits[:3]:
        found = extract_features(net, split.X, list(names), progress=False)
        yield Taken(found.layers, found.outputs)


def task_arrays(
    task: NoisyTask, parts: Iterable[Taken], taps: Sequence[str], auto: Sequence[str]
) -> Arrays:
    """A task as :func:`load_task` reads it.

    Parameters
    ----------
    task : NoisyTask
    parts : iterable of Taken
        Features for training, validation and test.
    taps, auto : sequence of str
        The layers that the paper's ensemble and the default take.
    """
    arrays: Arrays = {
        "truth": task.splits.train.y,
        "changed": task.changed,
        "taps": np.array(taps),
        "auto": np.array(auto),
        "ids": task.splits.train.ids,
        "n_classes": np.array(len(task.splits.class_names)),
    }
    labels = (task.labels, task.validation_labels, task.splits.test.y)
    for part, found, y in zip(PARTS, parts, labels, strict=True):
        arrays |= {f"{part}/{LAYER}/{name}": f for name, f in found.layers.items()}
        arrays[f"{part}/y"] = y
        if found.outputs is not None:
            arrays[f"{part}/{OUTPUTS}"] = found.outputs
    return arrays


def _in_order(names: list[str], order: list[str]) -> list[str]:
    """Names in this order; what it does not know comes first."""
    return sorted(names, key=lambda name: order.index(name) if name in order else -1)


def load_task(source: Source, cache: Cache) -> tuple[Task, dict[str, float]]:
    """A task and the facts about its making, from the cache, made first if it is not there."""
    arrays = cache.arrays(source.what, lambda: source.make(cache))
    cache.finished(source.what)
    train, validation, test = (_part(arrays, part) for part in PARTS)
    task = Task(
        train,
        validation,
        test,
        truth=arrays["truth"],
        changed=arrays["changed"],
        taps=tuple(arrays["taps"].tolist()),
        auto=tuple(arrays["auto"].tolist()),
        n_classes=int(arrays["n_classes"]),
    )
    return task, {name: float(arrays[name]) for name in FACTS if name in arrays}


def _part(arrays: Mapping[str, Array], part: str) -> Part:
    prefix = f"{part}/{LAYER}/"
    layers = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
    return Part(layers, arrays[f"{part}/y"], arrays.get(f"{part}/{OUTPUTS}"))
