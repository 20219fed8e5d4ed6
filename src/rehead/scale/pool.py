"""Processes on this machine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Barrier

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""What keeps linear algebra in a new process from starting threads that it never needs."""


@contextmanager
def process_pool(n: int | None = None) -> Iterator[Executor]:
    """A pool of ``n`` processes (default: one for each core), each with one thread.

    They are started anew, not forked: so a script that uses it needs the usual
    ``if __name__ == "__main__":``.

    Examples
    --------
    >>> from rehead import RobustGaussianClassifier
    >>> from rehead.files.store import FeatureStore
    >>> from rehead.scale import process_pool
    >>> def main():
    ...     store = FeatureStore("features/")
    ...     with process_pool(4) as pool:
    ...         clf = RobustGaussianClassifier().fit(
    ...             store.rows("layer4"), store.labels, executor=pool
    ...         )
    """
    n = os.cpu_count() or 1 if n is None else n
    if n < 1:
        raise ValueError(f"There must be 1 process or more, got {n}.")
    context = get_context("spawn")
    begin = (context.Barrier(n),)
    with ProcessPoolExecutor(n, mp_context=context, initializer=_begin, initargs=begin) as pool:
        with environment(ONE_THREAD):
            # A pool starts a process only when none is idle, and until all are there none is.
            _wait_for([pool.submit(os.getpid) for _ in range(n)])
        yield pool


def _wait_for(started: Sequence[Future[int]]) -> None:
    try:
        for future in started:
            future.result()
    except BrokenProcessPool as error:
        raise RuntimeError(
            "The processes of a pool ended as soon as they were started. A script that uses a pool "
            'needs `if __name__ == "__main__":` around what it does, since each process runs it '
            "first. Otherwise memory may be short: ask for fewer processes."
        ) from error


def _begin(together: Barrier) -> None:
    """Wait for the others; and end with the parent, even where that is killed.

    Workers would wait for work forever otherwise.
    """
    threading.Thread(target=_wait_for_parent, daemon=True).start()
    together.wait()


def _wait_for_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables that processes see which are started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
