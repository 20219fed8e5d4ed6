"""Work on features on disk that is done elsewhere: in other processes, or on other machines.

Rows are cut into parts as they are for threads, by their number alone. A part carries names of
files, not data, and what comes back are small sums, which are added up in order: so results are the
same to the last bit, wherever they were computed. Features in memory stay with the threads of this
process (``threads.py``): to send them would cost more than it gives.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TypeVar

from rehead._typing import Array, Features, JoinedFeatures, LazyFeatures, MappedFeatures
from rehead.gaussian.threads import n_threads, ordered_map, own_threads

WORTH_SENDING = 5e9
"""Floating point operations (about 0.1 s) below which it costs more to send work than to do it."""
FEW = 3
"""Files that an error names."""

R = TypeVar("R")


class Part(Protocol):
    """A piece of work: the features that it is about, of which it may use these rows only."""

    @property
    def features(self) -> Features: ...

    @property
    def row_numbers(self) -> Array | None: ...


P = TypeVar("P", bound=Part)


class LostWorkerError(RuntimeError):
    """A worker that did not come back."""


class Workers(NamedTuple):
    """Who does the work, how many they are, and how many parts are sent before one is back."""

    executor: Executor
    n: int
    ahead: int


_workers: ContextVar[Workers | None] = ContextVar("workers", default=None)


@contextmanager
def run_on(executor: Executor | None, ahead: int | None = None) -> Iterator[None]:
    """Meanwhile an executor does the work on features on disk.

    ``None`` leaves things as they are. ``ahead`` limits how many parts are under way at a time.
    """
    if executor is None:
        yield
        return
    if not hasattr(executor, "submit"):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor, got {type(executor).__name__}. For "
            "example: concurrent.futures.ProcessPoolExecutor(4)."
        )
    known: int = getattr(executor, "_max_workers", None) or os.cpu_count() or 1  # nobody tells
    token = _workers.set(Workers(executor, known, 2 * known if ahead is None else ahead))
    try:
        yield
    finally:
        _workers.reset(token)


def are_sent() -> bool:
    """Whether parts of work are sent to an executor just now."""
    return _workers.get() is not None


def n_workers(X: Features) -> int:
    """How many workers, or threads, there are for work on these features."""
    workers = _workers.get()
    return n_threads() if workers is None or not can_be_sent(X) else workers.n


def can_be_sent(X: Features) -> bool:
    """Whether features are names of files, and no data."""
    if isinstance(X, JoinedFeatures):
        return all(can_be_sent(part) for part in X.parts)
    if isinstance(X, MappedFeatures):
        return can_be_sent(X.X)
    return isinstance(X, LazyFeatures)


def map_parts(work: Callable[[P], R], parts: Iterable[P], flops: float, X: Features) -> Iterator[R]:
    """``map(work, parts)``, in order: by the executor where features ``X`` are on disk.

    ``work`` is a function of a module, so that it can be sent. Without an executor, or where it is
    not worth it, threads do the work.
    """
    workers = _workers.get()
    if workers is None or flops <= WORTH_SENDING or not can_be_sent(X):
        yield from ordered_map(work, parts, flops)
        return
    ahead: deque[tuple[Future[R], P]] = deque()
    try:
        for part in parts:
            ahead.append((_submit(workers.executor, work, part), part))
            if len(ahead) > workers.ahead:
                yield _result(*ahead.popleft())
        while ahead:
            yield _result(*ahead.popleft())
    finally:
        for future, _ in ahead:
            future.cancel()


def _submit(executor: Executor, work: Callable[[P], R], part: P) -> Future[R]:
    try:
        return executor.submit(do_part, work, part)
    except BrokenExecutor as error:
        raise _lost(part, error) from error


def _result(future: Future[R], part: P) -> R:
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise _lost(part, error) from error


def do_part(work: Callable[[P], R], part: P) -> R:
    """What a worker does: one part, with one thread."""
    with own_threads():
        return work(part)


def _lost(part: Part, error: Exception) -> LostWorkerError:
    files = files_behind(part.features, part.row_numbers)
    shown = ", ".join(files[:FEW]) + (f" and {len(files) - FEW} more" if len(files) > FEW else "")
    return LostWorkerError(
        f"A worker was lost while it, or another one, worked on rows of {shown} ({error}). Was it "
        "killed, or out of memory? Nothing was written. Run it again, with fewer workers if memory "
        "is short."
    )


def files_behind(X: Features, rows: Array | None = None) -> list[str]:
    """The files that rows of features are in."""
    if isinstance(X, MappedFeatures):
        return files_behind(X.X, rows)
    if isinstance(X, JoinedFeatures):
        if X.rows is not None:
            rows = X.rows if rows is None else X.rows[rows]
        return [file for part in X.parts for file in files_behind(part, rows)]
    found: Any = getattr(X, "files_of", None)
    return [] if found is None else list(found(slice(None) if rows is None else rows))
