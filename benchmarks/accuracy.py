"""The accuracy grid: tasks x noises x ways to predict, several seeds; one JSON for each cell.

    python benchmarks/accuracy.py            # measures what is missing, prints the grid
    python benchmarks/accuracy.py --quick    # digits, Reuters-8 and frozen features, one seed
    python benchmarks/accuracy.py --print    # the committed grid

A cell is a task under a noise with a seed: test accuracy of every column, how well wrong labels are
found (area under the ROC curve), the estimated noise rate, and the calibration error of the quality
score. Nothing is chosen on test labels. The few constants of the default (the share of anchors, the
gap of a judge, the prior of a member) were set while looking at seed 0 of the digits, Reuters-8,
Twitter and CIFAR-10 networks; other seeds and the frozen features were measured afterwards.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reporting import circumstances, write_json
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from tasks import MAKERS, Task, load_task, noises_of

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels

RESULTS = Path(__file__).parent / "results" / "accuracy"
QUICK = ("digits-mlp", "reuters8-fcn", "reuters8-frozen", "cifar10-frozen")
SOFTMAX = "softmax"


def layers_of(part: Any, given: bool) -> dict[str, np.ndarray]:
    """Layers, with the network's logits where they are wanted and there are any."""
    own = {} if part.outputs is None or not given else {SOFTMAX: part.outputs}
    return {**part.layers, **own}


def fit_ensemble(task: Task, *, given: bool = False, **options: Any) -> LayerEnsemble:
    """An ensemble of all layers."""
    named = [SOFTMAX] if given and task.train.outputs is not None else None
    held_out = (layers_of(task.validation, given), task.validation.y)
    ensemble = LayerEnsemble(random_state=0, given=named, **options)
    return ensemble.fit(layers_of(task.train, given), task.train.y, validation=held_out)


def last(task: Task) -> str:
    """The penultimate layer."""
    return list(task.train.layers)[-1]


def softmax(task: Task) -> float:
    """The network itself; for frozen features, logistic regression."""
    if task.test.outputs is not None:
        return float((task.test.outputs.argmax(axis=1) == task.test.y).mean())
    return logistic(task, np.ones(len(task.train.y), bool))


def logistic(task: Task, rows: np.ndarray) -> float:
    """Logistic regression on the last layer, of some rows."""
    X, test = task.train.layers[last(task)], task.test.layers[last(task)]
    mean, std = X.mean(axis=0), X.std(axis=0) + 1e-6
    model = LogisticRegression(max_iter=200).fit((X[rows] - mean) / std, task.train.y[rows])
    return float(model.score((test - mean) / std, task.test.y))


def single(estimator: str, layer: str | None = None) -> Callable[[Task], float]:
    """A classifier of one layer, the last one by default."""

    def measure(task: Task) -> float:
        name = layer if layer in task.train.layers else last(task)
        model = RobustGaussianClassifier(estimator, random_state=0)
        if estimator in ("sample", "agreement", "posterior"):
            model.set_params(shrinkage="auto")
        model.fit(task.train.layers[name], task.train.y)
        return float(model.score(task.test.layers[name], task.test.y))

    return measure


def ensemble(**options: Any) -> Callable[[Task], float]:
    """An ensemble with some options."""
    return lambda task: float(fit_ensemble(task, **options).score(task.test.layers, task.test.y))


def auto(task: Task) -> float:
    """The default, with the network's softmax to choose."""
    test = layers_of(task.test, True)
    return float(fit_ensemble(task, given=True).score(test, task.test.y))


def knn(task: Task) -> float:
    """50 nearest neighbours in the last layer."""
    name = last(task)
    model = KNeighborsClassifier(50).fit(task.train.layers[name], task.train.y)
    return float(model.score(task.test.layers[name], task.test.y))


def oracle(task: Task) -> float:
    """The same Gaussians from truly clean samples only, layers averaged."""
    total = 0.0
    for name, X in task.train.layers.items():
        model = RobustGaussianClassifier("sample", shrinkage="auto")
        model.fit(X[~task.changed], task.train.y[~task.changed])
        total = total + model.predict_proba(task.test.layers[name])
    return float((model.classes_[np.asarray(total).argmax(axis=1)] == task.test.y).mean())


