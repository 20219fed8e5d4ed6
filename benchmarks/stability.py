"""Whether the default says the same when nothing that matters changes.

    python benchmarks/stability.py                         # fills results/stability.json
    python benchmarks/stability.py --tasks reuters52-frozen --noise flip40

Tasks of the accuracy grid whose features are one layer that no network was trained on. On the same
data with other values of ``random_state``, and on subsets of 80 % of the rows: the standard
deviation of the accuracy on clean test samples. What this version has measured is not measured
again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from reporting import circumstances, write_json

from rehead import ReheadWarning, RobustGaussianClassifier, __version__
from rehead.experiments.cache import Cache
from rehead.experiments.cell import Cell
from rehead.experiments.grid.tasks import grid_cells
from rehead.experiments.plans import source_of
from rehead.experiments.sources import load_task
from rehead.experiments.task import Task

RESULTS = Path(__file__).parent / "results" / "stability.json"
TASKS = (
    "digits",
    "reuters8-frozen",
    "twitter-windows",
    "reuters52-frozen",
    "twitter-19",
    "cifar10-frozen",
)
NOISES = ("none", "uniform30", "uniform40", "flip30", "flip40")
STATES, SUBSETS, SHARE = (0, 1, 2, 3), (0, 1, 2, 3), 0.8
MOST_OF_STATES, MOST_OF_SUBSETS = 0.3, 1.0
"""Standard deviations to stay below, in points."""


def accuracy(task: Task, rows: np.ndarray, random_state: int) -> float:
    """Accuracy of the default that was fitted on some rows, in per cent."""
    X, y = task.train.layers[task.last][rows], task.train.y[rows]
    model = RobustGaussianClassifier(random_state=random_state).fit(X, y)
    return 100 * float(model.score(task.test.layers[task.last], task.test.y))


def measured(cell: Cell, cache: Cache) -> dict[str, Any]:
    """Accuracies of one cell, with other seeds and with other rows."""
    task, _ = load_task(source_of(cell), cache)
    n = len(task.train.y)
    subsets = [np.random.default_rng([s, n]).permutation(n)[: int(SHARE * n)] for s in SUBSETS]
    return {
        "rehead": __version__,
        "random_state": [accuracy(task, np.arange(n), state) for state in STATES],
        "subsets": [accuracy(task, np.sort(rows), 0) for rows in subsets],
    }


def table(cells: dict[str, Any]) -> str:
    """The table of the docs."""
    lines = ["| | accuracy | other random_state | other 80 % |", "| --- | --- | --- | --- |"]
    for name, entry in cells.items():
        states, subsets = (np.array(entry[key]) for key in ("random_state", "subsets"))
        spread = states.std(ddof=1), subsets.std(ddof=1)
        lines.append(f"| {name} | {states.mean():.1f} | {spread[0]:.2f} | {spread[1]:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """All cells that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--noise", nargs="*", default=list(NOISES))
    parser.add_argument("--seed", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ReheadWarning)
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cells": {}}
    for task in asked.tasks:
        for cell in grid_cells([task], [asked.seed]):
            name = f"{task} {cell.kind}"
            known = found["cells"].get(name, {}).get("rehead") == __version__
            if cell.kind in asked.noise and not known:
                found["cells"][name] = measured(cell, Cache.default())
                found["circumstances"] = circumstances({"seed": asked.seed})
                write_json(RESULTS, found)
                print(name, found["cells"][name], flush=True)
    print(table(found["cells"]))


if __name__ == "__main__":
    main()
