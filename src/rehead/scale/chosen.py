"""Who does the work, as a user says it on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rehead.gaussian.tasks import run_on
from rehead.scale.cluster import LOCAL, dask_cluster
from rehead.scale.pool import process_pool


@contextmanager
def workers(jobs: int | None = None, cluster: str | None = None) -> Iterator[None]:
    """Meanwhile work on features on disk is done by ``jobs`` processes, or by a cluster.

    Without both, by the threads of this process. With ``cluster="local"``, ``jobs`` says how many
    workers there are.
    """
    if cluster is not None:
        if jobs is not None and cluster != LOCAL:
            raise ValueError("A cluster has its own workers: leave --jobs out.")
        with dask_cluster(cluster, jobs) as executor, run_on(executor):
            yield
    elif jobs is not None and jobs > 1:
        with process_pool(jobs) as executor, run_on(executor):
            yield
    else:
        yield
