"""A training run from names: data, noise, network, method, recipe; kept in a folder.

The folder holds the weights, the log, the labels that were trained on, and ``run.json``, so that
features can be extracted from it later.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead import data, noise
from rehead._typing import Array
from rehead.data import Split, Splits
from rehead.experiments.runfile import RUN, read_run, write_run
from rehead.files.persist import ModelFileError

if TYPE_CHECKING:
    from torch import nn

    from rehead.torch.training import Method, Recipe, Trained

WATCHED = 1000
"""Test samples that are watched during training."""
KINDS = ("none", *noise.NOISES, "semantic", "open-set")
"""Kinds of noise that a run can make."""


@dataclass(frozen=True)
class TrainSettings:
    """What to train on what.

    Attributes
    ----------
    data, model, method, recipe : str
        Names. The default model is the fully connected network for vectors and the small ResNet
        for images.
    noise, rate
        Kind and share of noise; for "semantic", ``rate`` is the share of clean samples that teach
        the labeller.
    labels : array, optional
        Noisy labels of one's own for the training samples, in their order, in place of made ones.
    noise_rate : float, optional
        What methods are told. Default: the rate that was made.
    trusted : float
        Share of samples with known labels, for the methods that need some.
    validation : int or float, optional
        Number or share of held-out samples; see :func:`rehead.data.load`.
    limit : int, optional
        Number of training samples to take; a ninth of it, at most 1,000, is for validation.
    epochs : int, optional
        In place of the recipe's.
    model_options, method_options : dict
    seed, device, precision
    """

    data: str = "digits"
    model: str | None = None
    method: str = "cross-entropy"
    recipe: str = "quick"
    noise: str = "none"
    rate: float = 0.0
    labels: Array | None = None
    noise_rate: float | None = None
    trusted: float = 0.01
    validation: float | None = None
    limit: int | None = None
    epochs: int | None = None
    model_options: dict[str, Any] = field(default_factory=dict)
    method_options: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    device: str | None = None
    precision: str = "float32"

    def __post_init__(self) -> None:
        check.check_choice(self.noise, KINDS, "noise")
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate must be in [0, 1], got {self.rate!r}. For 40 % pass 0.4.")


class NoisyTask(NamedTuple):
    """A data set with noisy training and validation labels; the test labels are clean."""

    splits: Splits
    labels: Array
    validation_labels: Array
    changed: Array
    rate: float
    transition: Array | None


def noisy_task(settings: TrainSettings) -> NoisyTask:
    """Load the data and make its labels noisy, validation labels in the same way."""
    splits = _load(settings)
    y, held_out = splits.train.y, splits.validation.y
    if settings.labels is not None:
        return _given_labels(splits, settings)
    if settings.noise == "none":
        return NoisyTask(splits, y, held_out, np.zeros(len(y), bool), 0.0, None)
    # Independent generators: a split drawn with the seed of the noise would be tied to it.
    seeds = np.random.SeedSequence([settings.seed, 2]).spawn(2)
    rng, rng_validation = (np.random.default_rng(s) for s in seeds)
    if settings.noise == "open-set":
        outside = data.outside_images(settings.data).X
        opened = noise.open_set(splits.train.X, y, settings.rate, outside, random_state=rng)
        splits = splits._replace(train=splits.train._replace(X=opened.X))
        return NoisyTask(splits, y, held_out, opened.changed, opened.rate, None)
    if settings.noise == "semantic":
        taught = noise.semantic(splits.train.X, y, clean=settings.rate, random_state=rng)
        of_validation = taught.label(splits.validation.X) if len(held_out) else held_out
        return NoisyTask(
            splits, taught.labels, of_validation, taught.changed, taught.rate, taught.transition
        )
    classes = np.arange(len(splits.class_names))
    make = partial(noise.NOISES[settings.noise], rate=settings.rate, classes=classes)
    made = make(y, random_state=rng)
    of_validation = held_out
    if len(held_out):
        of_validation = make(held_out, random_state=rng_validation).labels
    return NoisyTask(splits, made.labels, of_validation, made.changed, made.rate, made.transition)


def _load(settings: TrainSettings) -> Splits:
    """The data set, or its first samples, of which validation samples are drawn."""
    if settings.limit is None:
        return data.load(settings.data, random_state=settings.seed, validation=settings.validation)
    splits = data.load(settings.data, random_state=settings.seed, validation=0)
    n = min(1000, max(1, settings.limit // 9))
    part = Split(*(a[: settings.limit + n] for a in splits.train))
    rng = np.random.default_rng(np.random.SeedSequence([settings.seed, 4]))
    held_out = np.zeros(len(part.y), bool)
    held_out[rng.permutation(len(part.y))[:n]] = True
    train, validation = (Split(*(a[rows] for a in part)) for rows in (~held_out, held_out))
    return splits._replace(train=train, validation=validation)


def _given_labels(splits: Splits, settings: TrainSettings) -> NoisyTask:
    labels = check.check_labels(settings.labels)
    y = splits.train.y
    if labels.dtype.kind not in "iu":
        codes = {name: c for c, name in enumerate(splits.class_names)}
        strange = sorted(set(labels.tolist()) - codes.keys(), key=str)
        if strange:
            raise ValueError(f"Unknown classes {strange[:5]}; {settings.data} has {list(codes)}.")
        labels = np.array([codes[name] for name in labels.tolist()])
    if len(labels) != len(y):
        raise ValueError(
            f"There are {len(labels)} labels for {len(y)} training samples of {settings.data}. "
            "Give one label for each, in the order of rehead.data.load."
        )
    changed = labels != y
    rate = float(changed.mean()) if settings.noise_rate is None else settings.noise_rate
    return NoisyTask(splits, labels, splits.validation.y, changed, rate, None)


class TrainResult(NamedTuple):
    """What a run gave: the networks, and shares of labels predicted."""

    trained: Trained
    task: NoisyTask
    fitted: float
    accuracy: float


def run_training(
    settings: TrainSettings, folder: Path | None = None, *, progress: bool | None = None
) -> TrainResult:
    """Make the noise, train, measure; everything needed to use the network goes to the folder."""
    from rehead.torch.training import Run, train

    task = noisy_task(settings)
    splits = task.splits
    recipe, make_net = _recipe(settings), network_factory(settings, splits)
    method = _method(settings, task)
    labels, trusted = (
        _trusted_labels(settings, task) if method.needs_trusted else (task.labels, None)
    )
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
    trained = train(
        make_net, splits.train.X, labels, method=method, recipe=recipe, trusted=trusted, run=run
    )
    fitted = _agreement(trained.net, splits.train.X, labels)
    accuracy = _agreement(trained.net, splits.test.X, splits.test.y)
    result = TrainResult(trained, task._replace(labels=labels), fitted, accuracy)
    if folder is not None:
        _write_run(folder, settings, result)
    return result


def _trusted_labels(settings: TrainSettings, task: NoisyTask) -> tuple[Array, Array]:
    """Labels of which some were put right, and which these are."""
    from rehead.torch.training import draw_trusted

    truth = task.splits.train.y
    trusted = draw_trusted(truth, settings.trusted, random_state=settings.seed)
    return np.where(trusted, truth, task.labels), trusted


def _agreement(net: nn.Module, X: Array, y: Array) -> float:
    """Share of labels that the network predicts."""
    import torch

    from rehead.torch.training.predictions import predict_logits

    device = next(net.parameters()).device
    z = predict_logits(net, torch.from_numpy(np.array(X)), device)
    return float((z.argmax(1).numpy() == y).mean())


def network_factory(settings: TrainSettings, splits: Splits) -> Any:
    """A function that makes the settings' network for a data set."""
    from rehead.torch.models import MODELS

    X = splits.train.X
    name = settings.model or ("resnet-small" if X.ndim == 4 else "fcn")
    check.check_choice(name, MODELS, "model")
    options = dict(settings.model_options)
    if name == "fcn":
        options = {"in_features": int(np.prod(X.shape[1:])), **options}
    return partial(MODELS[name], len(splits.class_names), **options)


