"""The tasks of the accuracy grid, three more lists of tasks beside it, and their cells.

``tabular`` has tables whose classes are not Gaussian, ``many`` has many classes, most of them of
unequal size. Their features are one layer, and no network was trained on the labels. ``people`` has
the tasks of the grid under noise as people make it: where samples are hard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rehead import _validation as check
from rehead.experiments.cell import Cell
from rehead.experiments.noisy import TrainSettings

TABLE, PROFILE = "accuracy", "grid"
TABULAR, MANY, PEOPLE = "tabular", "many", "people"
AS_IT_IS = "table"
"""In place of a network: the features are the data set's own."""
SEEDS = (0, 1, 2)
FRESH_SEEDS = (3, 4, 5)
"""Of the lists beside the grid, and of what is held to it: no constant was set by them."""
NOISES = (
    ("none", 0.0),
    ("uniform", 0.2),
    ("uniform", 0.4),
    ("uniform", 0.6),
    ("flip", 0.2),
    ("flip", 0.4),
    ("semantic", 0.0),
)
OPEN_SET = ("open-set", 0.4)
TABULAR_NOISES = (("none", 0.0), ("uniform", 0.3), ("flip", 0.3))
MANY_NOISES = (("none", 0.0), ("uniform", 0.2), ("uniform", 0.4), ("flip", 0.2), ("flip", 0.4))
PEOPLE_NOISES = (("annotator", 0.2), ("annotator", 0.4))
BOUNDARY_NOISES = (("part-dependent", 0.4), ("polynomial-margin", 0.4))
"""Also of texts and of frozen features."""
IMAGES = 9000
"""Training images of the CIFAR-10 tasks; 1,000 more are held out for validation."""
DOCUMENTS = 500
"""Held-out documents of Reuters-8, from all topics in proportion. (The paper's 30 of each topic are
drawn from another distribution than the rest.)"""
ROWS = 4000
"""Training words of Twitter among the tables; the others have fewer rows anyway."""


class GridTask(NamedTuple):
    """A data set and the network that its features come from.

    Attributes
    ----------
    name, title : str
        For lines, and for headings.
    network, data : str
        As in a cell.
    settings : mapping
        What differs from the defaults of a run.
    frozen : bool
        Whether the network was never trained on the labels.
    table : str
        Its list.
    own_noises : tuple
        In place of the noises of the grid.
    """

    name: str
    title: str
    network: str
    data: str
    settings: Mapping[str, Any]
    frozen: bool = False
    table: str = TABLE
    own_noises: tuple[tuple[str, float], ...] = ()

    @property
    def noises(self) -> tuple[tuple[str, float], ...]:
        """Kinds and rates of noise that it is measured under."""
        if self.own_noises:
            return self.own_noises
        return (*NOISES, OPEN_SET) if self.data == "cifar10" else NOISES

    def cells(self, seed: int) -> list[Cell]:
        """Its cells with a seed, a noise each."""
        return [
            Cell(self.table, self.network, self.data, noise, rate, seed=seed, profile=PROFILE)
            for noise, rate in self.noises
        ]


TASKS: dict[str, GridTask] = {
    task.name: task
    for task in (
        GridTask(
            "digits-mlp",
            "Digits, MLP",
            "mlp",
            "digits",
            {"model_options": {"hidden": (128, 128), "gain": 2**0.5}},
        ),
        GridTask("reuters8-fcn", "Reuters-8, FCN", "fcn", "reuters8", {"validation": DOCUMENTS}),
        GridTask("twitter-fcn", "Twitter POS, FCN", "fcn", "twitter_pos", {}),
        GridTask(
            "cifar10-resnet",
            "CIFAR-10, small ResNet",
            "resnet-small",
            "cifar10",
            {"limit": IMAGES, "model_options": {"width": 24}},
        ),
        GridTask(
            "cifar10-frozen",
            "CIFAR-10, frozen EfficientNet-lite0",
            "efficientnet-lite0",
            "cifar10",
            {"limit": IMAGES},
            frozen=True,
        ),
        GridTask(
            "reuters8-frozen",
            "Reuters-8, frozen MiniLM",
            "minilm",
            "reuters8",
            {"validation": DOCUMENTS},
            frozen=True,
        ),
    )
}
"""By name. Networks have the layers 64-128-128-10, 1000-256-256-7, 150-256-256-19; the ResNet has
24, 48 and 96 channels."""


