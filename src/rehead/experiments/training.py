"""A training run from names: data, noise, network, method, recipe; kept in a folder.

The folder holds the weights, the log, the labels that were trained on, and ``run.json``, so that
features can be extracted from it later.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.data import Split, Splits
from rehead.experiments.networks import network_factory
from rehead.experiments.noisy import NoisyTask, TrainSettings, load_inputs, noisy_task
from rehead.experiments.runfile import RUN, read_run, write_run
from rehead.files.persist import ModelFileError

if TYPE_CHECKING:
    from torch import nn

    from rehead.torch.training import Method, Recipe, Trained

WATCHED = 1000
"""Test samples that are watched during training."""


class TrainResult(NamedTuple):
    """What a run gave: the networks, and shares of labels predicted."""

    trained: Trained
    task: NoisyTask
    fitted: float
    accuracy: float


def run_training(
    settings: TrainSettings,
    folder: Path | None = None,
    *,
    progress: bool | None = None,
    tell: Callable[[str], None] | None = None,
    labeller_folder: Path | None = None,
) -> TrainResult:
    """Make the noise, train, measure; everything needed to use the network goes to the folder.

    ``tell`` is told what a user should know about the labels, before training begins. The training
    of a labeller is kept in ``labeller_folder``, by default in the folder of the run.
    """
    from rehead.torch.training import Run, train

    recipe = _recipe(settings)
    if labeller_folder is None and folder is not None:
        labeller_folder = folder / "labeller"
    task, trusted = noisy_task(settings, labeller_folder), None
    if tell is not None and task.notes:
        tell("\n".join(task.notes))
    splits = task.splits
    make_net = network_factory(settings.model, settings.model_options, splits)
    method = _method(settings, task, recipe.epochs)
    if method.needs_trusted:
        task, trusted = _with_trusted(settings, task)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    run = Run(
        seed=settings.seed,
        device=settings.device,
        precision=settings.precision,
        # Only watched; all of a large test set would cost as much as training.
        validation=(splits.test.X[:WATCHED], splits.test.y[:WATCHED]),
        folder=folder,
        progress=progress,
    )
    X, labels = splits.train.X, task.labels
    trained = train(make_net, X, labels, method=method, recipe=recipe, trusted=trusted, run=run)
    fitted = _agreement(trained.net, X, labels)
    accuracy = _agreement(trained.net, splits.test.X, splits.test.y)
    result = TrainResult(trained, task, fitted, accuracy)
    if folder is not None:
        _write_run(folder, settings, result)
    return result


def _with_trusted(settings: TrainSettings, task: NoisyTask) -> tuple[NoisyTask, Array]:
    """The task with some labels put right, and which these are.

    An input from elsewhere has no right label, so it cannot be trusted.
    """
    from rehead.torch.training import draw_trusted

    truth = task.splits.train.y
    rows = np.arange(len(truth))
    if settings.noise == "open-set" and settings.labels is None:
        rows = np.flatnonzero(~task.changed)
    share = min(1.0, settings.trusted * len(truth) / max(len(rows), 1))
    trusted = np.zeros(len(truth), bool)
    trusted[rows] = draw_trusted(
        truth[rows], share, every_class=settings.trusted_every_class, random_state=settings.seed
    )
    changed = task.changed & ~trusted
    labels = np.where(trusted, truth, task.labels)
    return task._replace(labels=labels, changed=changed, rate=float(changed.mean())), trusted


def _agreement(net: nn.Module, X: Array, y: Array) -> float:
    """Share of labels that the network predicts."""
    import torch

    from rehead.torch.training.predictions import predict_logits

    device = next(net.parameters()).device
    z = predict_logits(net, torch.from_numpy(np.array(X)), device)
    return float((z.argmax(1).numpy() == y).mean())


def _recipe(settings: TrainSettings) -> Recipe:
    from rehead.torch.training import find_recipe

    recipe = find_recipe(settings.recipe, settings.data)
    return dataclasses.replace(recipe, epochs=settings.epochs) if settings.epochs else recipe


def _method(settings: TrainSettings, task: NoisyTask, epochs: int) -> Method:
    """The method as published for the data set, told what it wants to know about the noise."""
    from rehead.torch.training import METHODS, published_settings

    check.check_choice(settings.method, METHODS, "method")
    make = METHODS[settings.method]
    known: dict[str, Any] = {
        "noise_rate": task.rate if settings.noise_rate is None else settings.noise_rate,
        "transition": _possible(task.transition),
        **published_settings(settings.method, settings.data, epochs),
    }
    if settings.method_options.get("form") == "teacher":
        known["clean"] = _some_known(task.splits.train.y, settings.seed)
    wanted = inspect.signature(make).parameters
    strange = sorted(set(settings.method_options) - set(wanted))
    if strange:
        raise ValueError(f"{settings.method!r} has no option {strange}; it has {list(wanted)}.")
    told = {name: value for name, value in known.items() if name in wanted}
    return make(**{**told, **settings.method_options})


def _possible(T: Array | None) -> Array | None:
    """A transition matrix in which a class without samples keeps its label."""
    if T is None or T.shape[0] != T.shape[1]:
        return None
    return np.where(np.isnan(T), np.eye(len(T)), T)


def _some_known(y: Array, seed: int) -> tuple[Array, Array]:
    """A tenth of the samples with their true labels, for MentorNet's teacher."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 3]))
    rows = rng.permutation(len(y))[: len(y) // 10]
    return rows, y[rows]


def _write_run(folder: Path, settings: TrainSettings, result: TrainResult) -> None:
    asked = dataclasses.asdict(settings)
    asked["labels"] = None if settings.labels is None else "given"
    content = {
        "settings": asked,
        "fitted": result.fitted,
        "accuracy": result.accuracy,
        "noise_rate": result.task.rate,
        "labels": result.task.labels.tolist(),
        "validation_labels": result.task.validation_labels.tolist(),
    }
    if settings.noise == "open-set" and settings.labels is None:
        content["inputs"] = _checksum(result.task)
    write_run(folder, content)


class FinishedRun(NamedTuple):
    """A finished run, from its folder."""

    net: nn.Module
    splits: Splits
    labels: Array
    validation_labels: Array

    def part(self, name: str) -> Split:
        """A part of the data with the labels of the run: noisy ones, but for the test part."""
        check.check_choice(name, ("train", "validation", "test"), "part")
        if name == "test":
            return self.splits.test
        if name == "train":
            return self.splits.train._replace(y=self.labels)
        return self.splits.validation._replace(y=self.validation_labels)


def is_run(folder: str | Path) -> bool:
    """Whether a folder holds a finished run."""
    return (Path(folder) / RUN).is_file()


def open_run(folder: str | Path) -> FinishedRun:
    """A finished run: its network with weights, its data and labels.

    Raises
    ------
    rehead.files.persist.ModelFileError
        If ``run.json`` is damaged, or does not go with the weights or the data.
    """
    from rehead.torch.weights import network_from_file

    folder = Path(folder)
    if not is_run(folder):
        raise FileNotFoundError(
            f"{folder} holds no finished run ({RUN} is missing). Finish it: call `rehead train` "
            "again with the same options."
        )
    content = read_run(folder, [field.name for field in dataclasses.fields(TrainSettings)])
    labels, held_out = (np.array(content[n], np.int64) for n in ("labels", "validation_labels"))
    given = labels if content["settings"]["labels"] is not None else None
    settings = TrainSettings(**{**content["settings"], "labels": given})
    splits = _inputs_of(settings, content.get("inputs"), folder)
    for found, part in ((labels, splits.train), (held_out, splits.validation)):
        right = len(found) == len(part.y) and (found < len(splits.class_names)).all()
        if not right:
            raise ModelFileError(
                f"{folder / RUN} has labels that do not go with {settings.data}: {len(found)} for "
                f"{len(part.y)} samples of {len(splits.class_names)} classes. Train anew."
            )
    make = network_factory(settings.model, settings.model_options, splits)
    net = network_from_file(make, folder / "net.safetensors")
    return FinishedRun(net.eval(), splits, labels, held_out)


def _inputs_of(settings: TrainSettings, known: str | None, folder: Path) -> Splits:
    """The inputs that a run had. Its labels are in the folder, and need not be made again."""
    if settings.noise != "open-set" or settings.labels is not None:
        return load_inputs(settings)
    task = noisy_task(settings)
    if known is not None and known != _checksum(task):
        raise ValueError(
            f"The images that {folder} was trained on are not there any more: those of "
            f"{', '.join(settings.outside) or settings.data} have changed. Put them back, or train "
            "anew."
        )
    return task.splits


def _checksum(task: NoisyTask) -> str:
    """Of the inputs that came from elsewhere."""
    return hashlib.sha256(task.splits.train.X[task.changed].tobytes()).hexdigest()
