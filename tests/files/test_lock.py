"""One writer at a time: held by the living, let go by the dead."""

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from rehead.files.lock import LOCK, FolderLock, LockedError

HOLDER = """
import sys, time
from rehead.files.lock import FolderLock
lock = FolderLock(sys.argv[1])
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_one_is_refused_until_the_first_is_released(tmp_path):
    first = FolderLock(tmp_path)
    assert first.works
    with pytest.raises(LockedError):
        FolderLock(tmp_path)
    first.release()
    first.release()
    FolderLock(tmp_path).release()


def test_a_process_that_was_killed_holds_nothing(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    with pytest.raises(LockedError):
        FolderLock(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert (tmp_path / LOCK).exists()
    FolderLock(tmp_path).release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are not copies of their parent")
def test_a_child_does_not_keep_the_lock_of_its_parent(tmp_path):
    """The workers of a loader outlive a killed parent for some seconds."""
    lock = FolderLock(tmp_path)
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    child.start()
    try:
        with pytest.raises(LockedError):
            FolderLock(tmp_path)
        lock.release()
        for _ in range(200):  # the child may not have run yet
            try:
                FolderLock(tmp_path).release()
                break
            except LockedError:
                time.sleep(0.05)
        else:
            pytest.fail("the child keeps the lock")
    finally:
        child.kill()
        child.join()


def test_a_file_system_without_locks_says_so(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    lock = FolderLock(tmp_path)
    assert not lock.works
    lock.release()


def test_other_failures_are_not_taken_for_a_lock(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(errno.EIO, "broken disk")

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(OSError, match="broken disk") as caught:
        FolderLock(tmp_path)
    assert not isinstance(caught.value, LockedError)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"\.lock"):
        FolderLock(tmp_path / "s")
    assert not (tmp_path / "elsewhere").exists()
