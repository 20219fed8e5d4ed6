"""Many cells: what is done is skipped, what was killed goes on, one network serves many tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from rehead.experiments.cache import Cache, digest
from rehead.experiments.cell import Cell
from rehead.experiments.plans import columns_of, source_of
from rehead.experiments.results import NO_DATA, NOT_RUN, RAN, Result, Results
from rehead.experiments.running import is_same_source, missing_columns, reason_of, run
from rehead.files.lock import FolderLock, LockedError
from rehead.scale import dask_cluster, process_pool

Tell = Callable[["Progress"], None]
_ABSENT: dict[tuple[str, str], str] = {}
"""Data sets that are not there, and why: a process looks (and tries to download) once a sweep."""


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


class SweepBusyError(OSError):
    """Another sweep writes to the same folder."""


class SweepBrokenError(OSError):
    """A process of a sweep was killed."""


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
    anew : bool
        Measure again what another version of rehead measured.
    cluster : str, optional
        A Dask cluster that does the work, as :func:`rehead.scale.dask_cluster` takes it. Its
        workers must see results, cache and data under the same names.
    """

    results: Results
    cache: Cache
    jobs: int = 1
    columns: tuple[str, ...] | None = None
    anew: bool = False
    cluster: str | None = None

    def wanted(self, cell: Cell) -> Sequence[str]:
        """Ways to predict that a cell is to have."""
        return columns_of(cell) if self.columns is None else self.columns

    def is_done(self, cell: Cell) -> bool:
        """Whether everything of a cell was measured, with the settings that it has now."""
        found = self.results.read(cell)
        if found is None or found.status != RAN or self.missing(cell, found):
            return False
        return is_same_source(found, source_of(cell))

    def missing(self, cell: Cell, found: Result | None) -> list[str]:
        """Ways to predict that are missing in a result."""
        return missing_columns(found, self.wanted(cell), self.anew)


def run_sweep(sweep: Sweep, cells: Sequence[Cell], tell: Tell = lambda progress: None) -> None:
    """Run all cells that are not done. Called again after it was killed, it goes on.

    A cell that fails is written as "not run" with the reason, and the others go on.

    Raises
    ------
    SweepBusyError
        If another sweep is at work on the same results.
    SweepBrokenError
        If a process was killed from outside.
    """
    with _alone(sweep.results):
        _ABSENT.clear()  # it may be there by now
        groups = _groups([cell for cell in dict.fromkeys(cells) if not sweep.is_done(cell)])
        clock = _Clock(len(groups), sum(map(len, groups)))
        tell(clock.progress(None))
        for results in _finished(sweep, groups):
            clock.network_done(any(result.status == RAN for result in results))
            for result in results:
                clock.done += 1
                tell(clock.progress(result))


class _Clock:
    """Guesses the time that is left."""

    def __init__(self, networks: int, cells: int) -> None:
        self.start = time.monotonic()
        self.networks, self.total = networks, cells
        self.done = self.trained = 0

    def network_done(self, ran: bool) -> None:
        """Count a network; one that did not run took no time that tells anything."""
        self.trained += ran
        self.networks -= not ran

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
    if sweep.jobs <= 1 and sweep.cluster is None:
        for group in groups:
            yield _run_group(sweep, group)
        return
    with _workers(sweep) as executor:
        waiting: list[Future[list[Result]]] = []
        try:
            waiting += [executor.submit(_run_group, sweep, group) for group in groups]
            for future in as_completed(waiting):
                yield future.result()
        except BrokenExecutor as error:
            raise SweepBrokenError(
                "A process of the sweep was killed, perhaps for want of memory. What was measured "
                "is kept: start it again, with fewer jobs."
            ) from error
        finally:
            for future in waiting:
                future.cancel()


def _workers(sweep: Sweep) -> AbstractContextManager[Executor]:
    if sweep.cluster is None:
        return process_pool(sweep.jobs)
    return dask_cluster(sweep.cluster, sweep.jobs)


def _run_group(sweep: Sweep, cells: Sequence[Cell]) -> list[Result]:
    """Run cells that share a network; each is written as soon as it is done."""
    results: list[Result] = []
    for cell in cells:
        results.append(_run_one(sweep, cell, results[-1] if results else None))
    return results


def _run_one(sweep: Sweep, cell: Cell, same: Result | None) -> Result:
    earlier, needs = sweep.results.read(cell), (cell.data, cell.source)
    try:
        if needs in _ABSENT:
            result = Result(cell, NO_DATA, _ABSENT[needs])
        else:
            result = run(
                cell,
                sweep.cache,
                earlier=earlier,
                columns=sweep.columns,
                same=same,
                anew=sweep.anew,
            )
    except Exception as error:  # one cell of a night's work; the reason is kept and shown
        result = Result(cell, NOT_RUN, reason_of(error, sweep.cache.folder, sweep.results.folder))
    if result.status == NO_DATA:
        _ABSENT[needs] = result.reason
    if result != earlier and (result.measurements or earlier is None or not earlier.measurements):
        sweep.results.write(result)
    return result  # else what was measured before stays
