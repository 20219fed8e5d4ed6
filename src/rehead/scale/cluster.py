"""Machines that Dask knows: a thin adapter, all that is imported of it."""

from __future__ import annotations

import hashlib
import os
import pickle
import re
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from typing import Any

LOCAL = "local"
PATIENCE = 10.0
"""Seconds in which a scheduler must answer, and have a worker."""
RETRIES = 2
"""How often a part is done again that failed with a worker; Dask itself tries three workers."""
KEPT = 2**28
"""Bytes that a worker may keep for its next block. By default Dask has workers give memory back at
once, and ask for it again: that doubled the time of fits."""
BLOCK = 2**25
"""Bytes of a block that is taken from what was kept, at most (as much as glibc allows). Once one of
the two is set, glibc no longer finds the other by itself: blocks of more than 128 kB were asked of
the system each time, which took a third of the time of fits."""
LARGE = 2**16
"""Bytes of an array from which on it is not sent with every part."""
REMEMBERED = 64
"""Such arrays that may come again."""
WORKERS = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": KEPT,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": BLOCK,
    "distributed.nanny.pre-spawn-environ.OMP_NUM_THREADS": 1,
    "distributed.nanny.pre-spawn-environ.OPENBLAS_NUM_THREADS": 1,
    "distributed.nanny.pre-spawn-environ.MKL_NUM_THREADS": 1,
    "distributed.worker.profile.enabled": False,  # it looks at a worker a hundred times a second
}
"""Settings of workers that are started here."""


NO_SCHEDULER = "the scheduler was lost: start it again, and workers"


class Awaited(Future[Any]):
    """A result that is waited for as long as there is someone who works on it."""

    def __init__(self, client: Any) -> None:
        super().__init__()
        self._client = client

    def result(self, timeout: float | None = None) -> Any:
        """As of any future; without workers, for some seconds only."""
        alone = 0
        while timeout is None and not wait([self], PATIENCE).done:
            alone = 0 if _has_workers(self._client) else alone + 1
            if alone == 2:  # one that was killed may be started again meanwhile
                raise BrokenExecutor("the cluster has no workers any more: start some")
        return super().result(timeout)


def _has_workers(client: Any) -> bool:
    try:
        return bool(client.nthreads())
    except OSError:  # of a scheduler that does not answer, the future itself will tell
        return False


class Shared:
    """Large arrays that parts have in common: the second part, and all others, name them.

    Each is a task of its own, which a worker asks the cluster for once, and which is done again
    where a worker is lost that had it.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._seen: dict[bytes, Any] = {}

    def sent(self, buffer: pickle.PickleBuffer) -> Any:
        """What to send for it: itself, or its name if it was sent before."""
        content = buffer.raw()
        if content.nbytes < LARGE:
            return bytes(content)
        key = hashlib.blake2b(content, digest_size=20).digest()
        known, named = key in self._seen, self._seen.pop(key, None)
        if known and (named is None or named.status in ("error", "cancelled", "lost")):
            named = self._client.submit(bytes, bytes(content), pure=False, retries=RETRIES)
        self._seen[key] = named  # the last one to be forgotten
        if len(self._seen) > REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return bytes(content) if named is None else named


class DaskExecutor(Executor):
    """The workers of a Dask client.

    A part that a worker was killed with is given to another one. Where none brings it to an end,
    that is a ``BrokenExecutor``, as it is for a pool of processes.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._shared = Shared(client)
        self._executor = client.get_executor(pure=False, retries=RETRIES)
        self._max_workers = max(sum(client.nthreads().values()), 1)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a call away, as bytes: Dask would look for its own tasks in tuples."""
        outer = Awaited(self._client)
        if self._client.status == "closed":  # it has given up
            raise BrokenExecutor(NO_SCHEDULER)
        large: list[pickle.PickleBuffer] = []
        call = pickle.dumps((fn, args, kwargs), protocol=5, buffer_callback=large.append)
        inner = self._executor.submit(_call, call, *map(self._shared.sent, large))

        def pass_on(done: Future[Any]) -> None:
            error = CancelledError() if done.cancelled() else done.exception()
            if outer.cancelled():
                return
            if error is None:
                outer.set_result(done.result())
            else:
                outer.set_exception(_as_broken(error))

        outer.add_done_callback(lambda future: future.cancelled() and inner.cancel())
        inner.add_done_callback(pass_on)
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let go of the workers; they go on living."""
        self._executor.shutdown(wait=wait and not cancel_futures)


def _call(sent: bytes, *buffers: bytes) -> Any:
    # A copy for each part: arrays may be written to, as those of a part that is sent whole.
    fn, args, kwargs = pickle.loads(sent, buffers=map(bytearray, buffers))
    return fn(*args, **kwargs)


def _as_broken(error: BaseException) -> BaseException:
    """Errors of lost workers as those of a broken pool."""
    lost = {"KilledWorker", "CommClosedError", "FutureCancelledError", "CancelledError"}
    if type(error).__name__ not in lost:
        return error
    broken = BrokenExecutor(str(error) if type(error).__name__ == "KilledWorker" else NO_SCHEDULER)
    broken.__cause__ = error
    return broken


@contextmanager
def dask_cluster(address: str = LOCAL, n: int | None = None) -> Iterator[Executor]:
    """Workers of a Dask cluster as an executor: ``pip install "rehead[dask]"``.

    Parameters
    ----------
    address : str
        Of its scheduler, as ``tcp://10.0.0.1:8786``; or "local", for ``n`` workers on this machine
        (default: one for each core). Workers elsewhere must see the files under the same names, and
        have this rehead.

    Raises
    ------
    ConnectionError
        If no scheduler answers there, or it has no workers.
    """
    try:
        import dask
        import distributed
    except ImportError as error:
        raise ImportError('A cluster needs Dask: pip install "rehead[dask]"') from error
    if address != LOCAL:
        _check_address(address)
        with _client(distributed, address) as client:
            yield DaskExecutor(client)
        return
    n = os.cpu_count() or 1 if n is None else n
    local: Any = distributed.LocalCluster  # which has no types
    with (
        dask.config.set(WORKERS),
        local(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        _client(distributed, cluster) as client,
    ):
        yield DaskExecutor(client)


def _check_address(address: str) -> None:
    """Refuse at once what cannot be one; Dask would try it for half a minute."""
    if not re.fullmatch(r"(tcp|tls|ws|wss|ucx)://\S+:\d{1,5}", address):
        raise ConnectionError(
            f"{address!r} is no address of a Dask scheduler. It looks like tcp://10.0.0.1:8786; or "
            "use local."
        )


@contextmanager
def _client(distributed: Any, address: Any) -> Iterator[Any]:
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address} ({error}). Start one with `dask scheduler`, "
            "and workers with `dask worker ADDRESS`; or use local."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ConnectionError(
                f"The Dask scheduler at {address} has no workers. Start some with `dask worker "
                f"{address}`."
            ) from error
        yield client
