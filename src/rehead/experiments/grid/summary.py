"""The accuracy grid, read back from its results: figures by task and noise, over seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.experiments.cell import Cell
from rehead.experiments.columns.pruned import WITH_JUDGES
from rehead.experiments.columns.registry import AUTO
from rehead.experiments.columns.told import TOLD
from rehead.experiments.grid.columns import CLEANLAB, ORACLE, grid_columns
from rehead.experiments.grid.tasks import SEEDS, TASKS, GridTask, all_tasks, grid_cells, task_of
from rehead.experiments.results import Result, Results

NOISY = ("uniform", "flip", "open-set")


class Group(NamedTuple):
    """A task under a noise: one result for each seed.

    Attributes
    ----------
    task : GridTask
    results : tuple of Result
    """

    task: GridTask
    results: tuple[Result, ...]

    @property
    def cell(self) -> Cell:
        """The cell that stands for all seeds."""
        return self.results[0].cell.group

    @property
    def seeds(self) -> list[int]:
        """By seed, as in every array of figures."""
        return [result.cell.seed for result in self.results]

    @property
    def noise(self) -> str:
        """Kind and rate, for people: uniform 40%."""
        return f"{self.cell.noise} {self.cell.rate:.0%}" if self.cell.rate else self.cell.noise

    @property
    def name(self) -> str:
        """Task and noise."""
        return f"{self.task.name} {self.noise}"

    def accuracy(self, column: str) -> Array:
        """Test accuracy in per cent, by seed."""
        return np.array([result.accuracy(column) for result in self.results])

    def auto(self, name: str) -> Array:
        """What was measured of the default besides its accuracy, by seed: noise_rate, auroc."""
        return self.measured(AUTO, name)

    def measured(self, column: str, name: str) -> Array:
        """The same of any way to predict."""
        found = [getattr(result.columns.get(column), name, None) for result in self.results]
        return np.array([np.nan if value is None else value for value in found], float)

    @property
    def noise_rate(self) -> Array:
        """The true share of wrong labels, by seed."""
        return np.array([result.network["noise_rate"] for result in self.results], float)

    @property
    def cleanlab(self) -> Array:
        """The better one of cleanlab's areas under the curve, with the judges' features."""
        return np.array([_cleanlab(result) for result in self.results])

    @property
    def columns(self) -> list[str]:
        """Ways to predict that were measured with all seeds, the grid's own ones first."""
        names = dict.fromkeys((*grid_columns(self.cell), *self.results[0].columns))
        return [name for name in names if all(name in r.columns for r in self.results)]

    @property
    def rivals(self) -> list[str]:
        """All but the default, also where it is told something, and the oracle."""
        return [name for name in self.columns if name not in (AUTO, ORACLE, *TOLD)]

    @property
    def best(self) -> str:
        """The best rival on the mean over seeds; the default itself where there is no rival."""
        mean = {name: float(self.accuracy(name).mean()) for name in self.rivals}
        return max(mean, key=mean.__getitem__, default=AUTO)

    @property
    def behind(self) -> Array:
        """By how much the default is behind the best rival, by seed."""
        return self.accuracy(self.best) - self.accuracy(AUTO)

    @property
    def is_noisy(self) -> bool:
        """Whether much of it is wrong."""
        return self.cell.noise in NOISY and self.cell.rate >= 0.4


def _cleanlab(result: Result) -> float:
    found = [result.columns[name].details for name in CLEANLAB if name in result.columns]
    return max((d[WITH_JUDGES] for d in found if WITH_JUDGES in d), default=np.nan)


class Grid(NamedTuple):
    """All that was measured."""

    groups: list[Group]

    @classmethod
    def of_results(cls, results: Iterable[Result]) -> Grid:
        """From results, in their order; those of the default alone, or of nothing, are left out.

        Beside nothing else, the default would not be behind.
        """
        groups: dict[Cell, list[Result]] = {}
        for result in results:
            if not set(result.columns) <= {AUTO, *TOLD}:
                groups.setdefault(result.cell.group, []).append(result)
        return cls([Group(task_of(cell), tuple(found)) for cell, found in groups.items()])

    @classmethod
    def read(
        cls, results: Results, tasks: Iterable[str] = TASKS, seeds: Sequence[int] = SEEDS
    ) -> Grid:
        """From a folder of results."""
        cells = [c for task in tasks for s in seeds for c in grid_cells([task], [s])]
        return cls.of_results(r for cell in cells if (r := results.read(cell)) is not None)

    @property
    def tasks(self) -> list[GridTask]:
        """Those that were measured."""
        return [task for task in all_tasks().values() if self.of(task)]

    def of(self, task: GridTask) -> list[Group]:
        """The groups of a task."""
        return [group for group in self.groups if group.task.name == task.name]

    @property
    def versions(self) -> Counter[str]:
        """Versions of rehead that the default was measured with, and in how many cells."""
        found = (r.columns.get(AUTO) for group in self.groups for r in group.results)
        return Counter(measured.rehead for measured in found if measured is not None)
