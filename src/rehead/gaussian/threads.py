"""Work in as many threads as the linear algebra may use."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
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


def n_threads() -> int:
    """How many threads BLAS may use now: ``OMP_NUM_THREADS`` and threadpoolctl set it."""
    return max((library["num_threads"] for library in _controller().info()), default=1)


def ordered_map(work: Callable[[T], R], items: Iterable[T], flops: float) -> Iterator[R]:
    """``map(work, items)``, in threads where ``flops`` is large enough to be worth it.

    One thread for each item scales better than threads inside each matrix product: gathering,
    centring and selecting rows then run in parallel too. Results come in order, and only a few
    items run ahead of the reader, so that their results do not pile up.
    """
    threads = n_threads() if flops > WORTH_IT else 1
    if threads == 1:
        yield from map(work, items)
        return
    with _controller().limit(limits=1), ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[R]] = deque()
        for item in items:
            ahead.append(pool.submit(work, item))
            if len(ahead) > 2 * threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def ranges(n: int, flops: float, size: int) -> list[slice]:
    """Cut ``n`` rows into a few ranges for :func:`ordered_map`, multiples of ``size`` rows long."""
    parts = min(4 * n_threads(), -(-n // size)) if flops > WORTH_IT else 1
    step = max(-(-n // max(parts, 1)), 1)
    step = -(-step // size) * size
    return [slice(a, min(a + step, n)) for a in range(0, n, step)]
