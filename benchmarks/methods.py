"""The training methods on noisy digits, to see that each does what its paper says.

    python benchmarks/methods.py            # fills what is missing in results/methods.json
    python benchmarks/methods.py --fresh    # measures all of it again

Test accuracy of the network's own softmax, in the last epoch, mean and standard deviation over
seeds. A fully connected network, 64-128-128-10, memorises the noise within its 120 epochs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from reporting import circumstances, write_json
from rich.console import Console
from rich.progress import track
from rich.table import Table

from rehead.experiments.noisy import TrainSettings
from rehead.experiments.training import run_training

RESULTS = Path(__file__).parent / "results" / "methods.json"
NOISES = (("uniform", 0.4), ("uniform", 0.6), ("flip", 0.4), ("flip", 0.45))
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "cross-entropy": ("cross-entropy", {}),
    "bootstrap-hard": ("bootstrap-hard", {}),
    "bootstrap-soft": ("bootstrap-soft", {}),
    "forward, true T": ("forward", {}),
    "forward, anchor points": ("forward", {"transition": None}),
    "backward, true T": ("backward", {}),
    "backward, anchor points": ("backward", {"transition": None}),
    "forward-gold, 5 % trusted": ("forward-gold", {}),
    "forward-gold, 5 % trusted, tenth held out": ("forward-gold", {"held_out": 0.1}),
    "glc, 5 % trusted": ("glc", {}),
    "d2l": ("d2l", {}),
    "decoupling": ("decoupling", {}),
    "mentornet, small loss": ("mentornet", {}),
    "mentornet, self-paced": ("mentornet", {"form": "self-paced"}),
    "mentornet, mixture": ("mentornet", {"form": "mixture"}),
    "mentornet, teacher": ("mentornet", {"form": "teacher", "teacher_steps": 5000}),
    "co-teaching": ("co-teaching", {}),
}


def cell(row: str, kind: str, rate: float, seed: int) -> dict[str, float]:
    """One network: test accuracy in the last epoch and in the best one, and labels fitted."""
    method, options = ROWS[row]
    settings = TrainSettings(
        data="digits",
        method=method,
        method_options=options,
        noise=kind,
        rate=rate,
        trusted=0.05,
        model_options={"hidden": (128, 128), "gain": 2**0.5},
        seed=seed,
    )
    result = run_training(settings, progress=False)
    best = max(entry["held_out_accuracy"] for entry in result.trained.history)
    return {"accuracy": result.accuracy, "best": best, "fitted": result.fitted}


def show(cells: dict[str, dict[str, float]], seeds: int) -> None:
    """Print the table."""
    title = f"Test accuracy, last epoch, % (digits, {seeds} seeds)"
    table = Table("method", *(f"{k} {r:.0%}" for k, r in NOISES), title=title)
    for row in ROWS:
        texts = []
        for kind, rate in NOISES:
            found = [cells.get(key(row, kind, rate, s)) for s in range(seeds)]
            values = 100 * np.array([c["accuracy"] for c in found if c])
            texts.append(
                f"{values.mean():.1f} ± {values.std(ddof=1):.1f}" if len(values) > 1 else ""
            )
        table.add_row(row, *texts)
    Console().print(table)


def key(row: str, kind: str, rate: float, seed: int) -> str:
    """Name of a cell."""
    return f"{row} | {kind} {rate} | seed {seed}"


def main() -> None:
    """Measure what is missing, write after each cell, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--fresh", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)  # the network is so small that a second thread would slow it down
    cells: dict[str, dict[str, float]] = {}
    if RESULTS.exists() and not args.fresh:
        cells = json.loads(RESULTS.read_text())["cells"]
    wanted = [(r, k, e, s) for s in range(args.seeds) for k, e in NOISES for r in ROWS]
    missing = [w for w in wanted if key(*w) not in cells]
    for w in track(missing, "training", disable=not missing):
        cells[key(*w)] = cell(*w)
        content = {**circumstances(vars(args)), "cells": cells}
        write_json(RESULTS, content)
    show(cells, args.seeds)


if __name__ == "__main__":
    main()
