"""Processes: the same bits as an array, and an error that names the shard where one is lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.files.test_rows import settled, spoil
from tests.test_out_of_core import same, write_store

from rehead import RobustGaussianClassifier, score_labels
from rehead.files.manifest import StoreError
from rehead.gaussian.tasks import LostWorkerError
from rehead.scale.pool import ONE_THREAD, environment, process_pool

pytestmark = pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")


@pytest.fixture(scope="module")
def pool():
    with process_pool(2) as executor:
        yield executor


def process_and_threads(_):
    time.sleep(0.2)  # one process alone would not do all
    return os.getpid(), {name: os.environ.get(name) for name in ONE_THREAD}


def test_all_processes_are_there_and_have_one_thread(monkeypatch):
    for name in ONE_THREAD:
        monkeypatch.delenv(name, raising=False)
    with process_pool(3) as executor:
        seen = dict(executor.map(process_and_threads, range(9)))
    assert len(seen) == 3
    assert os.getpid() not in seen
    assert list(seen.values()) == [ONE_THREAD] * 3


def test_the_environment_is_left_alone(pool):
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    with process_pool(1):
        assert {name: os.environ.get(name) for name in ONE_THREAD} == before
    with environment({"REHEAD_TEST_OF_POOL": "1"}):
        assert os.environ["REHEAD_TEST_OF_POOL"] == "1"
    assert "REHEAD_TEST_OF_POOL" not in os.environ


@pytest.mark.parametrize(("estimator", "data"), [("mcd", "features"), ("auto", "few")])
def test_a_pool_gives_what_an_array_gives(request, pool, estimator, data):
    (X, y), rows = request.getfixturevalue(data), request.getfixturevalue(f"{data}_on_disk")
    of_array = RobustGaussianClassifier(estimator, random_state=0).fit(X, y)
    of_pool = RobustGaussianClassifier(estimator, random_state=0).fit(rows, y, executor=pool)
    same(of_array, of_pool)
    same(score_labels(of_array, X, y), score_labels(of_pool, rows, y, executor=pool))


def test_a_shard_that_is_damaged_meanwhile_is_named(features, pool, tmp_path):
    X, y = features
    rows = write_store(tmp_path / "s", {"a": X}, y).rows("a")
    settled(tmp_path / "s" / "layer0-00002.npy")
    rows[:]  # all is well
    spoil(tmp_path / "s" / "layer0-00002.npy")
    with pytest.raises(StoreError, match=r"layer0-00002.npy is damaged"):
        RobustGaussianClassifier("mcd").fit(rows, y, executor=pool)


def killed(part):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_an_error_that_names_the_shard(
    features, features_on_disk, monkeypatch
):
    _, y = features
    with process_pool(2) as pool:
        monkeypatch.setattr("rehead.gaussian.moments.class_sums", killed)
        with pytest.raises(LostWorkerError, match=r"layer0-0000\d\.npy.*Nothing was written"):
            RobustGaussianClassifier("sample").fit(features_on_disk, y, executor=pool)
        with pytest.raises(LostWorkerError):  # a broken pool stays broken
            RobustGaussianClassifier("sample").fit(features_on_disk, y, executor=pool)


KILLED = """
import os, signal, time
from rehead.scale import process_pool
if __name__ == "__main__":
    with process_pool(2) as pool:
        pids = set()
        while len(pids) < 2:
            pids |= set(pool.map(pid_of, range(4)))
        print(*pids, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""
PID_OF = "import os, time\ndef pid_of(_):\n    time.sleep(0.1)\n    return os.getpid()\n"


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")  # one that nobody has buried is dead all the same
    return not status.exists() or ") Z " not in status.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="kills with -9")
def test_a_process_that_is_killed_leaves_no_workers_behind(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PID_OF + KILLED)
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2, done.stderr[-2000:]
    until = time.monotonic() + 10
    while any(map(is_alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_alive, pids))


def test_a_script_without_the_usual_if_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from rehead.scale import process_pool\nwith process_pool(2):\n    pass\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert 'needs `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]


def test_no_processes_are_no_pool():
    with pytest.raises(ValueError, match="1 process or more"), process_pool(0):
        pass