COLUMNS: dict[str, Callable[[Task], float]] = {
    "softmax": softmax,
    "LDA, last layer": single("sample"),
    "RoG, last layer": single("mcd"),
    "RoG, ensemble": ensemble(preset="paper"),
    "authors' variant": ensemble(preset="authors"),
    "kNN-50": knn,
    "posterior": ensemble(estimator="posterior", shrinkage="auto"),
    "agreement": ensemble(estimator="agreement", shrinkage="auto", weights="nll"),
    "anchored, first layer": lambda task: single("anchored", next(iter(task.train.layers)))(task),
    "anchored, equal": ensemble(estimator="anchored", weights="equal"),
    "auto": auto,
    "oracle": oracle,
}


def audit(task: Task) -> dict[str, float]:
    """How well the default judges the training labels."""
    model = fit_ensemble(task, given=True)
    report = score_labels(model, layers_of(task.train, True), task.train.y)
    right, edges = ~task.changed, np.linspace(0, 1, 16)
    which = np.clip(np.digitize(report.quality, edges) - 1, 0, 14)
    gaps = [
        abs((report.quality - right)[which == b].sum()) for b in range(15) if (which == b).any()
    ]
    found = {
        "noise": task.noise_rate,
        "estimated": report.noise_rate,
        "error": report.noise_rate_error,
        "calibration": float(np.sum(gaps) / len(right)),
    }
    if task.changed.any():
        found["auroc"] = float(roc_auc_score(task.changed, -report.quality))
    return found


def measure(name: str, kind: str, rate: float, seed: int) -> dict[str, Any]:
    """One cell."""
    task = load_task(name, kind, rate, seed)
    cell: dict[str, Any] = {"accuracy": {}, "seconds": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the paper's estimator warns where it cannot trim
        for column, way in COLUMNS.items():
            start = time.perf_counter()
            cell["accuracy"][column] = way(task)
            cell["seconds"][column] = round(time.perf_counter() - start, 2)
        cell["audit"] = audit(task)
    return cell


def path_of(name: str, kind: str, rate: float, seed: int) -> Path:
    """Where a cell is kept."""
    return RESULTS / f"{name}-{kind}{round(100 * rate)}-{seed}.json"


def show(names: list[str], seeds: list[int]) -> None:
    """Print the grid, and what it says about the default."""
    console = Console(width=200)
    regrets: list[float] = []
    for name in names:
        table = Table("noise", *COLUMNS, "AUROC", "noise est.", title=f"{name}: test accuracy, %")
        for kind, rate in noises_of(name):
            paths = [path_of(name, kind, rate, s) for s in seeds]
            cells = [json.loads(p.read_text()) for p in paths if p.exists()]
            if not cells:
                continue
            means = {
                c: 100 * float(np.mean([cell["accuracy"][c] for cell in cells])) for c in COLUMNS
            }
            best = max(v for c, v in means.items() if c != "oracle")
            regrets.append(best - means["auto"])
            texts = [f"[bold]{v:.1f}" if v == best else f"{v:.1f}" for v in means.values()]
            of_audit = [cell["audit"] for cell in cells]
            auroc = np.mean([a.get("auroc", np.nan) for a in of_audit])
            estimated = np.mean([a["estimated"] for a in of_audit])
            true = np.mean([a["noise"] for a in of_audit])
            table.add_row(
                f"{kind} {rate:.0%} ({len(cells)})",
                *texts,
                f"{auroc:.3f}",
                f"{100 * estimated:.1f} of {100 * true:.1f}",
            )
        console.print(table)
    if regrets:
        console.print(
            f"Regret of auto against the best column: mean {np.mean(regrets):.2f} points, largest "
            f"{np.max(regrets):.2f}, over {len(regrets)} cells (oracle aside)."
        )


def main() -> None:
    """Measure what is missing, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=list(MAKERS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--cached", action="store_true", help="only tasks that are made already")
    args = parser.parse_args()
    names, seeds = (list(QUICK), [0]) if args.quick else (args.tasks, args.seeds)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for seed in [] if args.only_print else seeds:
        for name in names:
            for kind, rate in noises_of(name):
                path = path_of(name, kind, rate, seed)
                if path.exists() or (args.cached and not is_cached(name, kind, rate, seed)):
                    continue
                cell = measure(name, kind, rate, seed)
                write_json(path, {**circumstances({}), **cell})
                shown = {k: round(v, 3) for k, v in cell["accuracy"].items()}
                Console(width=200).print(name, kind, rate, seed, shown)
    show(names, seeds)


def is_cached(name: str, kind: str, rate: float, seed: int) -> bool:
    """Whether the features of a cell are there."""
    from tasks import CACHE

    return (CACHE / f"{name}-{kind}{round(100 * rate)}-{seed}.npz").exists()


if __name__ == "__main__":
    main()
