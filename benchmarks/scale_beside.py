"""Two more kinds of cells of ``scale.py``: the parts of a fit, one by one, and cleanlab."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
from scale_cells import Cell, store_of
from scale_work import (
    Watch,
    executor_of,
    high_water,
    how_right,
    model_of,
    task_of,
    timed,
)

BLOCK = 8_192
ENOUGH = 400
"""Tasks of each function that a trace keeps."""


def run_timed(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, Any]:
    """What a worker does in place of a task: the task, and how long it took."""
    began = time.perf_counter()
    result = fn(*args)
    return time.perf_counter() - began, result


class Tracing(Executor):
    """Another executor, and what each task carried, took and gave back."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self._max_workers = getattr(executor, "_max_workers", 1)
        self.tasks: list[dict[str, Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a task of rehead (``do_part(work, part)``) away."""
        work, part = args
        task = {"work": work.__name__, "rows": rows_of(part), "sent": len(pickle.dumps(args))}
        self.tasks.append(task)
        outer: Future[Any] = Future()
        task["from"] = time.perf_counter()
        inner = self.executor.submit(run_timed, fn, args)

        def pass_on(done: Future[Any]) -> None:
            task["to"] = time.perf_counter()
            error = done.exception()
            if error is not None:
                outer.set_exception(error)
                return
            task["seconds"], result = done.result()
            task["back"] = len(pickle.dumps(result))
            outer.set_result(result)

        inner.add_done_callback(pass_on)
        return outer


def rows_of(part: Any) -> int:
    """Rows that a task works on."""
    return len(part.features) if part.row_numbers is None else len(part.row_numbers)


def busy(tasks: list[dict[str, Any]]) -> float:
    """Seconds in which there was a task under way."""
    total, until = 0.0, 0.0
    for begin, end in sorted((task["from"], task["to"]) for task in tasks):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def measure_trace(cell: Cell, folder: Path) -> dict[str, Any]:
    """The parts of a fit: rows, seconds, bytes to and from the worker; and what is done between."""
    with executor_of(cell.workers) as executor:
        tracing = Tracing(executor)
        work = task_of(cell, folder, tracing)
        began = time.perf_counter()
        work()
        seconds = time.perf_counter() - began
    functions: dict[str, Any] = {}
    for task in tracing.tasks:
        of = functions.setdefault(task["work"], {"tasks": 0, "rows": 0, "seen": []})
        of["tasks"] += 1
        of["rows"] += task["rows"]
        if len(of["seen"]) < ENOUGH:
            of["seen"].append([task["rows"], round(task["seconds"], 5), task["sent"], task["back"]])
    between = seconds - busy(tracing.tasks)
    return {
        "seconds": seconds,
        "between": between,
        "functions": functions,
        "process": high_water(),
        "workers": 0,
    }


def probabilities_file(cell: Cell, folder: Path) -> Path:
    """Where the N x C probabilities are that cleanlab reads."""
    return folder / f"probabilities-{cell.shape.name}.npy"


def measure_probabilities(cell: Cell, folder: Path) -> dict[str, Any]:
    """Write the N x C probabilities of a model that was fitted before."""
    from rehead import RobustGaussianClassifier
    from rehead.files.store import FeatureStore

    opened = FeatureStore(store_of(cell.shape, folder), verify=True)
    model = RobustGaussianClassifier.load(model_of(cell, folder))
    rows, file = opened.rows("x"), probabilities_file(cell, folder)
    began = time.perf_counter()
    shape = (cell.shape.samples, cell.shape.classes)
    written = np.lib.format.open_memmap(file, "w+", "f4", shape)
    for a in range(0, len(rows), BLOCK):
        written[a : a + BLOCK] = model.predict_proba(rows[a : a + BLOCK])
    written.flush()
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "bytes": file.stat().st_size,
        "process": high_water(),
        "workers": 0,
    }


def measure_cleanlab(cell: Cell, folder: Path) -> dict[str, Any]:
    """Its search in batches, from probabilities on disk, with as many processes as cores."""
    from cleanlab.experimental.label_issues_batched import find_label_issues_batched

    from rehead.files.store import FeatureStore

    store = store_of(cell.shape, folder)
    labels = folder / f"labels-{cell.shape.name}.npy"
    np.save(labels, FeatureStore(store).labels)
    watch = Watch()
    watch.start()
    before = high_water()

    def search() -> dict[str, Any]:
        found = find_label_issues_batched(
            labels_file=str(labels),
            pred_probs_file=str(probabilities_file(cell, folder)),
            n_jobs=cell.n_workers,
            verbose=False,
            return_mask=True,
        )
        return how_right(found, store)

    found = timed(cell, search)
    watch.over.set()
    return found | {"before": before, "process": high_water(), "workers": watch.total}