def _recipe(settings: TrainSettings) -> Recipe:
    from rehead.torch.training import find_recipe

    recipe = find_recipe(settings.recipe, settings.data)
    return dataclasses.replace(recipe, epochs=settings.epochs) if settings.epochs else recipe


def _method(settings: TrainSettings, task: NoisyTask) -> Method:
    """The method, told what it wants to know about the noise."""
    from rehead.torch.training import METHODS

    check.check_choice(settings.method, METHODS, "method")
    make = METHODS[settings.method]
    known: dict[str, Any] = {
        "noise_rate": task.rate if settings.noise_rate is None else settings.noise_rate,
        "transition": task.transition,
    }
    if settings.method_options.get("form") == "teacher":
        known["clean"] = _some_known(task.splits.train.y, settings.seed)
    wanted = inspect.signature(make).parameters
    strange = sorted(set(settings.method_options) - set(wanted))
    if strange:
        raise ValueError(f"{settings.method!r} has no option {strange}; it has {list(wanted)}.")
    told = {name: value for name, value in known.items() if name in wanted}
    return make(**{**told, **settings.method_options})


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
    splits = noisy_task(settings).splits
    for found, part in ((labels, splits.train), (held_out, splits.validation)):
        right = len(found) == len(part.y) and (found < len(splits.class_names)).all()
        if not right:
            raise ModelFileError(
                f"{folder / RUN} has labels that do not go with {settings.data}: {len(found)} for "
                f"{len(part.y)} samples of {len(splits.class_names)} classes. Train anew."
            )
    net = network_from_file(network_factory(settings, splits), folder / "net.safetensors")
    return FinishedRun(net.eval(), splits, labels, held_out)
