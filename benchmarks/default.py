"""What the default and the specialists cost, in fits of plain Algorithm 1, and how much memory.

Also what it costs to judge all training labels afterwards, as a share of the fit.

    python benchmarks/default.py            # size A, one thread

Last, the memory of `LayerEnsemble` beside its layers: three of 40,000 x 256.

Times are processor seconds of one thread, the ways in turn, the best of some rounds: ratios within
one run, since machines differ and are busy. Memory is the peak of allocations in a run of its own.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import synthetic
from reporting import circumstances, write_json
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels

RESULTS = Path(__file__).parent / "results" / "default.json"
PAPER = "Algorithm 1"
TARGETS = {"auto": 10.0, "posterior": 3.0, "agreement": 3.0, "mixture": 3.0}
MEMORY = 0.5


def fit(name: str, data: synthetic.Data) -> Any:
    """Fit one of the ways."""
    if name == PAPER:
        return RobustGaussianClassifier(preset="paper", random_state=0).fit(data.X, data.noisy)
    options: dict[str, Any] = {"shrinkage": "auto"} if name in ("posterior", "agreement") else {}
    return RobustGaussianClassifier(name, random_state=0, **options).fit(data.X, data.noisy)


def measure(data: synthetic.Data, rounds: int) -> dict[str, dict[str, float]]:
    """Processor seconds, memory over X, accuracy on clean samples."""
    names = [PAPER, *TARGETS]
    best, judging = (dict.fromkeys(names, float("inf")) for _ in range(2))
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for _ in range(rounds):
            for name in names:
                start = time.process_time()
                model = fit(name, data)
                best[name] = min(best[name], time.process_time() - start)
                start = time.process_time()
                score_labels(model, data.X, data.noisy)
                judging[name] = min(judging[name], time.process_time() - start)
                found[name]["accuracy"] = float(model.score(data.X_test, data.y_test))
                found[name]["rounds"] = float(model.n_iter_.max())
        for name in names:
            tracemalloc.start()
            fit(name, data)
            found[name]["memory"] = tracemalloc.get_traced_memory()[1] / data.X.nbytes
            tracemalloc.stop()
    for name in names:
        found[name] |= {
            "seconds": best[name],
            "ratio": best[name] / best[PAPER],
            "judging": judging[name] / best[name],
        }
    return found


def show(found: dict[str, dict[str, float]]) -> None:
    """Print a table."""
    columns = ("of Algorithm 1", "at most", "memory, of X", "accuracy", "rounds", "judging, of fit")
    table = Table("", *columns)
    for name, row in found.items():
        table.add_row(
            name,
            f"{row['ratio']:.2f}",
            f"{TARGETS[name]:.0f}" if name in TARGETS else "",
            f"{row['memory']:.2f}",
            f"{row['accuracy']:.3f}",
            f"{row['rounds']:.0f}",
            f"{row['judging']:.2f}",
        )
    Console().print(table)


LAYERS, HELD_OUT = (3, 40_000, 256), 2_000


def layers_of(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], Any]:
    """Layers in float32 and labels, three in ten of which were drawn anew."""
    n_layers, _, d = LAYERS
    y = rng.integers(10, size=n)
    layers = {}
    for i in range(n_layers):
        means = np.random.default_rng(i).normal(size=(10, d)).astype(np.float32)
        layers[f"layer{i}"] = rng.standard_normal((n, d), np.float32) + means[y] * (6 / d**0.5)
    return layers, np.where(rng.random(n) < 0.3, rng.integers(10, size=n), y)


def ensemble_memory(n: int) -> dict[str, dict[str, float]]:
    """Peak of allocations as a share of all layers of n rows: to fit, to predict, to judge."""
    rng = np.random.default_rng(0)
    (layers, y), held_out = layers_of(n, rng), layers_of(HELD_OUT, rng)
    size = sum(X.nbytes for X in layers.values())
    found: dict[str, dict[str, float]] = {}

    def peak(work: Callable[[], Any]) -> tuple[float, Any]:
        tracemalloc.start()
        result = work()
        share = tracemalloc.get_traced_memory()[1] / size
        tracemalloc.stop()
        return share, result

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for way, validation in (("held-out samples given", held_out), ("a fifth held out", None)):
            model = LayerEnsemble(random_state=0)
            fitting, _ = peak(partial(model.fit, layers, y, validation))
            found[way] = {
                "fit": fitting,
                "predict_proba": peak(partial(model.predict_proba, layers))[0],
                "score_labels": peak(partial(score_labels, model, layers, y))[0],
            }
    return found


def show_memory(found: dict[str, dict[str, float]]) -> None:
    """Print a table."""
    table = Table("memory of LayerEnsemble, of all layers", *next(iter(found.values())))
    for way, shares in found.items():
        table.add_row(way, *(f"{share:.2f}" for share in shares.values()))
    Console().print(table)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="A", choices=list(synthetic.SIZES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layer-rows", type=int, default=LAYERS[1], help="for the last table")
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    found = measure(synthetic.make(synthetic.SIZES[args.size]), args.rounds)
    show(found)
    ensemble = ensemble_memory(args.layer_rows)
    show_memory(ensemble)
    write_json(args.output, {**circumstances(vars(args)), "ways": found, "ensemble": ensemble})


if __name__ == "__main__":
    main()
