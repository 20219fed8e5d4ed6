"""Profiles: how large the experiments are. A profile turns a cell into settings of a run.

``paper`` has the published hyperparameters. ``quick`` is for two CPU cores: smaller networks of
the same families, 5,000 images, as many epochs as it takes to memorise. ``tiny`` only shows that
everything works. The text networks of table 5 are small, so ``quick`` trains them as published.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from rehead import _validation as check
from rehead.experiments.cell import Cell
from rehead.experiments.noisy import TrainSettings, held_out_of
from rehead.experiments.variations import VARIATIONS, vary

IMAGES = 5000
"""Training images of ``quick``; a ninth as many are held out."""
LABELLER_IMAGES = {"densenet100": 5000, "resnet34": 4000, "vgg13": 2500}
"""Other images that teach the labellers of ``quick``, to be as often wrong as those of the paper
(32 to 38 %), which had 2,500 images and better networks. With these, 33, 34 and 32 % of the labels
are wrong."""
TEXT = ("reuters8", "twitter_pos")
SMALL: dict[str, dict[str, Any]] = {
    "resnet34": {
        "width": 16,
        "blocks": (1, 1, 2, 3),
        "variant": {"stem_stride": 2, "multiples": (1, 2, 4, 4)},
    },
    "densenet100": {"depth": 22, "growth": 12, "stem_stride": 2},
    "resnet44-wide": {"width": 16, "blocks": (2, 2, 3), "variant": {"stem_stride": 2}},
    "cnn9": {"width": 16},
    "vgg13": {"width": 16},
}
"""Networks of ``quick``: as many features of the last layers as leave something to trim."""
EPOCHS = {"resnet34": 15, "densenet100": 30, "resnet44-wide": 20, "cnn9": 20}
"""Until almost all labels are fitted; a DenseNet this small fits nine in ten."""
SAME_RECIPE = {"1": "2", "8": "2"}
"""Tables whose networks are those of another one, which are trained once for all of them."""
METHODS: dict[str, dict[str, Any]] = {"co-teaching": {"ramp": 5}, "mentornet": {"ramp": 5}}
"""Settings of methods that count epochs, for fewer of them."""
LID_WINDOW = 5
"""Epochs that D2L compares the newest one with. They do not shrink with the training."""
FIRST_LOOK = {"svhn": 25 / 120, "cifar10": 45 / 120, "cifar100": 65 / 200}
"""Share of the training after which D2L looks for its turning point, the window included: its code
has 20, 40 and 60 epochs and 5, the paper trains for 120 and 200. Other data are as CIFAR-10."""
GOLD = ("forward-gold", "glc")
"""Methods that are given some right labels."""
TINY: dict[str, dict[str, Any]] = {
    "resnet34": {**SMALL["resnet34"], "width": 4},
    "densenet100": {"depth": 10, "growth": 4, "stem_stride": 2},
    "resnet44-wide": {**SMALL["resnet44-wide"], "width": 4, "blocks": (1, 1, 1)},
    "cnn9": {"width": 4},
    "vgg13": {"width": 4},
    "fcn": {"hidden": (16, 16)},
}


def paper(cell: Cell) -> TrainSettings:
    """The published hyperparameters."""
    return TrainSettings(
        data=cell.data,
        model=cell.network,
        method=cell.method,
        recipe=f"table{SAME_RECIPE.get(cell.table, cell.table)}",
        noise=cell.noise,
        # A labeller decides how many labels are wrong; 0 is the paper's share of clean samples.
        rate=0.0 if cell.noise == "semantic" else cell.rate,
        labeller=cell.labeller or None,
        outside=tuple(cell.source.split("+")) if cell.source else (),
        seed=cell.seed,
    )


def quick(cell: Cell) -> TrainSettings:
    """The same families of networks, small enough for two CPU cores."""
    settings = paper(cell)
    if cell.data in TEXT:
        return settings
    return dataclasses.replace(
        settings,
        recipe="quick",
        epochs=EPOCHS.get(cell.network),
        limit=IMAGES,
        method_options=_method_options(cell),
        model_options=SMALL.get(cell.network, {}),
        labeller_options=SMALL.get(cell.labeller, {}),
        labeller_samples=LABELLER_IMAGES.get(cell.labeller),
    )


def _method_options(cell: Cell) -> dict[str, Any]:
    epochs = EPOCHS.get(cell.network)
    if cell.method != "d2l" or epochs is None:
        return METHODS.get(cell.method, {})
    # By default the epochs before the window shrink and the window does not, so that it would look
    # when most labels are memorised. No epoch has a whole window before it sooner than the sixth.
    share = FIRST_LOOK.get(cell.data, FIRST_LOOK["cifar10"])
    return {"first": max(0, int(share * epochs) - LID_WINDOW)}


def tiny(cell: Cell) -> TrainSettings:
    """As small as can be: it shows that everything works, and nothing else."""
    return dataclasses.replace(
        quick(cell),
        limit=None if cell.data.startswith("digits") else 600,
        epochs=2,
        model_options=TINY.get(cell.network, {}),
        labeller_options=TINY.get(cell.labeller, {}),
        labeller_samples=None,
    )


PROFILES: dict[str, Callable[[Cell], TrainSettings]] = {
    "paper": paper,
    "quick": quick,
    "tiny": tiny,
}


def settings_of(cell: Cell) -> TrainSettings:
    """What to train for a cell.

    Examples
    --------
    >>> from rehead.experiments.cell import Cell
    >>> from rehead.experiments.profiles import settings_of
    >>> cell = Cell("2", "resnet34", "cifar10", "uniform", 0.4)
    >>> settings_of(cell).limit
    5000
    """
    check.check_choice(cell.profile, PROFILES, "profile")
    return vary(PROFILES[cell.profile](cell), cell.variation)


def deviations(cell: Cell) -> list[str]:
    """By name, what differs from the paper."""
    return [*_smaller(cell), *_unlike_the_paper(cell)]


def _smaller(cell: Cell) -> list[str]:
    """What a profile takes less of."""
    settings, printed = PROFILES[cell.profile](cell), paper(cell)
    found: list[str] = []
    # Of the digits there are fewer than any limit.
    if settings.limit is not None and not cell.data.startswith("digits"):
        kind = "samples" if cell.network == "fcn" else "images"
        found.append(f"{settings.limit:,} training {kind}, {held_out_of(settings.limit)} held out")
    if settings.model_options:
        found.append(f"a smaller network ({_said(settings.model_options)})")
    if settings.recipe != printed.recipe:
        found.append(f"recipe {settings.recipe!r}: no augmentation, fewer epochs")
    elif settings.epochs is not None:
        found.append(f"{settings.epochs} epochs")
    if settings.labeller_options:
        found.append(f"a smaller labeller ({_said(settings.labeller_options)})")
    if settings.method_options:
        found.append(f"other settings of the method ({_said(settings.method_options)})")
    if settings.labeller_samples:
        found.append(f"a labeller taught on {settings.labeller_samples:,} other images")
    return found


def _unlike_the_paper(cell: Cell) -> list[str]:
    """What differs in every profile."""
    found: list[str] = []
    if cell.data == "twitter_pos":
        found.append("other word embeddings: those of the paper are not public")
        found.append("the official dev tweets held out, not 570 samples")
    if cell.data == "reuters8":
        found.append("1,000 binary words as input: the paper does not say what it takes")
        found.append("210 samples held out of the training part, which is smaller by as many")
    if cell.noise == "open-set":
        found.append("held-out images without noise")
    if cell.method in GOLD:
        found.append("RoG is fitted on the right labels of the trusted samples, too")
    if cell.variation:
        found.append(f"variation {cell.variation!r}: {VARIATIONS[cell.variation].text}")
    return found


def _said(options: Mapping[str, Any]) -> str:
    """Options in words, those of a variant among the others."""
    flat = {**options, **options.get("variant", {})}
    return ", ".join(f"{name} {value}" for name, value in flat.items() if name != "variant")
