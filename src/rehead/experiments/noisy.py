"""Settings of a run, and the noisy data set that they name."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead import data, noise
from rehead._typing import Array
from rehead.data import Split, Splits
from rehead.noise import NoisyLabels
from rehead.noise.labels import read_labels

KINDS = ("none", *noise.NOISES, *noise.INSTANCE_NOISES, "semantic", "open-set")
"""Kinds of noise that a run can make."""
LOGISTIC = "logistic"
"""The labeller that is no network."""
CLEAN = {"cifar100": 0.2}
"""Share of clean samples that teaches a labeller in the paper; 0.05 for other data."""
QUICK = ("quick", "quick-augmented")
"""Recipes that labellers are not trained with: theirs is "quick-labeller", so that networks of
both get the same labels."""
SAME_NOISE = "The validation labels are noisy in the same way."
CLEAN_LABELS = "The validation labels are clean."


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
        the labeller, and 0 stands for that of the paper: 0.2 for CIFAR-100, 0.05 for other data.
        The kinds of ``noise.INSTANCE_NOISES`` see the plain inputs: of images, the pixels.
    labeller : str, optional
        What makes the labels of semantic noise: "logistic" (regression on the plain inputs), or a
        network: densenet100, resnet34 and vgg13 are the paper's. Default: "logistic" for vectors,
        "resnet-small" for images. Networks are trained with the recipe of the run, but for
        "quick", which is made to memorise, and "quick-augmented": these have "quick-labeller".
    labeller_options : dict
        Options of that network.
    labeller_samples : int, optional
        Teach the labeller on so many *other* samples, those after the ones that ``limit`` takes, in
        place of a share of these. Then all labels are its own.
    outside : sequence of str
        Where inputs come from with open-set noise, in equal shares: data sets by name, folders of
        images, .npy files. Default: Tiny ImageNet, for CIFAR-10.
    labels : array, optional
        Noisy labels of one's own for the training samples, in their order, in place of made ones.
    noise_rate : float, optional
        Share of wrong labels that methods assume. Default: the rate that was made.
    trusted : float
        Share of samples with known labels, for the methods that need some.
    trusted_every_class : bool
        Whether these have every class.
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
    labeller: str | None = None
    labeller_options: dict[str, Any] = field(default_factory=dict)
    labeller_samples: int | None = None
    outside: Sequence[str] = ()
    labels: Array | None = None
    noise_rate: float | None = None
    trusted: float = 0.01
    trusted_every_class: bool = True
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
        # One name for each data set: recipes and published settings are looked up by it.
        object.__setattr__(self, "data", data.find_dataset(self.data).name)
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate must be in [0, 1], got {self.rate!r}. For 40 % pass 0.4.")


class NoisyTask(NamedTuple):
    """A data set with noisy labels for training; the test labels are clean.

    Attributes
    ----------
    splits : Splits
        With true labels; where the noise is open-set, some inputs were replaced.
    labels, validation_labels : array
        What a run learns from, and what it gets for held-out samples.
    changed : boolean array
        The training samples whose label, or input, is wrong.
    rate : float
        Their share.
    transition : array, optional
        What is known of the noise; the identity where there is none.
    notes : tuple of str
        What a user should know about these labels.
    """

    splits: Splits
    labels: Array
    validation_labels: Array
    changed: Array
    rate: float
    transition: Array | None
    notes: tuple[str, ...] = ()


def noisy_task(settings: TrainSettings, folder: Path | None = None) -> NoisyTask:
    """Load the data and make its labels noisy, validation labels in the same way.

    The training of a labeller is kept in the folder, and continues from there; a finished one is
    used again.
    """
    splits = load_inputs(settings)
    if settings.labels is not None:
        return _given_labels(splits, settings)
    if settings.noise == "semantic":
        return _semantic(splits, settings, folder)
    by_instance = dict.fromkeys(noise.INSTANCE_NOISES, _by_instance)
    kinds = {"none": _clean, "open-set": _open_set, **by_instance}
    return kinds.get(settings.noise, _random)(splits, settings)


def generators(settings: TrainSettings) -> tuple[np.random.Generator, np.random.Generator]:
    """Of the noise of training samples, and of validation samples.

    Independent ones: a split drawn with the seed of the noise would be tied to it.
    """
    seeds = np.random.SeedSequence([settings.seed, 2]).spawn(2)
    first, second = (np.random.default_rng(s) for s in seeds)
    return first, second


def held_out_of(limit: int) -> int:
    """How many samples are held out beside so many training samples.

    Examples
    --------
    >>> from rehead.experiments.noisy import held_out_of
    >>> held_out_of(5000), held_out_of(50_000)
    (555, 1000)
    """
    return min(1000, max(1, limit // 9))


def load_inputs(settings: TrainSettings) -> Splits:
    """The data set, or its first samples, of which validation samples are drawn."""
    if settings.limit is None:
        return data.load(settings.data, random_state=settings.seed, validation=settings.validation)
    splits = data.load(settings.data, random_state=settings.seed, validation=0)
    n = held_out_of(settings.limit)
    part = Split(*(a[: settings.limit + n] for a in splits.train))
    rng = np.random.default_rng(np.random.SeedSequence([settings.seed, 4]))
    held_out = np.zeros(len(part.y), bool)
    held_out[rng.permutation(len(part.y))[:n]] = True
    train, validation = (Split(*(a[rows] for a in part)) for rows in (~held_out, held_out))
    return splits._replace(train=train, validation=validation)


def _clean(splits: Splits, settings: TrainSettings) -> NoisyTask:
    y = splits.train.y
    nothing = np.zeros(len(y), bool)
    return NoisyTask(splits, y, splits.validation.y, nothing, 0.0, np.eye(len(splits.class_names)))


def _random(splits: Splits, settings: TrainSettings) -> NoisyTask:
    """Labels changed at random, whatever the inputs are."""
    rng, rng_validation = generators(settings)
    classes = np.arange(len(splits.class_names))
    make = partial(noise.NOISES[settings.noise], rate=settings.rate, classes=classes)
    made = make(splits.train.y, random_state=rng)
    held_out = splits.validation.y
    if len(held_out):
        held_out = make(held_out, random_state=rng_validation).labels
    return _labelled(splits, made, held_out)


def _by_instance(splits: Splits, settings: TrainSettings) -> NoisyTask:
    """Labels changed by what the inputs look like."""
    rng, rng_validation = generators(settings)
    train, held_out = splits.train, splits.validation
    make = noise.INSTANCE_NOISES[settings.noise]
    classes = np.arange(len(splits.class_names))
    made = make(train.X, train.y, settings.rate, classes=classes, random_state=rng)
    of_validation = held_out.y
    if len(held_out.y):
        of_validation = made.label(held_out.X, held_out.y, random_state=rng_validation)
    note = f"Which labels are wrong depends on the inputs: {settings.noise} noise."
    return _labelled(splits, made, of_validation, note)


def _semantic(splits: Splits, settings: TrainSettings, folder: Path | None) -> NoisyTask:
    """Labels of a classifier that was taught on a few clean samples."""
    rng, _ = generators(settings)
    name = settings.labeller or (LOGISTIC if splits.train.X.ndim == 2 else "resnet-small")
    if settings.labeller_samples is not None:
        return _labelled_by_another(name, splits, settings, folder)
    share = settings.rate or CLEAN.get(settings.data, 0.05)
    made = noise.semantic(
        splits.train.X,
        splits.train.y,
        classifier=_labeller(name, splits, settings, share, folder),
        clean=share,
        random_state=rng,
    )
    held_out = splits.validation
    of_validation = made.label(held_out.X) if len(held_out.y) else held_out.y
    note = (
        f"The labeller, {name}, was taught on {int(made.clean_part.sum())} clean samples. "
        f"{made.rate:.1%} of all training labels are wrong, {made.rate_of_rest:.1%} of those that "
        "it gave."
    )
    return _labelled(splits, made, of_validation, note)


def _labelled_by_another(
    name: str, splits: Splits, settings: TrainSettings, folder: Path | None
) -> NoisyTask:
    """Labels of a classifier that was taught on other samples: all of them are its own."""
    taught = _other_samples(splits, settings)
    weak = _labeller(name, splits._replace(train=taught), settings, 1.0, folder)
    if weak is None:
        raise ValueError("labeller_samples needs a network as labeller.")
    weak.fit(taught.X, taught.y)
    train, held_out = splits.train, splits.validation
    made = read_labels(train.y, np.arange(len(splits.class_names))).noisy(weak.predict(train.X))
    note = (
        f"The labeller, {name}, was taught on {len(taught.y):,} other samples. {made.rate:.1%} of "
        "the labels that it gave are wrong."
    )
    of_validation = weak.predict(held_out.X) if len(held_out.y) else held_out.y
    return _labelled(splits, made, of_validation, note)


def _labelled(splits: Splits, made: NoisyLabels, of_validation: Array, *notes: str) -> NoisyTask:
    """The task of labels that were made, those of the validation part in the same way."""
    said = (*notes, SAME_NOISE)
    return NoisyTask(
        splits, made.labels, of_validation, made.changed, made.rate, made.transition, said
    )


def _other_samples(splits: Splits, settings: TrainSettings) -> Split:
    """Training samples of the data set that the run does not take."""
    whole = data.load(settings.data, random_state=settings.seed, validation=0).train
    taken = np.isin(whole.ids, np.concatenate([splits.train.ids, splits.validation.ids]))
    rows = np.flatnonzero(~taken)[: settings.labeller_samples]
    if len(rows) < (settings.labeller_samples or 0):
        raise ValueError(
            f"There are {len(rows)} samples of {settings.data} besides those that are trained on, "
            f"and labeller_samples is {settings.labeller_samples}. Lower it, or set a limit."
        )
    return Split(*(a[rows] for a in whole))


def _labeller(
    name: str, splits: Splits, settings: TrainSettings, share: float, folder: Path | None
) -> Any:
    """A classifier to be taught: logistic regression, or a network by its name."""
    if name == LOGISTIC:
        return None
    from rehead.experiments.networks import network_factory
    from rehead.torch.training import NetworkClassifier, find_recipe
    from rehead.torch.training.task import derived_seed

    own = settings.recipe in QUICK
    asked = "quick-labeller" if own else settings.recipe
    recipe = find_recipe(asked, settings.data)
    X, y = splits.train.X, splits.train.y
    # One output for each class that it can be taught, and several batches of few samples.
    present = [splits.class_names[c] for c in np.unique(y)]
    batch_size = min(recipe.batch_size, max(4, int(share * len(y)) // 8))
    augment = recipe.augment if X.ndim == 4 else ()
    return NetworkClassifier(
        network_factory(name, settings.labeller_options, splits._replace(class_names=present)),
        recipe=dataclasses.replace(recipe, augment=augment, batch_size=batch_size),
        # With the seed of the run, a network like it would begin with its very weights.
        seed=derived_seed(settings.seed, "labeller"),
        device=settings.device,
        folder=folder,
    )


def _open_set(splits: Splits, settings: TrainSettings) -> NoisyTask:
    """Inputs from elsewhere under the old labels; held-out inputs stay as they are."""
    from rehead.experiments.outside import outside_inputs

    rng, _ = generators(settings)
    y = splits.train.y
    sources = outside_inputs(settings.outside, settings.data, splits.train.X)
    opened = noise.open_set(splits.train.X, y, settings.rate, sources, random_state=rng)
    splits = splits._replace(train=splits.train._replace(X=opened.X))
    note = "Training images were replaced under their labels. The validation part is clean."
    return NoisyTask(splits, y, splits.validation.y, opened.changed, opened.rate, None, (note,))


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
    rate = float(changed.mean())
    return NoisyTask(splits, labels, splits.validation.y, changed, rate, None, (CLEAN_LABELS,))
