"""What the process of one cell of ``scale.py`` does: make a store, or measure a task on it."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scale_cells import Cell, Shape, store_of

CHUNK = 16_384
NOISE = 0.2
WARM = 10.0
"""Seconds for which a short task is repeated, at most ``ROUNDS`` times; the best counts."""
ROUNDS = 3
PAGE = 4096
LOOKED_AT = 64
"""Pages of a file that are looked at, to see whether they are in memory."""
MODELS = ("auto", "mcd")


def means_of(shape: Shape) -> np.ndarray:
    """Class means, so far apart that about nine of ten samples are nearest to their own.

    Among C points at right angles the largest of C normal numbers is about sqrt(2 log C).
    """
    rng = np.random.default_rng(3)
    length = np.sqrt(2 * np.log(shape.classes)) + 1.0
    means = rng.standard_normal((shape.classes, shape.width), dtype="f4")
    return means * np.float32(length / np.sqrt(shape.width))


def chunk(
    shape: Shape, number: int, means: np.ndarray, by_class: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, given labels and true ones of some samples: the same in every run.

    A fifth of the labels is drawn anew. Rows are class by class, as `rehead partition` leaves them.
    """
    n = min(CHUNK, shape.samples - number * CHUNK)
    rng = np.random.default_rng((7, number))
    given = (np.arange(n) + number * CHUNK) * shape.classes // shape.samples
    if not by_class:
        given = rng.integers(shape.classes, size=n)
    true = np.where(rng.random(n) < NOISE, rng.integers(shape.classes, size=n), given)
    X = rng.standard_normal((n, shape.width), dtype="f4")
    X += means[true]
    return X.astype("f2"), given, true


def source_of(cell: Cell, folder: Path) -> Path:
    """The store that a cell reads; that which is to be partitioned has rows in any order."""
    store = store_of(cell.shape, folder)
    return store.with_name(f"{store.name}-raw") if cell.task == "partition" else store


def wrong_labels(store: Path) -> Path:
    """Where it is kept which labels are wrong; written last."""
    return store.with_name(f"{store.name}-wrong.npy")


def is_made(cell: Cell, folder: Path) -> bool:
    """Whether the store of a cell is there."""
    return wrong_labels(source_of(cell, folder)).exists()


