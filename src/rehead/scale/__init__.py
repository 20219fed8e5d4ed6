"""Executors and clusters for the same fits: features on disk, worked on by other processes.

The fits themselves are in ``gaussian/``, and know nothing of processes or clusters. A
``concurrent.futures.Executor`` is all that they ask for; here are two.
"""

from rehead.checkpoint import CheckpointError, checkpoint
from rehead.gaussian.tasks import LostWorkerError, run_on
from rehead.scale.chosen import workers
from rehead.scale.cluster import dask_cluster
from rehead.scale.pool import process_pool

__all__ = [
    "CheckpointError",
    "LostWorkerError",
    "checkpoint",
    "dask_cluster",
    "process_pool",
    "run_on",
    "workers",
]
