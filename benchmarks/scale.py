"""Seconds and memory of fits and audits on features on disk, as samples and classes grow.

    python benchmarks/scale.py                       # hours; goes on where it was stopped
    python benchmarks/scale.py --tiny                # seconds: does it run?
    python benchmarks/scale.py --page                # what was measured, as tables

Each cell runs in a process of its own, and its peak memory is that of the process and its workers.
Results are written after each cell; cells that are there are not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "scale.json"
SAMPLES = (50_000, 200_000, 1_000_000, 5_000_000)
CLASSES = (10, 100, 1_000, 5_000)
TASKS = ("read", "gemm", "mcd", "auto", "audit")
WORKERS = ("threads", "1", "2", "dask-1", "dask-2")
WIDTH = 256
CHUNK = 16_384


@dataclass(frozen=True)
class Cell:
    """One measurement: so many samples of so many classes, one task, by so many workers."""

    samples: int
    classes: int
    width: int
    task: str
    workers: str

    @property
    def name(self) -> str:
        return f"{self.task}-n{self.samples}-c{self.classes}-d{self.width}-{self.workers}"


def cells(tiny: bool) -> list[Cell]:
    """All cells, small ones first."""
    width = 16 if tiny else WIDTH
    shapes = [(2_000, 10), (4_000, 10)] if tiny else [(n, 100) for n in SAMPLES]
    shapes += [] if tiny else [(200_000, c) for c in CLASSES if c != 100]
    found = []
    for n, c in sorted(shapes, key=lambda shape: shape[0] * shape[1]):
        for task in TASKS:
            alone = task in ("read", "gemm")
            wanted = ("threads",) if alone else ("threads", "2") if tiny else WORKERS
            found += [Cell(n, c, width, task, workers) for workers in wanted]
    return found


def chunk(cell: Cell, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and noisy labels of some samples; the same in every run."""
    n = min(CHUNK, cell.samples - number * CHUNK)
    rng = np.random.default_rng((7, number))
    means = np.random.default_rng(3).normal(size=(cell.classes, cell.width)).astype("f4")
    y = rng.integers(cell.classes, size=n)
    X = rng.standard_normal((n, cell.width), dtype="f4") + 0.5 * means[y]
    noisy = np.where(rng.random(n) < 0.2, rng.integers(cell.classes, size=n), y)
    return X.astype("f2"), noisy


def make_store(cell: Cell, folder: Path) -> Path:
    """A store of these samples, class by class; made once."""
    from rehead.files.partition import partition_store
    from rehead.files.store import Chunk, StoreWriter

    name = f"n{cell.samples}-c{cell.classes}-d{cell.width}"
    target = folder / name
    if (target / "manifest.json").exists():
        return target
    with StoreWriter(folder / f"{name}-raw", ["x"], fingerprint="made") as writer:
        for number in range(writer.n_chunks, -(-cell.samples // CHUNK)):
            X, y = chunk(cell, number)
            ids = np.arange(number * CHUNK, number * CHUNK + len(y))
            writer.append(Chunk({"x": X}, y, ids, np.zeros((len(y), 0), "f4"), True))
        if not writer.complete:
            writer.finish()
    partition_store(folder / f"{name}-raw", target)
    shutil.rmtree(folder / f"{name}-raw")
    return target


def work(cell: Cell, store: Path) -> float:
    """Do it, and return the seconds; models that an audit needs are fitted before."""
    from rehead import RobustGaussianClassifier, score_labels
    from rehead.files.store import FeatureStore
    from rehead.scale import dask_cluster, process_pool

    opened = FeatureStore(store, verify=True)
    rows, y = opened.rows("x"), opened.labels
    kind, _, number = cell.workers.rpartition("-")
    where = nullcontext() if number == "threads" else process_pool(int(number))
    if kind == "dask":
        where = dask_cluster("local", int(number))
    settings = {"feature_map": "none"} if cell.task == "auto" else {}
    with where as executor:
        if cell.task == "audit":
            model = RobustGaussianClassifier("sample").fit(rows, y)
        began = time.perf_counter()
        if cell.task == "audit":
            score_labels(model, rows, y, executor=executor)
        elif cell.task == "read":
            for a in range(0, len(rows), 512):
                rows[a : a + 512]
        elif cell.task == "gemm":
            block = rows[:512]
            for _ in range(0, len(rows), 512):
                block.T @ block
        else:
            model = RobustGaussianClassifier(cell.task, random_state=0, **settings)
            model.fit(rows, y, executor=executor)
        return time.perf_counter() - began


def measure(cell: Cell, folder: Path) -> dict:
    """One cell in a process of its own."""
    command = [sys.executable, __file__, "--cell", json.dumps(asdict(cell)), "--folder", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[-1][:300] if done.stderr else "killed"}
    return json.loads(done.stdout.splitlines()[-1])


def run_cell(cell: Cell, folder: Path) -> None:
    """What the process of a cell does: it prints what it measured."""
    import warnings

    warnings.simplefilter("ignore")
    seconds = work(cell, make_store(cell, folder))
    own, children = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(json.dumps({"seconds": seconds, "peak_mb": own, "worker_mb": children}))


def load(path: Path) -> dict:
    """What was measured before."""
    return json.loads(path.read_text()) if path.exists() else {"cells": {}}


def save(path: Path, results: dict) -> None:
    """Write it, whole or not at all."""
    from rehead.files.persist import write_atomically

    write_atomically(path, json.dumps(results, indent=1).encode())


def page(results: dict) -> str:
    """What was measured, as a table."""
    lines = ["| task | samples | classes | workers | s | us a sample | peak MB | a worker, MB |"]
    lines.append("| --- " * 8 + "|")
    for found in results["cells"].values():
        of = Cell(**found["cell"])
        if "error" in found:
            said = f"{found['error']} | | | |"
        else:
            each = 1e6 * found["seconds"] / of.samples
            memory = f"{found['peak_mb']:.0f} | {found['worker_mb']:.0f} |"
            said = f"{found['seconds']:.2f} | {each:.1f} | {memory}"
        lines.append(f"| {of.task} | {of.samples} | {of.classes} | {of.workers} | {said}")
    return "\n".join(lines)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--folder", type=Path, help="where stores are made, and kept")
    parser.add_argument("--most", type=int, default=SAMPLES[-1], help="samples, at most")
    parser.add_argument("--cell")
    asked = parser.parse_args()
    if asked.cell:
        run_cell(Cell(**json.loads(asked.cell)), asked.folder)
        return
    results = load(asked.output)
    if asked.page:
        print(page(results))
        return
    with tempfile.TemporaryDirectory() as made:
        folder = asked.folder or Path(made)
        results["machine"] = {"cores": os.cpu_count(), "python": sys.version.split()[0]}
        for cell in cells(asked.tiny):
            if cell.samples > asked.most or cell.name in results["cells"]:
                continue
            found = measure(cell, folder)
            results["cells"][cell.name] = {"cell": asdict(cell), **found}
            save(asked.output, results)
            print(cell.name, found, flush=True)
    print(page(results))


if __name__ == "__main__":
    main()
