"""A real Dask cluster on this machine: the same bits, also where a worker is killed."""

import os
import signal
import time

import pytest
from tests.files.test_rows import settled, spoil
from tests.test_out_of_core import same, write_store

from rehead import RobustGaussianClassifier, score_labels
from rehead.files.manifest import StoreError
from rehead.gaussian.tasks import LostWorkerError
from rehead.scale.cluster import TRIM, dask_cluster

pytest.importorskip("distributed", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")


@pytest.fixture(scope="module")
def cluster():
    with dask_cluster("local", 2) as executor:
        yield executor


def what_there_is():
    return os.getpid(), os.environ["MALLOC_TRIM_THRESHOLD_"], os.environ["OMP_NUM_THREADS"]


def test_workers_are_set_up_before_they_start(cluster):
    pid, trim, threads = cluster.submit(what_there_is).result()
    assert pid != os.getpid()
    assert (trim, threads) == (str(TRIM), "1")


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
        from rehead.gaussian.rows import class_sums  # in a worker, what it was

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
    monkeypatch.setattr("rehead.gaussian.rows.class_sums", KillOnce(str(flag)))
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
    monkeypatch.setattr("rehead.gaussian.rows.class_sums", killed)
    with pytest.raises(LostWorkerError, match=r"layer0-0000\d\.npy"):
        RobustGaussianClassifier("sample").fit(features_on_disk, y, executor=cluster)


def test_an_address_that_does_not_answer_is_an_error_within_seconds(monkeypatch):
    monkeypatch.setattr("rehead.scale.cluster.PATIENCE", 1.0)
    began = time.monotonic()
    with (
        pytest.raises(ConnectionError, match=r"No Dask scheduler answers at tcp://127.0.0.1:1 "),
        dask_cluster("tcp://127.0.0.1:1"),
    ):
        pass
    with pytest.raises(ConnectionError, match="No Dask scheduler"), dask_cluster("nonsense://x"):
        pass
    assert time.monotonic() - began < 10


def test_a_scheduler_without_workers_is_an_error(monkeypatch):
    monkeypatch.setattr("rehead.scale.cluster.PATIENCE", 1.0)
    with pytest.raises(ConnectionError, match="has no workers"), dask_cluster("local", 0):
        pass
