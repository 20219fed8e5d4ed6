"""Results of the grid, made by hand."""

import numpy as np
import pytest

from rehead.experiments.columns.pruned import WITH_JUDGES
from rehead.experiments.grid.columns import grid_columns
from rehead.experiments.grid.tasks import all_tasks
from rehead.experiments.results import Measurement, Result


@pytest.fixture
def cell_of():
    """A cell by the name of its task."""

    def find(task="digits-mlp", noise="none", rate=0.0, seed=0):
        (cell,) = [c for c in all_tasks()[task].cells(seed) if (c.noise, c.rate) == (noise, rate)]
        return cell

    return find


@pytest.fixture
def result_of():
    """A result: all columns have one accuracy but for those that are named.

    ``auto`` are further fields of the default, ``cleanlab`` the areas of the two columns of it.
    """

    def make(cell, accuracy=None, *, auto=None, cleanlab=(), noise_rate=0.0, rehead="0.1.0"):
        accuracy = {**dict.fromkeys(grid_columns(cell), 0.5), **(accuracy or {})}
        extra = {"auto": {"noise_rate": 0.0, "calibration": 0.0, **(auto or {})}}
        names = ("cleanlab, LDA", "cleanlab, LR")
        for name, area in zip(names, cleanlab, strict=False):
            extra[name] = {"details": {WITH_JUDGES: area}}
        measured = tuple(
            Measurement(name, value, 1.0, rehead, "", "2026-01-01", **extra.get(name, {}))
            for name, value in accuracy.items()
            if not np.isnan(value)
        )
        return Result(cell, network={"noise_rate": noise_rate}, measurements=measured)

    return make
