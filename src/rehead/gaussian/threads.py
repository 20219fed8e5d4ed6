"""Work in as many threads as the linear algebra may use."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

WORTH_IT = 5e8
"""Floating point operations (about 10 ms) below which starting threads costs more than it gives."""


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")


_ours: ContextVar[int | None] = ContextVar("threads that own_threads() took over", default=None)


def n_threads() -> int:
    """How many threads may be used: ``OMP_NUM_THREADS`` and threadpoolctl set it."""
    taken = _ours.get()
    if taken is not None:
        return taken
    return max((library["num_threads"] for library in _controller().info()), default=1)


@contextmanager
def own_threads(flops: float) -> Iterator[None]:
    """Take the threads over from BLAS while a large piece of work is done.

    One thread for each class scales better than threads inside each matrix product: gathering,
    centring and selecting rows then run in parallel too. BLAS gets none in the meantime; its idle
    threads would spin, and slow ours down.
    """
    threads = n_threads() if flops > WORTH_IT else 1
    if threads == 1:
        yield
        return
    token = _ours.set(threads)
    try:
        with _controller().limit(limits=1):
            yield
    finally:
        _ours.reset(token)


def ordered_map(work: Callable[[T], R], items: Iterable[T], flops: float) -> Iterator[R]:
    """``map(work, items)``, in threads where ``flops`` is large enough to be worth it.

    Results come in order, and no more items run ahead of the reader than there are threads, so
    that their results do not pile up.
    """
    threads = n_threads() if flops > WORTH_IT else 1
    if threads == 1:
        yield from map(work, items)
        return
    with own_threads(flops), ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[R]] = deque()
        for item in items:
            ahead.append(pool.submit(work, item))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def ranges(n: int, flops: float, size: int) -> list[slice]:
    """Cut ``n`` rows into a few ranges for :func:`ordered_map`, multiples of ``size`` rows long."""
    parts = min(4 * n_threads(), -(-n // size)) if flops > WORTH_IT else 1
    step = max(-(-n // max(parts, 1)), 1)
    step = -(-step // size) * size
    return [slice(a, min(a + step, n)) for a in range(0, n, step)]
