"""One writer for many."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rehead.review.log import DecisionLog, Entry, Line, Run
from rehead.review.writer import LogWriter


def entry(i):
    return Entry(f"client-{i}", "decision", "Ann", [Line(str(i), "keep", "1", "1", "suspect")], "h")


def test_what_many_send_at_once_is_written_once_each_and_is_there_when_told(tmp_path):
    log = DecisionLog(tmp_path / "d.sqlite", Run("data", "head", np.arange(3)))
    with LogWriter(log) as writer, ThreadPoolExecutor(16) as pool:

        def send(i):
            number = writer.submit(entry(i % 150)).result(timeout=60).lines
            assert number[0] in {line.seq for line in log.lines()}

        list(pool.map(send, range(300)))
    assert sorted(line.sample for line in log.lines()) == sorted(str(i) for i in range(150))
    log.close()


def test_what_waits_is_written_before_it_ends(tmp_path):
    log = DecisionLog(tmp_path / "d.sqlite", Run("data", "head", np.arange(3)))
    writer = LogWriter(log)
    waiting = [writer.submit(entry(i)) for i in range(500)]
    writer.close()
    assert all(done.done() for done in waiting)
    assert len(log.lines()) == 500
    log.close()


def test_each_who_waits_is_told_of_a_failure(tmp_path):
    log = DecisionLog(tmp_path / "d.sqlite", Run("data", "head", np.arange(3)))
    log.close()
    with LogWriter(log) as writer:
        waiting = [writer.submit(entry(i)) for i in range(3)]
        for done in waiting:
            with pytest.raises(OSError, match=r"d\.sqlite"):
                done.result(timeout=60)
