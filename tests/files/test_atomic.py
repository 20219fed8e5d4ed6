"""Files are whole or not there; nothing is left behind, and nothing of others is touched."""

import errno
import os
import resource
import signal
import stat
import threading
from pathlib import Path

import pytest

from rehead.files import atomic
from rehead.files.atomic import replacing, write_atomically


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    """Set it for a test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def forked(work):
    """Let a process of its own do some work; its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return child


def kill_a_writer(target):
    def write():
        with replacing(target) as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    _, status = os.waitpid(forked(write), 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


class TestLeftovers:
    def test_the_next_writer_removes_what_killed_ones_left(self, tmp_path):
        target = tmp_path / "m.safetensors"
        for _ in range(3):
            kill_a_writer(target)
        assert len(names(tmp_path)) == 1, "the second and third writer removed the one before"
        write_atomically(target, b"whole")
        assert names(tmp_path) == ["m.safetensors"]
        assert target.read_bytes() == b"whole"

    def test_what_a_living_process_is_writing_stays(self, tmp_path):
        target = tmp_path / "m"
        begun, may_end = os.pipe(), os.pipe()

        def write():
            with replacing(target) as file:
                file.write(b"of the one that lives")
                os.write(begun[1], b"x")
                os.read(may_end[0], 1)
            os._exit(0)

        child = forked(write)
        os.read(begun[0], 1)
        kill_a_writer(target)
        write_atomically(target, b"ours")
        assert len(names(tmp_path)) == 2
        assert target.read_bytes() == b"ours"
        os.write(may_end[1], b"x")
        assert os.waitpid(child, 0)[1] == 0
        assert target.read_bytes() == b"of the one that lives"
        assert names(tmp_path) == ["m"]

    def test_what_a_thread_is_writing_stays(self, tmp_path):
        with replacing(tmp_path / "m") as file:
            file.write(b"outer")
            thread = threading.Thread(target=write_atomically, args=(tmp_path / "m", b"inner"))
            thread.start()
            thread.join()
            assert (tmp_path / "m").read_bytes() == b"inner"
        assert (tmp_path / "m").read_bytes() == b"outer"
        assert names(tmp_path) == ["m"]

    def test_files_of_others_stay(self, tmp_path):
        others = [
            ".m.backup",
            ".m.0123456789abcdef.tmp",
            ".mm.0123456789abcdef.rehead",
            ".m.abc123",
        ]
        for name in others:
            (tmp_path / name).write_bytes(b"precious")
        write_atomically(tmp_path / "m", b"whole")
        assert names(tmp_path) == sorted([*others, "m"])

    def test_names_that_are_patterns_too(self, tmp_path):
        target = tmp_path / "a[b]*.csv"
        kill_a_writer(target)
        write_atomically(target, b"whole")
        assert names(tmp_path) == ["a[b]*.csv"]

    def test_many_processes_that_write_one_target(self, tmp_path):
        def writer(content):
            def write():
                for _ in range(40):
                    write_atomically(tmp_path / "m", content)
                os._exit(0)

            return write

        children = [forked(writer(bytes([i]) * 1000)) for i in range(4)]
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
        assert names(tmp_path) == ["m"]
        content = (tmp_path / "m").read_bytes()
        assert len(content) == 1000
        assert len(set(content)) == 1

    def test_a_file_taken_for_a_leftover_before_it_was_locked_is_made_again(
        self, tmp_path, monkeypatch
    ):
        flock, calls = atomic.fcntl.flock, []

        def late(handle, operation):
            calls.append(handle)
            if len(calls) == 1:
                for path in tmp_path.iterdir():
                    path.unlink()
            return flock(handle, operation)

        monkeypatch.setattr(atomic.fcntl, "flock", late)
        write_atomically(tmp_path / "m", b"whole")
        assert (tmp_path / "m").read_bytes() == b"whole"
        assert len(calls) == 2

    def test_a_disk_without_locks(self, tmp_path, monkeypatch):
        kill_a_writer(tmp_path / "m")

        def unsupported(handle, operation):
            raise OSError(errno.ENOTSUP, "not supported")

        monkeypatch.setattr(atomic.fcntl, "flock", unsupported)
        write_atomically(tmp_path / "m", b"whole")
        assert (tmp_path / "m").read_bytes() == b"whole"
        assert len(names(tmp_path)) == 2, "who knows whether its writer lives"


class TestPermissions:
    @pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
    def test_a_new_file_has_those_of_any_other(self, tmp_path, umask, mask):
        umask(mask)
        write_atomically(tmp_path / "m", b"")
        assert mode(tmp_path / "m") == 0o666 & ~mask

    @pytest.mark.parametrize("before", [0o600, 0o644, 0o640, 0o666, 0o400])
    def test_a_file_that_is_replaced_keeps_its_own(self, tmp_path, umask, before):
        target = tmp_path / "m"
        target.write_bytes(b"old")
        target.chmod(before)
        write_atomically(target, b"new")
        assert (mode(target), target.read_bytes()) == (before, b"new")

    def test_a_private_file_is_not_public_while_it_is_written(self, tmp_path, umask):
        target = tmp_path / "m"
        target.write_bytes(b"old")
        target.chmod(0o600)
        with replacing(target) as file:
            file.write(b"secret")
            assert {mode(path) for path in tmp_path.iterdir()} == {0o600}

    def test_the_umask_is_never_changed(self, tmp_path, monkeypatch):
        def changed(mask):
            raise AssertionError("other threads would make files that all may write")

        monkeypatch.setattr(os, "umask", changed)
        write_atomically(tmp_path / "m", b"new")

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
    def test_owner_and_group_are_kept(self, tmp_path):
        target = tmp_path / "m"
        target.write_bytes(b"old")
        os.chown(target, 1234, 1235)
        write_atomically(target, b"new")
        assert (target.stat().st_uid, target.stat().st_gid) == (1234, 1235)

    def test_a_group_that_cannot_be_kept_loses_its_rights(self, tmp_path, monkeypatch):
        target = tmp_path / "m"
        target.write_bytes(b"old")
        target.chmod(0o664)
        there = target.stat()
        stranger = os.stat_result([*there[:5], there.st_gid + 1, *there[6:]])
        original = os.stat
        monkeypatch.setattr(
            os, "stat", lambda p, **o: stranger if Path(p) == target else original(p, **o)
        )

        def refused(*arguments):
            raise PermissionError(errno.EPERM, "not yours")

        monkeypatch.setattr(os, "fchown", refused)
        write_atomically(target, b"new")
        monkeypatch.undo()
        assert mode(target) == 0o604


class TestLinks:
    def test_a_link_is_written_through(self, tmp_path):
        (tmp_path / "far").mkdir()
        real, link = tmp_path / "far" / "real", tmp_path / "link"
        real.write_bytes(b"old")
        link.symlink_to(real)
        write_atomically(link, b"new")
        assert link.is_symlink()
        assert real.read_bytes() == b"new"
        assert names(tmp_path / "far") == ["real"]

    def test_a_link_to_nothing_makes_its_target(self, tmp_path):
        (tmp_path / "link").symlink_to("real")
        write_atomically(tmp_path / "link", b"new")
        assert (tmp_path / "real").read_bytes() == b"new"
        assert (tmp_path / "link").is_symlink()

    def test_a_link_into_a_folder_that_is_not_there(self, tmp_path):
        (tmp_path / "link").symlink_to("nowhere/real")
        with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
            write_atomically(tmp_path / "link", b"new")

    def test_a_link_to_itself(self, tmp_path):
        (tmp_path / "link").symlink_to("link")
        with pytest.raises(OSError, match=r"Cannot write .*link: Too many levels"):
            write_atomically(tmp_path / "link", b"new")
        assert names(tmp_path) == ["link"]


def fail(code):
    def failing(*arguments, **options):
        raise OSError(code, os.strerror(code))

    return failing


class TestFailures:
    @pytest.fixture
    def target(self, tmp_path):
        (tmp_path / "m").write_bytes(b"old")
        return tmp_path / "m"

    @pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
    def test_a_full_disk(self, target, monkeypatch, step):
        monkeypatch.setattr(os, step, fail(errno.ENOSPC))
        with pytest.raises(OSError, match=r"Cannot write .*/m: No space left on device.*") as error:
            write_atomically(target, b"new")
        assert error.value.errno == errno.ENOSPC
        assert target.read_bytes() == b"old"
        assert names(target.parent) == ["m"]

    def test_a_disk_that_is_full_in_the_middle(self, target):
        """The system itself refuses to write on, as it does where a disk is full."""

        def write():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
            try:
                write_atomically(target, bytes(100_000))
            except OSError as error:
                os._exit(3 if "Cannot write" in str(error) else 4)

        assert os.waitstatus_to_exitcode(os.waitpid(forked(write), 0)[1]) == 3
        assert target.read_bytes() == b"old"
        assert names(target.parent) == ["m"]

    def test_a_folder_that_may_not_be_written(self, target, monkeypatch):
        monkeypatch.setattr(os, "open", fail(errno.EACCES))
        with pytest.raises(PermissionError, match=r"Cannot write .*/m: Permission denied"):
            write_atomically(target, b"new")
        assert target.read_bytes() == b"old"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_read_only_folder(self, target):
        target.parent.chmod(0o555)
        with pytest.raises(PermissionError, match=r"Cannot write .*/m: Permission denied"):
            write_atomically(target, b"new")
        target.parent.chmod(0o755)
        assert target.read_bytes() == b"old"
        assert names(target.parent) == ["m"]

    def test_an_error_of_the_writer(self, target):
        def write():
            with replacing(target) as file:
                file.write(b"half")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            write()
        assert target.read_bytes() == b"old"
        assert names(target.parent) == ["m"]

    def test_a_folder_in_its_place(self, tmp_path):
        (tmp_path / "m").mkdir()
        with pytest.raises(IsADirectoryError, match="Cannot write"):
            write_atomically(tmp_path / "m", b"new")
        assert names(tmp_path) == ["m"]

    def test_no_folder(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere\. Make it first"):
            write_atomically(tmp_path / "nowhere" / "m", b"new")


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"content")
    reader.join()
    assert found == [b"content"]
    assert pipe.is_fifo()


def test_the_longest_names(tmp_path):
    target = tmp_path / ("ä" * 127)
    write_atomically(target, b"whole")
    assert target.read_bytes() == b"whole"