def _table(name: str, title: str, data: str, settings: Mapping[str, Any]) -> GridTask:
    return GridTask(name, title, AS_IT_IS, data, settings, True, TABULAR, TABULAR_NOISES)


def _many(name: str, title: str, features: tuple[str, str], validation: int | None) -> GridTask:
    settings = {} if validation is None else {"validation": validation}
    return GridTask(name, title, *features, settings, True, MANY, MANY_NOISES)


def _by_people(task: GridTask) -> GridTask:
    """The same task under noise that depends on the sample."""
    text = task.data in ("reuters8", "twitter_pos")
    noises = PEOPLE_NOISES + (BOUNDARY_NOISES if text or task.frozen else ())
    return task._replace(name=f"{task.name}-{PEOPLE}", table=PEOPLE, own_noises=noises)


LISTS: dict[str, dict[str, GridTask]] = {
    TABLE: TASKS,
    TABULAR: {
        task.name: task
        for task in (
            _table("digits", "Digits, pixels", "digits", {}),
            _table("wine", "Wine", "wine", {}),
            _table("breast-cancer", "Breast cancer", "breast_cancer", {}),
            _table("moons", "Moons", "moons", {}),
            _table("spirals", "Spirals", "spirals", {}),
            _table("rings", "Rings", "rings", {}),
            _table("clusters", "Clusters", "clusters", {}),
            _table("twitter-windows", "Twitter windows", "twitter_pos", {"limit": ROWS}),
        )
    },
    MANY: {
        task.name: task
        for task in (
            _many("reuters52-frozen", "Reuters-52, frozen MiniLM", ("minilm", "reuters52"), None),
            # Two held-out images of each class: the other 38 are few enough.
            _many(
                "tinyimagenet-frozen",
                "Tiny ImageNet, frozen EfficientNet-lite0",
                ("efficientnet-lite0", "tinyimagenet32"),
                400,
            ),
            _many("twitter-19", "Twitter windows, all words", (AS_IT_IS, "twitter_pos"), None),
        )
    },
    PEOPLE: {task.name: task for task in map(_by_people, TASKS.values())},
}
"""Tasks by list and name; no two have the same name."""


def all_tasks() -> dict[str, GridTask]:
    """Of all lists, by name."""
    return {name: task for tasks in LISTS.values() for name, task in tasks.items()}


def grid_cells(tasks: Iterable[str] = TASKS, seeds: Sequence[int] = SEEDS) -> list[Cell]:
    """The cells of some tasks, of whatever list, seed by seed.

    Examples
    --------
    >>> from rehead.experiments.grid.tasks import grid_cells
    >>> len(grid_cells()), grid_cells(["twitter-fcn"], [2])[1].name
    (132, 'accuracy-twitter_pos-fcn-uniform20-cross-entropy-2')
    """
    wanted, known = list(tasks), all_tasks()
    for name in wanted:
        check.check_choice(name, known, "task")
    return [cell for seed in seeds for name in wanted for cell in known[name].cells(seed)]


def task_of(cell: Cell) -> GridTask:
    """The task of a cell: of its list, or else of the grid, on which other tables build."""
    listed = LISTS.get(cell.table, TASKS).values()
    for task in listed:
        if (task.network, task.data) == (cell.network, cell.data):
            return task
    known = ", ".join(f"{task.network} on {task.data}" for task in listed)
    raise ValueError(
        f"The accuracy grid has no network {cell.network!r} on {cell.data!r}. It has {known}."
    )


def settings_of(cell: Cell) -> TrainSettings:
    """What to train for a cell, or what data and noise to encode."""
    task = task_of(cell)
    return TrainSettings(
        data=cell.data, noise=cell.noise, rate=cell.rate, seed=cell.seed, **task.settings
    )
