"""Work in as many threads as the linear algebra may use, with results that do not depend on them.

Sums come out the same to the last bit however many threads there are, and whatever else runs in the
process, since

- BLAS has one thread while we work: how it splits a product depends on how many it has;
- rows are cut into ranges by their number alone, and what the ranges give is added up in order.

The number of BLAS threads belongs to the process, not to a thread of it. So the first one in takes
them, and only the last one out gives them back.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

WORTH_IT = 5e8
"""Floating point operations (about 10 ms) below which starting threads costs more than it gives."""
TRIES = 100
"""How often it is tried to set the threads of BLAS."""
PARTS = 32
"""Ranges that rows are cut into, at most. It must not depend on the number of threads."""


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")


def _limits() -> list[int]:
    """Threads of each BLAS of the process: numpy and scipy bring one each."""
    return [library.get_num_threads() or 1 for library in _controller().lib_controllers]


def _set_limits(limits: list[int]) -> None:
    """Set the threads of each BLAS, from whichever thread.

    threadpoolctl lets one thread of the process set them, and ignores others without a word. Here
    the first one in is often not the last one out, so that right is taken, and given up again.
    """
    for library, limit in zip(_controller().lib_controllers, limits, strict=True):
        anyone = getattr(library, "clear_controlling_thread", None)
        for _ in range(TRIES):  # another thread may take the right just now
            if anyone is not None:
                anyone(force=True)
            library.set_num_threads(limit)
            if library.get_num_threads() == limit:
                break
        if anyone is not None:
            anyone(force=True)


class _Taken:
    """The threads of BLAS: who has taken them, how many they were, and how to give them back."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holders = 0
        self.before = [1]

    @property
    def threads(self) -> int:
        return max(self.before, default=1)

    def take(self) -> None:
        with self.lock:
            if self.holders == 0:
                self.before = _limits()
                if self.threads > 1:
                    _set_limits([1] * len(self.before))
            self.holders += 1

    def give_back(self) -> None:
        with self.lock:
            self.holders -= 1
            if self.holders == 0:
                self.restore()

    def restore(self) -> None:
        if self.threads > 1:
            _set_limits(self.before)

    def after_fork(self) -> None:
        """A child process has none of the threads that hold something."""
        self.lock, held, self.holders = threading.Lock(), self.holders, 0
        if held:
            self.restore()


class _Mine(threading.local):
    """How many times this thread has taken over (only the outermost time counts).

    A worker belongs to a thread that has taken over for both.
    """

    depth = 0
    worker = False


_taken, _mine = _Taken(), _Mine()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_taken.after_fork)


def n_threads() -> int:
    """How many threads may be used: ``OMP_NUM_THREADS`` and threadpoolctl set it.

    Those who work at the same time share them.
    """
    with _taken.lock:
        if _taken.holders:
            return max(_taken.threads // _taken.holders, 1)
    return max(_limits(), default=1)


@contextmanager
def own_threads() -> Iterator[None]:
    """Take the threads over from BLAS while a piece of work is done.

    One thread for each class scales better than threads inside each matrix product: gathering,
    centring and selecting rows then run in parallel too. BLAS gets none in the meantime; its idle
    threads would spin, and slow ours down. Also a decorator.
    """
    if _mine.depth == 0:
        _taken.take()
    _mine.depth += 1
    try:
        yield
    finally:
        _mine.depth -= 1
        if _mine.depth == 0:
            _taken.give_back()


def ordered_map(work: Callable[[T], R], items: Iterable[T], flops: float) -> Iterator[R]:
    """``map(work, items)``, in threads where ``flops`` is large enough to be worth it.

    Results come in order, and no more items run ahead of the reader than there are threads, so
    that their results do not pile up. The caller has taken the threads over (:func:`own_threads`).
    """
    threads = n_threads() if flops > WORTH_IT and not _mine.worker else 1
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, initializer=_become_worker) as pool:
        ahead: deque[Future[R]] = deque()
        for item in items:
            ahead.append(pool.submit(work, item))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _become_worker() -> None:
    _mine.depth, _mine.worker = 1, True


def ranges(n: int, flops: float, size: int) -> list[slice]:
    """Cut ``n`` rows into a few ranges for :func:`ordered_map`, multiples of ``size`` rows long."""
    parts = min(PARTS, -(-n // size)) if flops > WORTH_IT else 1
    step = max(-(-n // max(parts, 1)), 1)
    step = -(-step // size) * size
    return [slice(a, min(a + step, n)) for a in range(0, n, step)]
