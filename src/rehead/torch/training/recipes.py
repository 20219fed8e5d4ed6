"""Recipes: how long, how fast and with which optimiser; one for each table of the paper.

Batch sizes, optimisers and schedules are those of the paper, or of the code that the paper says
it follows; ``docs/training.md`` tells which is which.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace

from rehead import _validation as check
from rehead.torch.training.augment import AUGMENTATIONS


@dataclass(frozen=True)
class Recipe:
    """How a network is trained.

    Attributes
    ----------
    epochs : int
    batch_size : int
    optimizer : {"sgd", "adam"}
    learning_rate : float
        The largest; ``schedule`` and the rest say how it falls.
    schedule : {"steps", "cosine", "tail", "constant"}
        "steps": times ``factor`` after each of the ``milestones`` (epochs). "cosine": a linear
        rise over the first ``warmup`` share of training, then a cosine to 0. "tail": constant
        until epoch ``tail_from``, then linear to 0.
    momentum, weight_decay : float
        Weight decay goes to all parameters, as in the reference code.
    late_beta1 : float, optional
        Adam's first beta from epoch ``tail_from`` on (co-teaching's code).
    augment : tuple of {"crop", "flip"}
    drop_last : bool
        Leave out a last batch that is not full.
    stop_when_fitted : float
        Stop after an epoch in which this share of the labels was predicted.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from rehead.torch.training import RECIPES
    >>> shorter = replace(RECIPES["table2"], epochs=60, milestones=(20, 40))
    >>> [shorter.learning_rate_at(epoch) for epoch in (0, 19)]
    [0.1, 0.1]
    >>> round(shorter.learning_rate_at(20), 3)
    0.01
    """

    epochs: int
    batch_size: int = 128
    optimizer: str = "sgd"
    learning_rate: float = 0.1
    schedule: str = "steps"
    milestones: tuple[int, ...] = ()
    factor: float = 0.1
    warmup: float = 0.0
    tail_from: int = 0
    momentum: float = 0.9
    weight_decay: float = 0.0
    late_beta1: float | None = None
    augment: tuple[str, ...] = ()
    drop_last: bool = False
    stop_when_fitted: float = math.inf

    def __post_init__(self) -> None:
        check.check_choice(self.optimizer, ("sgd", "adam"), "optimizer")
        check.check_choice(self.schedule, ("steps", "cosine", "tail", "constant"), "schedule")
        for name in self.augment:
            check.check_choice(name, AUGMENTATIONS, "augment")
        for name in ("epochs", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
            object.__setattr__(self, name, int(value))
        if not 0 <= self.warmup < 1:
            raise ValueError(f"warmup must be in [0, 1), a share of training; got {self.warmup!r}.")
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate must be above 0, got {self.learning_rate!r}.")

    def learning_rate_at(self, epoch: float) -> float:
        """Learning rate at a time in epochs: 2.5 is the middle of the third one."""
        whole = math.floor(epoch)
        share = 1.0
        if self.schedule == "steps":
            share = self.factor ** sum(whole >= m for m in self.milestones)
        elif self.schedule == "tail":
            share = min(1.0, (self.epochs - whole) / max(1, self.epochs - self.tail_from))
        elif self.schedule == "cosine":
            t = epoch / self.epochs
            share = 0.5 * (1 + math.cos(math.pi * (t - self.warmup) / (1 - self.warmup)))
            if t < self.warmup:
                share = max(t / self.warmup, 1e-3)
        return self.learning_rate * share

    def betas_at(self, epoch: int) -> tuple[float, float]:
        """Adam's betas in an epoch."""
        if self.late_beta1 is None or epoch < self.tail_from:
            return (0.9, 0.999)
        return (float(self.late_beta1), 0.999)


_PAPER = Recipe(epochs=120, milestones=(40, 80), weight_decay=1e-4, augment=("crop", "flip"))
_PAPER_100 = replace(_PAPER, epochs=200, milestones=(80, 120, 160))
_CO_TEACHING = Recipe(
    epochs=200,
    optimizer="adam",
    learning_rate=1e-3,
    schedule="tail",
    tail_from=80,
    late_beta1=0.1,
    drop_last=True,
)
_TEXT = Recipe(
    epochs=15,
    batch_size=64,
    optimizer="adam",
    learning_rate=1e-3,
    schedule="constant",
    weight_decay=5e-5,
    drop_last=True,
)

# Made to memorise: no augmentation, no weight decay.
_QUICK = Recipe(
    epochs=12,
    batch_size=64,
    optimizer="adam",
    learning_rate=2e-3,
    schedule="cosine",
    warmup=0.2,
)

RECIPES: dict[str, Recipe] = {
    "table1": _PAPER,
    "table2": _PAPER,
    "table2-cifar100": _PAPER_100,
    "table3": _PAPER,
    "table3-cifar100": _PAPER_100,
    "table4": _CO_TEACHING,
    "table4-cifar100": replace(_CO_TEACHING, tail_from=100),
    "table5": _TEXT,
    "table5-cosine": replace(_TEXT, schedule="cosine"),
    "table6": _PAPER,
    "table6-cifar100": _PAPER_100,
    "table7": _PAPER,
    "table8": _PAPER,
    "quick": _QUICK,
    "quick-augmented": replace(_QUICK, augment=("crop", "flip")),
    # For labellers, which are to be right as often as few clean samples allow.
    "quick-labeller": Recipe(
        epochs=60,
        batch_size=64,
        optimizer="adam",
        learning_rate=2e-3,
        schedule="cosine",
        warmup=0.1,
        augment=("crop", "flip"),
    ),
    "quick-digits": Recipe(
        epochs=120,
        batch_size=64,
        optimizer="adam",
        learning_rate=2e-3,
        schedule="cosine",
    ),
    "quick-reuters8": Recipe(
        epochs=20, batch_size=64, optimizer="adam", learning_rate=1e-3, schedule="cosine"
    ),
    "quick-twitter_pos": Recipe(
        epochs=15, batch_size=64, optimizer="adam", learning_rate=1e-3, schedule="cosine"
    ),
}
"""Recipes by name. One for a data set, ``table2-cifar100``, goes before the general ``table2``."""


def find_recipe(name: str, data: str = "") -> Recipe:
    """The recipe of a name for a data set.

    Examples
    --------
    >>> find_recipe("table2", "cifar10").epochs, find_recipe("table2", "cifar100").epochs
    (120, 200)
    """
    special = f"{name}-{data}"
    if special in RECIPES:
        return RECIPES[special]
    check.check_choice(name, RECIPES, "recipe")
    return RECIPES[name]
