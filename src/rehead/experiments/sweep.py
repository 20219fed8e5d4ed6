"""Many cells: what is done is skipped, what was killed goes on, one network serves many tables."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import NamedTuple

from rehead.experiments.cache import Cache, digest
from rehead.experiments.cell import Cell
from rehead.experiments.plans import columns_of, source_of
from rehead.experiments.results import NOT_RUN, RAN, Result, Results
from rehead.experiments.running import missing_columns, run
from rehead.files.lock import FolderLock, LockedError

Tell = Callable[["Progress"], None]


class Progress(NamedTuple):
    """How far a sweep is.

    Attributes
    ----------
    done, total : int
        Cells.
    seconds_left : float
        A guess, from the time that networks took so far.
    result : Result, optional
        The cell that was finished last.
    """

    done: int
    total: int
    seconds_left: float
    result: Result | None = None


class SweepBusyError(RuntimeError):
    """Another sweep writes to the same folder."""


@dataclass(frozen=True)
class Sweep:
    """Where a sweep reads and writes.

    Attributes
    ----------
    results : Results
    cache : Cache
    jobs : int
        Networks that are trained at the same time, each in a process of its own.
    columns : tuple of str, optional
        Ways to predict, in place of those of each cell's table.
    """

    results: Results
    cache: Cache
    jobs: int = 1
    columns: tuple[str, ...] | None = None

    def wanted(self, cell: Cell) -> Sequence[str]:
        """Ways to predict that a cell is to have."""
        return columns_of(cell) if self.columns is None else self.columns

    def is_done(self, cell: Cell) -> bool:
        """Whether everything of a cell was measured."""
        found = self.results.read(cell)
        return found is not None and found.status == RAN and not self.missing(cell, found)

    def missing(self, cell: Cell, found: Result | None) -> list[str]:
        """Ways to predict that are missing in a result."""
        return missing_columns(found, self.wanted(cell))


def run_sweep(sweep: Sweep, cells: Sequence[Cell], tell: Tell = lambda progress: None) -> None:
    """Run all cells that are not done. Called again after it was killed, it goes on.

    A cell that fails is written as "not run" with the reason, and the others go on.

    Raises
    ------
    SweepBusyError
        If another sweep is at work on the same results.
    """
    with _alone(sweep.results):
        groups = _groups([cell for cell in cells if not sweep.is_done(cell)])
        clock = _Clock(len(groups), sum(map(len, groups)), max(1, sweep.jobs))
        tell(clock.progress(None))
        for results in _finished(sweep, groups):
            clock.network_done()
            for result in results:
                clock.done += 1
                tell(clock.progress(result))


class _Clock:
    """Guesses the time that is left."""

    def __init__(self, networks: int, cells: int, jobs: int) -> None:
        self.start = time.monotonic()
        self.networks, self.total, self.jobs = networks, cells, jobs
        self.done = self.trained = 0

    def network_done(self) -> None:
        self.trained += 1

    def progress(self, result: Result | None) -> Progress:
        spent = time.monotonic() - self.start
        left = self.networks - self.trained
        guess = spent / self.trained * left if self.trained else float("nan")
        return Progress(self.done, self.total, guess, result)


@contextmanager
def _alone(results: Results) -> Iterator[None]:
    results.folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = FolderLock(results.folder)
    except LockedError as error:
        raise SweepBusyError(
            f"Another sweep writes to {results.folder}. Wait for it, or name another folder."
        ) from error
    try:
        yield
    finally:
        lock.release()


def _groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells that share a network, in the order in which they are needed first."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(digest(source_of(cell).what), []).append(cell)
    return list(groups.values())


def _finished(sweep: Sweep, groups: Sequence[list[Cell]]) -> Iterator[list[Result]]:
    """Results of groups, as they come."""
    if sweep.jobs <= 1:
        for group in groups:
            yield _run_group(sweep, group)
        return
    # Forking a process that has torch loaded can hang.
    with ProcessPoolExecutor(
        sweep.jobs,
        mp_context=get_context("spawn"),
        initializer=_begin_worker,
        initargs=(max(1, (os.cpu_count() or 1) // sweep.jobs), os.getpid()),
    ) as pool:
        waiting: list[Future[list[Result]]] = [pool.submit(_run_group, sweep, g) for g in groups]
        try:
            for future in as_completed(waiting):
                yield future.result()
        finally:
            for future in waiting:
                future.cancel()


def _begin_worker(threads: int, parent: int) -> None:
    """One share of the cores; and end with the parent, even where that was killed."""
    import torch

    torch.set_num_threads(threads)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_group(sweep: Sweep, cells: Sequence[Cell]) -> list[Result]:
    """Run cells that share a network; each is written as soon as it is done."""
    return [_run_one(sweep, cell) for cell in cells]


def _run_one(sweep: Sweep, cell: Cell) -> Result:
    earlier = sweep.results.read(cell)
    try:
        result = run(cell, sweep.cache, earlier=earlier, columns=sweep.columns)
    except Exception as error:  # one cell of a night's work; the reason is kept and shown
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(last.filename)}:{last.lineno}"
        result = Result(cell, NOT_RUN, f"{type(error).__name__}: {error} ({where})")
        if earlier is not None and earlier.measurements:
            return result  # what was measured stays
    sweep.results.write(result)
    return result
