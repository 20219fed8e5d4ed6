"""What a handful of trusted labels changes: accuracy with them, less accuracy without.

    python benchmarks/trusted.py        # fills results/trusted.json

Small data sets, labelled by machines that learnt from a few samples, by random noise and by
annotators. Some labels, drawn at random, are put right, and the default is told so. It should never
be worse than without them by more than chance.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from reporting import circumstances, write_json
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from rehead import ReheadWarning, RobustGaussianClassifier, noise

RESULTS = Path(__file__).parent / "results" / "trusted.json"
NUMBERS, SEEDS = (20, 50, 100), (0, 1)


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, features, true classes."""
    yield "digits", *load_digits(return_X_y=True)
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", (X - X.mean(axis=0)) / X.std(axis=0), y
    yield "moons", *make_moons(1200, noise=0.25, random_state=0)
    rng = np.random.default_rng(0)
    cluster = rng.integers(6, size=1500)
    middles = 2.2 * rng.normal(size=(6, 6))
    yield "two clusters a class", middles[cluster] + rng.normal(size=(1500, 6)), cluster % 3


def labellings(X: np.ndarray, y: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Noisy labels by name; machines have learnt from a few samples."""
    few = np.random.default_rng(seed).choice(len(y), 60 + 10 * len(np.unique(y)), replace=False)
    machines = {
        "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
        "regression": LogisticRegression(max_iter=300),
        "neighbours": KNeighborsClassifier(5),
    }
    for name, machine in machines.items():
        yield name, machine.fit(X[few], y[few]).predict(X)
    yield "uniform", noise.uniform(y, 0.3, random_state=seed).labels
    yield "flip", noise.flip(y, 0.3, random_state=seed).labels
    yield "annotator", noise.annotator(X, y, 0.3, random_state=seed).labels


def measured() -> dict[str, dict[str, list[float]]]:
    """Points gained by each number of trusted labels; a list of seeds for each labelling."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, X, y in data_sets():
        for seed in SEEDS:
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = np.split(order, [len(y) * 2 // 3])
            for kind, labels in labellings(X[train], y[train], seed):
                if len(np.unique(labels)) < len(np.unique(y)):
                    continue  # a machine that never names a class
                cell = found.setdefault(f"{name}, {kind}", {str(n): [] for n in NUMBERS})
                plain = RobustGaussianClassifier(random_state=0).fit(X[train], labels)
                before = plain.score(X[test], y[test])
                for n in NUMBERS:
                    rng = np.random.default_rng([seed, n])
                    drawn = np.isin(np.arange(len(train)), rng.choice(len(train), n, replace=False))
                    now = np.where(drawn, y[train], labels)
                    told = RobustGaussianClassifier(random_state=0)
                    told.fit(X[train], now, trusted=drawn, uncorrected=labels)
                    cell[str(n)].append(100 * (told.score(X[test], y[test]) - before))
                print(f"{name}, {kind}, seed {seed}", flush=True)
    return found


def table(found: dict[str, dict[str, list[float]]]) -> str:
    """Mean, worst and best of all fits, by the number of trusted labels."""
    lines = ["| trusted labels | points gained | worst | best |", "| --- | --- | --- | --- |"]
    for n in NUMBERS:
        gains = np.concatenate([cell[str(n)] for cell in found.values()])
        lines.append(f"| {n} | {gains.mean():.2f} | {gains.min():.1f} | {gains.max():.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, write, print."""
    warnings.simplefilter("ignore", ReheadWarning)
    found = measured()
    write_json(RESULTS, {"gained": found, "circumstances": circumstances({"seeds": SEEDS})})
    print(table(found))


if __name__ == "__main__":
    main()
