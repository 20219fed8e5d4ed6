"""How well strange samples are found, and whether the promise of abstention is kept.

    python benchmarks/outliers.py        # needs the frozen features of the accuracy grid

The tables of ``docs/outliers.md``. Scores are areas under the ROC curve of strange against usual
samples; nothing but ``typicality`` is a p-value.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from reporting import circumstances, write_json
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from rehead import RobustGaussianClassifier, abstention_threshold, typicality
from rehead.experiments.cache import Cache
from rehead.experiments.cell import Cell
from rehead.experiments.grid.tasks import PROFILE, TABLE, TASKS
from rehead.experiments.plans import source_of
from rehead.experiments.sources import load_task
from rehead.experiments.task import Task
from rehead.gaussian import Composition
from rehead.gaussian.typical import strange_distances

RESULTS = Path(__file__).parent / "results" / "outliers.json"
Array = np.ndarray
LEFT_OUT = {
    "digits": ([8, 9], [0, 1], [4, 7]),
    "reuters8-frozen": ([1, 2], [5, 6]),
    "cifar10-frozen": ([0, 1], [3, 5]),
}
"""Classes that a fit does not know, or knows under wrong labels."""
IMAGES = 8000
RUNS, ERROR, CONFIDENCE = 300, 0.05, 0.9


def scores(model: RobustGaussianClassifier, X: Array) -> dict[str, Array]:
    """How strange new samples are, in several ways; larger is stranger."""
    g, by, nothing = model.fitted_.gaussians, model.fitted_.mapped_by, np.zeros(len(X))
    outside = Composition(nothing, nothing.astype(np.int64), np.full(len(g.means), 1e9))
    relative, residual = strange_distances(g, X, outside.counted_as, outside, by).T
    plain, _ = strange_distances(replace(g, temperature=1.0), X, outside.counted_as, outside, by).T
    return {
        "distance to the nearest class": model.fitted_.distances(X).min(axis=1),
        "distance outside the plane of the means": residual,
        "relative distance, temperature 1": plain,
        "relative distance, the model's temperature": relative,
        "typicality": -typicality(model, X),
    }


def fit(X: Array, y: Array) -> RobustGaussianClassifier:
    """The default."""
    return RobustGaussianClassifier(random_state=0).fit(X, y)


def found(model: RobustGaussianClassifier, X: Array, strange: Array) -> dict[str, float]:
    """Area under the curve of each score."""
    return {name: float(roc_auc_score(strange, s)) for name, s in scores(model, X).items()}


def frozen(name: str, noise: str, rate: float, seed: int) -> Task:
    """A task of the accuracy grid, from the cache, or encoded."""
    network, data = TASKS[name].network, TASKS[name].data
    cell = Cell(TABLE, network, data, noise, rate, seed=seed, profile=PROFILE)
    return load_task(source_of(cell), Cache.default())[0]


def open_set(seed: int) -> dict[str, Any]:
    """Images of other data sets, held out from a fit that saw such ones, and new to a clean fit."""
    task = frozen("cifar10-frozen", "open-set", 0.4, seed)
    X, y, test = task.train.layers["features"], task.train.y, task.test.layers["features"]
    seen = np.random.default_rng(1).random(len(y)) < 0.6
    clean = frozen("cifar10-frozen", "none", 0.0, seed)
    of_clean = fit(clean.train.layers["features"], clean.train.y)
    new = np.concatenate([X[task.changed], test])
    strange = np.arange(len(new)) < task.changed.sum()
    whole = fit(X, y)
    return {
        "held out": found(fit(X[seen], y[seen]), X[~seen], task.changed[~seen]),
        "new": found(of_clean, new, strange),
        "training": float(roc_auc_score(task.changed, -typicality(whole, X, y))),
        "5 % of clean test images are below": {
            "fit with strange images": float(np.quantile(typicality(whole, test), 0.05)),
            "clean fit": float(np.quantile(typicality(of_clean, test), 0.05)),
        },
    }


def left_out() -> Iterator[dict[str, Any]]:
    """Classes left out of the fit, or in it under other names."""
    for name, cases in LEFT_OUT.items():
        if name == "digits":
            X, y = load_digits(return_X_y=True)
        else:
            task = frozen(name, "none", 0.0, 0)
            X = np.concatenate([p.layers["features"] for p in (task.train, task.test)])[:IMAGES]
            y = np.concatenate([task.truth, task.test.y])[:IMAGES]
        for classes in cases:
            rng = np.random.default_rng(0)
            strange = np.isin(y, classes)
            usual, others = rng.permutation(np.flatnonzero(~strange)), np.flatnonzero(strange)
            half, few = len(usual) // 2, min(len(others) // 2, len(usual) // 4)
            others = rng.permutation(others)
            rest = np.concatenate([others[few:], usual[half:]])
            for with_strange in (False, True):
                rows = np.concatenate([usual[:half], others[: few * with_strange]])
                labels = y[rows].copy()
                labels[half:] = rng.choice(np.setdiff1d(y, classes), len(rows) - half)
                auc = found(fit(X[rows], labels), X[rest], strange[rest])
                yield {"task": name, "classes": classes, "in the fit": with_strange, "auroc": auc}


def promise(
    n_classes: int, distance: float | None, held_out: int, T: Array, error: float = ERROR
) -> dict[str, float]:
    """How often the promised error is exceeded, and how many predictions are made.

    Without a distance, all classes are one standard deviation apart.
    """
    rng = np.random.default_rng(0)
    if distance is None:
        means = np.eye(5)[:n_classes] / np.sqrt(2)
    else:
        means = distance * rng.normal(size=(n_classes, 5)) / np.sqrt(5)
    checked = bool((np.eye(n_classes) == T).all())

    def draw(n: int) -> tuple[Array, Array, Array]:
        y = rng.integers(n_classes, size=n)
        noisy = (rng.random(n)[:, None] > np.cumsum(T, axis=1)[y]).sum(axis=1)
        return rng.normal(size=(n, 5)) + means[y], y, np.minimum(noisy, n_classes - 1)

    X, _, labels = draw(1500)
    model = fit(X, labels)
    X, y, _ = draw(60_000)
    p = model.predict_proba(X)
    wrong, sure = p.argmax(axis=1) != y, p.max(axis=1)
    broken, coverage = 0, []
    for _ in range(RUNS):
        X, _, labels = draw(held_out)
        limit = abstention_threshold(
            model,
            X,
            labels,
            error=error,
            confidence=CONFIDENCE,
            checked=checked,
            transition=None if checked else T,
        ).threshold
        accepted = sure >= limit
        broken += bool(accepted.any() and wrong[accepted].mean() > error)
        coverage.append(accepted.mean())
    ranked = np.cumsum(wrong[np.argsort(-sure)]) / np.arange(1, len(sure) + 1)
    return {
        "accuracy": float(1 - wrong.mean()),
        "broken": broken / RUNS,
        "coverage": float(np.mean(coverage)),
        "best possible": float((np.flatnonzero(ranked <= error).max() + 1) / len(sure)),
    }


def promises() -> dict[str, dict[str, float]]:
    """Checked, uniform and flip labels; classes that overlap, and classes apart."""

    def uniform(n: int) -> Array:
        return (0.7 - 0.3 / (n - 1)) * np.eye(n) + 0.3 / (n - 1)

    flip = 0.7 * np.eye(4) + 0.3 * np.roll(np.eye(4), 1, axis=1)
    return {
        "checked labels, 1,000 held out, 3 classes that overlap": promise(3, 3.0, 1000, np.eye(3)),
        "checked labels, 1,000 held out, 3 classes one sigma apart, error 30 %": promise(
            3, None, 1000, np.eye(3), 0.3
        ),
        "30 % uniform, 4,000 held out, the same classes, error 30 %": promise(
            3, None, 4000, uniform(3), 0.3
        ),
        "30 % uniform, 4,000 held out, 3 classes that overlap": promise(3, 3.0, 4000, uniform(3)),
        "30 % uniform, 1,000 held out, 4 classes apart": promise(4, 6.0, 1000, uniform(4)),
        "30 % uniform, 4,000 held out, 4 classes apart": promise(4, 6.0, 4000, uniform(4)),
        "30 % flip, 4,000 held out, 4 classes apart": promise(4, 6.0, 4000, flip),
    }


def show(results: dict[str, Any]) -> None:
    """Print the tables."""
    console = Console()
    first = results["open-set"][0]
    table = Table("open-set images, seed 0", "held out", "new, clean fit")
    for name in first["new"]:
        table.add_row(name, f"{first['held out'][name]:.3f}", f"{first['new'][name]:.3f}")
    console.print(table)
    for seed, row in enumerate(results["open-set"]):
        both = f"{row['held out']['typicality']:.3f}, {row['new']['typicality']:.3f}"
        console.print(f"seed {seed}: typicality {both}; training images {row['training']:.3f};")
        console.print(row["5 % of clean test images are below"])
    cases = results["left out"]
    table = Table(f"{len(cases)} cases of classes left out", "mean", "worst")
    for name in cases[0]["auroc"]:
        values = [case["auroc"][name] for case in cases]
        table.add_row(name, f"{np.mean(values):.3f}", f"{min(values):.3f}")
    console.print(table)
    table = Table(
        f"{RUNS} runs, error 5 %, confidence 90 %", *next(iter(results["abstention"].values()))
    )
    for name, row in results["abstention"].items():
        table.add_row(name, *[f"{v:.3f}" for v in row.values()])
    console.print(table)


def main() -> None:
    """Measure, print, write."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these fits deserve a warning
        results = {
            "open-set": [open_set(seed) for seed in (0, 1)],
            "left out": list(left_out()),
            "abstention": promises(),
        }
    show(results)
    write_json(RESULTS, {**circumstances({}), **results})


if __name__ == "__main__":
    main()
