"""A real Dask cluster on this machine: the same bits, also where a worker is killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from tests.files.test_rows import settled, spoil
from tests.scale.conftest import ROOT
from tests.test_out_of_core import same, write_store

from rehead import RobustGaussianClassifier, score_labels
from rehead.files.manifest import StoreError
from rehead.gaussian.tasks import LostWorkerError
from rehead.scale.cluster import WORKERS, dask_cluster

pytest.importorskip("distributed", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")


@pytest.fixture(scope="module")
def cluster():
    with dask_cluster("local", 2) as executor:
        yield executor


def process_and_environment():
    return os.getpid(), dict(os.environ)


def test_workers_are_set_up_before_they_start(cluster):
    pid, environment = cluster.submit(process_and_environment).result()
    assert pid != os.getpid()
    before = "distributed.nanny.pre-spawn-environ."
    wanted = {k.removeprefix(before): str(v) for k, v in WORKERS.items() if k.startswith(before)}
    assert {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "OMP_NUM_THREADS"} <= set(wanted)
    assert {name: environment.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(("estimator", "data"), [("mcd", "features"), ("auto", "few")])
def test_a_cluster_gives_what_an_array_gives(request, cluster, estimator, data):
    (X, y), rows = request.getfixturevalue(data), request.getfixturevalue(f"{data}_on_disk")
    of_array = RobustGaussianClassifier(estimator, random_state=0).fit(X, y)
    of_cluster = RobustGaussianClassifier(estimator, random_state=0).fit(rows, y, executor=cluster)
    same(of_array, of_cluster)
    same(score_labels(of_array, X, y), score_labels(of_cluster, rows, y, executor=cluster))


class KillOnce:
    """Kills the first worker that takes part in the work, with -9."""

    def __init__(self, flag):
        self.flag = flag

    def __call__(self, part):
        from rehead.gaussian.moments import class_sums  # in a worker, what it was

        try:
            os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return class_sums(part)
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_changes_nothing(
    features, features_on_disk, cluster, tmp_path, monkeypatch
):
    X, y = features
    expected = RobustGaussianClassifier("sample").fit(X, y)
    flag = tmp_path / "killed"
    monkeypatch.setattr("rehead.gaussian.moments.class_sums", KillOnce(str(flag)))
    found = RobustGaussianClassifier("sample").fit(features_on_disk, y, executor=cluster)
    assert flag.exists()
    same(expected, found)


def test_a_shard_that_is_damaged_meanwhile_is_named(features, cluster, tmp_path):
    X, y = features
    rows = write_store(tmp_path / "s", {"a": X}, y).rows("a")
    settled(tmp_path / "s" / "layer0-00002.npy")
    rows[:]  # all is well
    spoil(tmp_path / "s" / "layer0-00002.npy")
    with pytest.raises(StoreError, match=r"layer0-00002.npy is damaged"):
        RobustGaussianClassifier("mcd").fit(rows, y, executor=cluster)


def killed(part):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow  # Dask starts ten workers in vain
def test_work_that_kills_every_worker_is_an_error_that_names_the_shard(
    features, features_on_disk, cluster, monkeypatch
):
    _, y = features
    monkeypatch.setattr("rehead.gaussian.moments.class_sums", killed)
    with pytest.raises(LostWorkerError, match=r"layer0-0000\d\.npy"):
        RobustGaussianClassifier("sample").fit(features_on_disk, y, executor=cluster)


def total(flag, array, number):
    """A sum; the first worker that gets far enough is killed if there is a flag to leave."""
    array += number  # as if it were its own
    if flag is not None and number > 20:
        with suppress(FileExistsError):
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
    return float(array.sum())


def test_what_parts_have_in_common_is_sent_twice_at_most(cluster, monkeypatch):
    import distributed

    submit, sent = distributed.Client.submit, []

    def count(self, fn, *args, **kwargs):
        sent.extend(len(part) for part in args if isinstance(part, bytes))
        return submit(self, fn, *args, **kwargs)

    monkeypatch.setattr(distributed.Client, "submit", count)
    same_for_all = np.asfortranarray(np.ones((400, 500)))
    parts = [cluster.submit(total, None, same_for_all, n) for n in range(30)]
    assert [part.result() for part in parts] == [200_000.0 * (1 + n) for n in range(30)]
    assert sum(sent) < 2.1 * same_for_all.nbytes
    del sent[:]
    different = [np.full(20_000, float(n)) for n in range(8)]
    parts = [cluster.submit(total, None, array, 0) for array in different]
    assert [part.result() for part in parts] == [20_000.0 * n for n in range(8)]
    assert len(sent) == 2 * 8  # nothing is a task of its own that comes only once


def test_what_a_killed_worker_had_is_there_again(cluster, tmp_path):
    flag = tmp_path / "killed"
    same_for_all = np.ones(30_000)
    parts = [cluster.submit(total, str(flag), same_for_all, n) for n in range(30)]
    assert [part.result() for part in parts] == [30_000.0 * (1 + n) for n in range(30)]
    assert flag.exists()


@contextmanager
def started(command, *arguments):
    """A process of Dask, as people start it."""
    module = [sys.executable, "-m", f"distributed.cli.dask_{command}", *arguments]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [*sys.path, ROOT]))}
    process = subprocess.Popen(module, env=env, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def own_cluster(monkeypatch):
    """An executor, and processes of its scheduler and its only worker."""
    monkeypatch.setattr("rehead.scale.cluster.PATIENCE", 5.0)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    with (
        started("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard") as scheduler,
        started("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard") as worker,
        dask_cluster(address) as executor,
    ):
        yield executor, scheduler, worker


class KillAnother:
    """Kills another process from within a part of the work, with -9."""

    def __init__(self, pid):
        self.pid = pid

    def __call__(self, part):
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        time.sleep(0.5)


def test_a_scheduler_that_is_killed_is_an_error_that_says_what_to_do(
    features, features_on_disk, own_cluster, monkeypatch
):
    _, y = features
    executor, scheduler, _ = own_cluster
    monkeypatch.setattr("rehead.gaussian.moments.class_sums", KillAnother(scheduler.pid))
    expected = r"layer0-0000\d\.npy.*scheduler was lost: start it again.*Nothing was written"
    with pytest.raises(LostWorkerError, match=expected):
        RobustGaussianClassifier("sample").fit(features_on_disk, y, executor=executor)
    # Nor does it wait for one that is gone for good.
    with pytest.raises(LostWorkerError, match="scheduler was lost"):
        RobustGaussianClassifier("sample").fit(features_on_disk, y, executor=executor)


def test_nobody_waits_for_workers_that_are_gone(
    features, features_on_disk, own_cluster, monkeypatch
):
    _, y = features
    executor, _, worker = own_cluster
    worker.kill()
    worker.wait()
    monkeypatch.setattr("rehead.scale.cluster.PATIENCE", 0.5)
    with pytest.raises(LostWorkerError, match=r"layer0-0000\d\.npy.*has no workers any more"):
        RobustGaussianClassifier("sample").fit(features_on_disk, y, executor=executor)


class Hungry:
    """Takes more memory than there is, and holds it."""

    def __call__(self, part):
        held = []
        while True:
            held.append(b"x" * 2**25)
            time.sleep(0.02)


def test_a_worker_over_its_memory_limit_is_an_error_that_names_the_shard(
    features, features_on_disk, monkeypatch
):
    import dask
    import distributed

    _, y = features
    settings = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.target": False,
    }
    monkeypatch.setattr("rehead.scale.cluster.RETRIES", 0)
    monkeypatch.setattr("rehead.gaussian.moments.class_sums", Hungry())
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="700MB", dashboard_address=None
        ) as local,
        dask_cluster(local.scheduler_address) as executor,
        pytest.raises(LostWorkerError, match=r"layer0-0000\d\.npy.*workers died"),
    ):
        RobustGaussianClassifier("sample").fit(features_on_disk, y, executor=executor)


def test_an_address_that_does_not_answer_is_an_error_within_seconds(monkeypatch):
    monkeypatch.setattr("rehead.scale.cluster.PATIENCE", 1.0)
    began = time.monotonic()
    with (
        pytest.raises(ConnectionError, match=r"No Dask scheduler answers at tcp://127.0.0.1:1 "),
        dask_cluster("tcp://127.0.0.1:1"),
    ):
        pass
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "address", ["nonsense", "nonsense://x:1", "http://127.0.0.1:1", "tcp://127.0.0.1", ""]
)
def test_what_is_no_address_is_told_at_once(address):
    with pytest.raises(ConnectionError, match=r"looks like tcp://"), dask_cluster(address):
        pass


def test_a_scheduler_without_workers_is_an_error(monkeypatch):
    monkeypatch.setattr("rehead.scale.cluster.PATIENCE", 1.0)
    with pytest.raises(ConnectionError, match="has no workers"), dask_cluster("local", 0):
        pass