def make_store(cell: Cell, folder: Path) -> None:
    """Write the store of a cell, and which of its labels are wrong."""
    from rehead.files.store import Chunk, StoreWriter

    shape, target = cell.shape, source_of(cell, folder)
    shutil.rmtree(target, ignore_errors=True)  # what was left half-written
    means, wrong, by_class = means_of(shape), [], cell.task != "partition"
    with (
        StoreWriter(target, ["x"], fingerprint="made") as writer,
        ThreadPoolExecutor(2) as pool,
    ):
        numbers = range(-(-shape.samples // CHUNK))
        for first in numbers[::8]:  # no more in memory at a time
            some = numbers[first : first + 8]
            made = pool.map(lambda k: chunk(shape, k, means, by_class), some)
            for number, (X, given, true) in zip(some, made, strict=True):
                ids = np.arange(number * CHUNK, number * CHUNK + len(given))
                writer.append(Chunk({"x": X}, given, ids, np.zeros((len(ids), 0), "f4"), True))
                wrong.append(true != given)
        writer.finish()
    os.sync()  # what is still to be written would disturb what is measured
    np.save(wrong_labels(target), np.concatenate(wrong))


def drop_pages(store: Path) -> float | None:
    """Ask the system to forget the files; the share of pages that are still in memory.

    None where that cannot be seen.
    """
    shares = []
    for file in sorted(store.glob("*.npy")):
        handle = os.open(file, os.O_RDONLY)
        try:
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            shares.append(_in_memory(handle))
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise
            return None
        finally:
            os.close(handle)
    return float(np.mean(shares))


def _in_memory(handle: int) -> float:
    """The share of some pages of a file that can be read without waiting for the disk."""
    last = max(os.fstat(handle).st_size - 1, 0) // PAGE
    pages, buffer, found = np.unique(np.linspace(0, last, LOOKED_AT).astype(int)), bytearray(1), 0
    for page in pages.tolist():
        try:
            os.preadv(handle, [buffer], page * PAGE, os.RWF_NOWAIT)
            found += 1
        except BlockingIOError:
            pass
    return found / len(pages)


def high_water(pid: int | str = "self") -> int:
    """Bytes of memory that a process had at most (VmHWM), mapped files included; 0 if it ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((1024 * int(x.split()[1]) for x in lines if x.startswith("VmHWM")), 0)


def children(pid: int | str = "self") -> Iterator[int]:
    """The processes that a process started, and those that they started."""
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found = [int(child) for child in file.read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in found:
            yield child
            yield from children(child)


class Watch(threading.Thread):
    """Looks at the memory of child processes now and then, as they may end before the task does."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most: dict[int, int] = {}
        self.over = threading.Event()

    def look(self) -> None:
        """Once."""
        for child in children():
            self.most[child] = max(self.most.get(child, 0), high_water(child))

    def run(self) -> None:
        """Until it is over."""
        while not self.over.wait(0.2):
            self.look()

    @property
    def total(self) -> int:
        return sum(self.most.values())


@contextmanager
def executor_of(workers: str) -> Iterator[Executor | None]:
    """Who does the work; its processes have started, and have imported what they need."""
    from rehead.scale import dask_cluster, process_pool

    kind, _, number = workers.rpartition("-")
    if kind not in ("pool", "dask"):
        yield None
        return
    start = dask_cluster("local", int(number)) if kind == "dask" else process_pool(int(number))
    with start as executor:
        waiting = [executor.submit(load_everything) for _ in range(4 * int(number))]
        for future in waiting:
            future.result()
        yield executor


def load_everything() -> None:
    """Fit and judge a little, for which all is imported; slowly, so that each worker does it."""
    from rehead import RobustGaussianClassifier, score_labels

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2), dtype="f4"), np.arange(60) % 2
    score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
    time.sleep(0.5)


def checksum_of(fitted: Any) -> str:
    """A hash of all arrays that a fit, or a report, has."""
    found = hashlib.sha256()
    for name, value in sorted(vars(fitted).items()):
        if isinstance(value, np.ndarray):
            found.update(f"{name} {value.dtype.str} {value.shape}".encode())
            found.update(np.ascontiguousarray(value).tobytes())
    return found.hexdigest()[:16]


def sgemm_rate(n: int = 1024) -> float:
    """Gflop/s of a product of two matrices, the best of some, with the threads of this process."""
    A = np.random.default_rng(0).standard_normal((n, n), dtype="f4")
    best = float("inf")
    for _ in range(10):
        began = time.perf_counter()
        A @ A
        best = min(best, time.perf_counter() - began)
    return 2.0 * n**3 / best / 1e9


def model_file(cell: Cell, estimator: str, folder: Path) -> Path:
    """Where a fit leaves its model, for an audit."""
    return folder / f"{estimator}-{cell.shape.name}.safetensors"


def model_of(cell: Cell, folder: Path) -> Path:
    """The model that an audit judges by: that of the default if it was fitted."""
    for estimator in MODELS:
        file = model_file(cell, estimator, folder)
        if file.exists():
            return file
    raise FileNotFoundError(f"No model was fitted on {cell.shape.name}: measure mcd or auto first.")


