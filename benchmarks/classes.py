"""What the default costs and how good it is with many classes, beside shrunk LDA.

    python benchmarks/classes.py            # all of it, one thread
    python benchmarks/classes.py --quick    # the cost alone

Cost: processor seconds of one thread, the ways in turn, the best of some rounds, as multiples of
`LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.05)`: ratios within one run. Accuracy: on
clean held-out samples, equal classes, means over seeds; "behind" is how far it is behind LDA, less
two standard errors of the difference. Noise: the share of labels that are wrong, and what was seen.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import synthetic
from reporting import circumstances, write_json
from rich.console import Console
from rich.table import Table
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from rehead import RobustGaussianClassifier

RESULTS = Path(__file__).parent / "results" / "classes.json"
CLASSES = (10, 100, 300, 1_000)
ROWS, FEATURES = 20_000, 256
TARGETS = {"without maps": 12.0, "with maps": 36.0}
LDA = "LDA"


class Case(NamedTuple):
    """Classes, samples of each (on average), of the smallest (None: equal), how far apart."""

    n_classes: int
    samples: int
    smallest: int | None
    error: float

    @property
    def name(self) -> str:
        tail = "" if self.smallest is None else f", down to {self.smallest}"
        return f"{self.n_classes} x {self.samples}{tail}"


# LDA gets 80 to 95 % of clean samples right, trained on 30 % wrong labels.
CASES = (
    Case(1_000, 20, None, 5e-3),
    Case(1_000, 5, None, 1e-8),
    Case(1_000, 2, None, 1e-25),
    Case(100, 100, 5, 1e-7),
    Case(300, 60, 5, 1e-7),
    Case(1_000, 20, 5, 1e-7),
)
NOISES = (("uniform", 0.3), ("uniform", 0.0), ("flip", 0.3))


def model(way: str) -> Any:
    """A new one."""
    if way == LDA:
        return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.05)
    feature_map = "none" if way == "without maps" else "auto"
    return RobustGaussianClassifier(feature_map=feature_map, random_state=0)


def cost(rounds: int) -> list[dict[str, Any]]:
    """Seconds of each way, and how many times those of LDA."""
    found = []
    for n_classes in CLASSES:
        size = synthetic.Size(ROWS, FEATURES, n_classes)
        data = synthetic.make(size, rate=0.3, error=5e-3)
        seconds = dict.fromkeys((LDA, *TARGETS), float("inf"))
        for _ in range(rounds):
            for way in seconds:
                start = time.process_time()
                model(way).fit(data.X, data.noisy)
                seconds[way] = min(seconds[way], time.process_time() - start)
        ratios = {way: seconds[way] / seconds[LDA] for way in TARGETS}
        found.append({"classes": n_classes, "seconds": seconds, "ratios": ratios})
    return found


def labelled(case: Case, kind: str, rate: float, seed: int) -> synthetic.Data:
    """Data of a case; each label is wrong with the same probability, however small its class."""
    size = synthetic.Size(case.n_classes * case.samples, FEATURES, case.n_classes)
    data = synthetic.make(size, rate=0.0, error=case.error, smallest=case.smallest, seed=seed)
    rng, C = np.random.default_rng([seed, 1]), case.n_classes
    away = rng.integers(1, C, size=len(data.clean)) if kind == "uniform" else 1
    wrong = rng.random(len(data.clean)) < rate
    return data._replace(noisy=np.where(wrong, (data.clean + away) % C, data.clean))


def accuracy(case: Case, kind: str, rate: float, seeds: int) -> dict[str, Any]:
    """Of LDA and of the default, and the noise that it sees."""
    rows = []
    for seed in range(seeds):
        data = labelled(case, kind, rate, seed)
        ours, lda = (model(w).fit(data.X, data.noisy) for w in ("without maps", LDA))
        right = [m.score(data.X_test, data.y_test) for m in (lda, ours)]
        rows.append([*right, float((data.noisy != data.clean).mean()), ours.noise_.wrong])
    mean = np.mean(rows, axis=0)
    behind = np.subtract(*np.transpose(rows)[:2])
    error = float(behind.std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else 0.0
    return {
        "case": case.name,
        "noise": f"{kind} {rate:.0%}",
        **dict(zip(("LDA", "auto", "wrong", "seen"), mean.tolist(), strict=True)),
        "behind": float(behind.mean()) - 2 * error,
        "most_off": float(np.abs(np.diff(np.array(rows)[:, 2:], axis=1)).max()),
    }


def show(costs: list[dict[str, Any]], accuracies: list[dict[str, Any]]) -> None:
    """Print the tables."""
    table = Table(
        "classes", "LDA, s", *(f"{way} (at most {most:.0f})" for way, most in TARGETS.items())
    )
    for row in costs:
        ratios = (f"{row['ratios'][way]:.1f}" for way in TARGETS)
        table.add_row(str(row["classes"]), f"{row['seconds'][LDA]:.2f}", *ratios)
    Console().print(table)
    if accuracies:
        table = Table(
            "classes x samples", "noise", "LDA", "auto", "behind", "wrong", "seen", "most off"
        )
        for row in accuracies:
            numbers = (
                f"{row[k]:.3f}" for k in ("LDA", "auto", "behind", "wrong", "seen", "most_off")
            )
            table.add_row(row["case"], row["noise"], *numbers)
        Console().print(table)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="the cost alone")
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    costs = cost(args.rounds)
    cells = [] if args.quick else [(case, *noise) for case in CASES for noise in NOISES]
    accuracies = [accuracy(*cell, args.seeds) for cell in cells]
    show(costs, accuracies)
    found = {**circumstances(vars(args)), "cost": costs, "accuracy": accuracies}
    write_json(args.output, found)


if __name__ == "__main__":
    main()
