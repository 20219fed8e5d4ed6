"""The accuracy grid: tasks x noises x ways to predict, several seeds; one JSON for each cell.

    python benchmarks/accuracy.py            # measures what is missing, prints the grid
    python benchmarks/accuracy.py --quick    # a part, one seed, beside the committed cells
    python benchmarks/accuracy.py --print    # the committed grid

A cell is a task under a noise with a seed: test accuracy of every column, how well wrong labels are
found (area under the ROC curve), the estimated noise rate, and the calibration error of the quality
score. Nothing is chosen on test labels at run time; how the constants of the default were set is
told in ``page.md``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from columns import COLUMNS, cleanlab_quality, default, with_softmax
from grid import Grid, beside, path_of, show
from reporting import circumstances, write_json
from rich.console import Console
from sklearn.metrics import roc_auc_score
from tasks import CACHE, MAKERS, Task, load_task, noises_of

from rehead import score_labels

RESULTS = Path(__file__).parent / "results" / "accuracy"
QUICK = ("digits-mlp", "reuters8-fcn", "reuters8-frozen", "cifar10-frozen")
QUICK_NOISES = (("none", 0.0), ("uniform", 0.4), ("flip", 0.4))
QUICK_COLUMNS = ("softmax", "LDA", "RoG ensemble", "cleanlab, LDA", "agreement", "auto", "oracle")
BINS = 15


def measure(task: Task, columns: Sequence[str], cell: dict[str, Any]) -> None:
    """Add columns to a cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the paper's estimator warns where it cannot trim
        for column in columns:
            start = time.perf_counter()
            predicted = COLUMNS[column](task)
            cell["accuracy"][column] = float((predicted == task.test.y).mean())
            cell["seconds"][column] = round(time.perf_counter() - start, 2)
        if "audit" not in cell:
            cell["audit"] = audit(task)


def audit(task: Task) -> dict[str, Any]:
    """How well the default judges the training labels, beside cleanlab with its features."""
    model = default(task)
    report = score_labels(model, with_softmax(task.train), task.train.y)
    judges = model.consensus_.judges if model.consensus_ else list(task.train.layers)
    found: dict[str, Any] = {
        "judges": judges,
        "noise": task.noise_rate,
        "estimated": report.noise_rate,
        "error": report.noise_rate_error,
        "calibration": calibration_error(report.quality, ~task.changed),
        "flagged": len(report.mislabelled()) / len(task.train.y),
    }
    if task.changed.any():
        found["auroc"] = float(roc_auc_score(~task.changed, report.quality))
        found["cleanlab"] = {
            name: float(roc_auc_score(~task.changed, quality))
            for name, quality in cleanlab_quality(task, judges).items()
        }
    return found


def calibration_error(quality: np.ndarray, right: np.ndarray) -> float:
    """Mean distance, over bins, of the mean quality from the share of right labels."""
    which = np.clip((quality * BINS).astype(int), 0, BINS - 1)
    gaps = np.bincount(which, weights=quality - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(right))


def read(path: Path) -> dict[str, Any]:
    """A cell as far as it was measured."""
    if path.exists():
        return dict(json.loads(path.read_text()))
    return {**circumstances({}), "accuracy": {}, "seconds": {}}


def main() -> None:
    """Measure what is missing, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=list(MAKERS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--quick", action="store_true", help="one seed of the fast tasks, anew")
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--cached", action="store_true", help="only tasks that are made already")
    parser.add_argument("--columns", nargs="+", choices=list(COLUMNS), default=list(COLUMNS))
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the cells")
    args = parser.parse_args()
    if args.quick:
        quick()
        return
    for seed in [] if args.only_print else args.seeds:
        for name in args.tasks:
            for kind, rate in noises_of(name):
                path = path_of(args.results, name, kind, rate, seed)
                made = (CACHE / path.with_suffix(".npz").name).exists()
                if made or not args.cached:
                    fill(path, (name, kind, rate, seed), args.columns)
    show(Grid.read(args.results, args.tasks, args.seeds))


def fill(path: Path, cell_of: tuple[str, str, float, int], columns: Sequence[str]) -> None:
    """Measure what is missing of a cell."""
    cell = read(path)
    missing = [c for c in columns if c not in cell["accuracy"]]
    if not missing:
        return
    measure(load_task(*cell_of), missing, cell)
    cell |= circumstances({})
    found = cell["accuracy"]
    cell["accuracy"] = {c: found[c] for c in COLUMNS if c in found}
    write_json(path, cell)
    shown = {k: round(100 * v, 1) for k, v in cell["accuracy"].items()}
    Console(width=200).print(*cell_of, shown)


def quick() -> None:
    """Measure a part of seed 0 anew, and print it beside the committed cells."""
    with tempfile.TemporaryDirectory() as folder:
        for name in QUICK:
            for kind, rate in QUICK_NOISES:
                path = path_of(Path(folder), name, kind, rate, 0)
                fill(path, (name, kind, rate, 0), QUICK_COLUMNS)
        beside(Grid.read(Path(folder), QUICK, [0]), Grid.read(RESULTS, QUICK, [0]))


if __name__ == "__main__":
    main()