def task_of(cell: Cell, folder: Path, executor: Executor | None) -> Callable[[], dict[str, Any]]:
    """What is timed; it returns what is to be kept of it."""
    from rehead import RobustGaussianClassifier, score_labels
    from rehead.files.store import FeatureStore

    store = store_of(cell.shape, folder)
    # Checksums are compared before what is warm is timed, and during what is cold.
    opened = FeatureStore(store, verify=not cell.cold)
    task = cell.task.removeprefix("trace-")
    model = RobustGaussianClassifier.load(model_of(cell, folder)) if task == "audit" else None

    def fit() -> dict[str, Any]:
        settings: Any = {"feature_map": "none"} if task == "auto" else {}
        fitted = RobustGaussianClassifier(task, random_state=0, **settings)
        fitted.fit(opened.rows("x"), opened.labels, executor=executor)
        return {"fitted": fitted, "checksum": checksum_of(fitted)}

    def audit() -> dict[str, Any]:
        report = score_labels(model, opened.rows("x"), opened.labels, executor=executor)
        found = {"checksum": checksum_of(report), "model": model_of(cell, folder).name}
        return found | how_right(report.suspect, store)

    return audit if task == "audit" else fit


def how_right(flagged: np.ndarray, store: Path) -> dict[str, float]:
    """How many labels are flagged, and how many of them, and of all wrong ones, rightly."""
    wrong = np.load(wrong_labels(store))
    right = float((flagged & wrong).sum())
    found = max(float(flagged.sum()), 1.0)
    return {"flagged": found, "precision": right / found, "recall": right / float(wrong.sum())}


def timed(cell: Cell, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Seconds of a task, the best of some rounds where it is short, and what came of it."""
    seconds: list[float] = []
    while not seconds or (not cell.cold and len(seconds) < ROUNDS and sum(seconds) < WARM):
        began = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - began)
    return {"seconds": min(seconds), "all_seconds": [round(s, 4) for s in seconds], **found}


def measure_fit(cell: Cell, folder: Path) -> dict[str, Any]:
    """A fit or an audit: seconds and peak memory."""
    watch, found = Watch(), {}
    if cell.cold:
        found["in_memory_before"] = drop_pages(store_of(cell.shape, folder))
    began = time.perf_counter()
    with executor_of(cell.workers) as executor:
        started = time.perf_counter() - began
        if executor is not None:
            watch.start()
        before = high_water()
        found |= timed(cell, task_of(cell, folder, executor))
        watch.look()
    watch.over.set()
    found |= {"before": before, "process": high_water(), "workers": watch.total, "start": started}
    fitted = found.pop("fitted", None)
    if fitted is not None:
        fitted.save(model_file(cell, cell.task, folder))
    return found


def measure_read(cell: Cell, folder: Path) -> dict[str, Any]:
    """Read the files of the features once, as bytes; then compare them with their checksums."""
    from rehead.files.store import FeatureStore

    store, buffer = store_of(cell.shape, folder), bytearray(2**20)
    found: dict[str, Any] = {}
    if cell.cold:
        found["in_memory_before"] = drop_pages(store)
    began = time.perf_counter()
    for file in sorted(store.glob("layer0-*.npy")):
        with open(file, "rb", buffering=0) as handle:
            while handle.readinto(buffer):
                pass
    found["seconds"] = time.perf_counter() - began
    if not cell.cold:
        began = time.perf_counter()
        FeatureStore(store, verify=True)
        found["verified"] = time.perf_counter() - began
    return found | {"process": high_water(), "workers": 0}


def measure_partition(cell: Cell, folder: Path) -> dict[str, Any]:
    """Rewrite a store whose rows are in any order class by class."""
    from rehead.files.partition import partition_store

    source, target = source_of(cell, folder), folder / f"{cell.shape.name}-by-class"
    shutil.rmtree(target, ignore_errors=True)
    began = time.perf_counter()
    partition_store(source, target)
    found = {"seconds": time.perf_counter() - began, "process": high_water(), "workers": 0}
    shutil.rmtree(target)
    return found


def measure_empty(cell: Cell, folder: Path) -> dict[str, Any]:
    """Tasks that do nothing: what an executor itself takes for each."""
    with executor_of(cell.workers) as executor:
        assert executor is not None
        began = time.perf_counter()
        waiting = [executor.submit(os.getpid) for _ in range(cell.shape.samples)]
        for future in waiting:
            future.result()
        seconds = time.perf_counter() - began
    return {"seconds": seconds, "process": high_water(), "workers": 0}
