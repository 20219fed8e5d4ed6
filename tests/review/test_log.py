"""The log: durable, append-only, idempotent, and clear about what it cannot be used for."""

import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from rehead.review.log import DecisionLog, Entry, Line, LogError, Run, label_to_json

RUN = Run("data", "head", np.array([4, 2, 9]))


def entry(client="c1", who="Ann", sample="4", kind="decision", n=1):
    lines = [Line(f"{int(sample) + i}", "keep", '"a"', '"a"', "suspect", 0.5) for i in range(n)]
    return Entry(client, kind, who, [] if kind == "undo" else lines, "head")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "decisions.sqlite"


def test_lines_come_back_as_they_were_written_also_after_a_restart(path):
    with DecisionLog(path, RUN) as log:
        assert log.append([entry()])[0].lines == (1,)
        seed, secret = log.seed, log.secret
    with DecisionLog(path, RUN) as log:
        (line,) = log.lines()
        assert (line.client, line.sample, line.action, line.who) == ("c1", "4", "keep", "Ann")
        assert (line.reason, line.probability, line.head) == ("suspect", 0.5, "head")
        assert line.at.endswith("+00:00")
        assert (log.seed, log.secret) == (seed, secret)
        assert log.suspects.tolist() == [4, 2, 9]
        assert log.lines(after=1) == []


def test_the_disk_is_waited_for(path):
    with DecisionLog(path, RUN) as log:
        assert log._base.execute("PRAGMA synchronous").fetchone() == (2,)
        assert log._base.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_repeated_entry_is_written_once(path):
    with DecisionLog(path, RUN) as log:
        first = log.append([entry(n=3)])[0]
        again = log.append([entry(n=3)])[0]
        assert first.lines == again.lines == (1, 2, 3)
        assert not first.repeated
        assert again.repeated
        assert len(log.lines()) == 3


def test_lines_cannot_be_changed_or_removed(path):
    with DecisionLog(path, RUN) as log:
        log.append([entry()])
        for statement in ("UPDATE lines SET who = 'Bo'", "DELETE FROM lines"):
            with pytest.raises(sqlite3.IntegrityError, match="only added to"):
                log._base.execute(statement)


def test_undo_goes_as_far_back_as_one_likes_also_after_a_restart(path):
    with DecisionLog(path, RUN) as log:
        log.append([entry("c1"), entry("c2", sample="2", n=5), entry("d1", who="Bo", sample="9")])
    with DecisionLog(path, RUN) as log:
        undone = [log.append([entry(f"u{i}", kind="undo")])[0].undone for i in range(3)]
        assert undone == ["c2", "c1", None]
        assert log.append([entry("u0", kind="undo")])[0].undone == "c2"  # sent again: the same
        assert [line.who for line in log.lines() if line.kind == "decision"] == ["Ann"] * 6 + ["Bo"]


def test_the_current_state_is_a_view(path):
    with DecisionLog(path, RUN) as log:
        log.append([entry("c1"), entry("c2"), entry("c3", sample="2"), entry("u1", kind="undo")])
        current = log._base.execute("SELECT client FROM current").fetchall()
    assert current == [("c2",)]


def test_a_log_of_other_data_or_another_head_is_refused(path):
    DecisionLog(path, RUN).close()
    with pytest.raises(LogError, match=r"other samples or labels.*--log"):
        DecisionLog(path, RUN._replace(data="else"))
    with pytest.raises(LogError, match=r"another head.*--other-head"):
        DecisionLog(path, RUN._replace(head="else"))
    with DecisionLog(
        path, RUN._replace(head="else", suspects=np.array([1])), other_head=True
    ) as log:
        assert log.suspects.tolist() == [4, 2, 9]  # parts stay what they were


def test_a_log_of_a_newer_version_is_refused(path):
    with DecisionLog(path, RUN) as log:
        log._base.execute("UPDATE about SET value = 2 WHERE name = 'version'")
    with pytest.raises(LogError, match=r"newer rehead.*Update"):
        DecisionLog(path, RUN)


def test_other_files_are_refused_and_left_alone(path):
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(LogError, match="no file of decisions"):
        DecisionLog(path, RUN)
    assert path.read_bytes() == b"not a database" * 100
    other = path.with_name("other.sqlite")
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE mine (x)")
    before = other.read_bytes()
    with pytest.raises(LogError, match="holds no decisions"):
        DecisionLog(other, RUN)
    assert other.read_bytes() == before
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, other.name]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        DecisionLog(tmp_path / "no" / "d.sqlite", RUN)


def test_a_place_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(OSError, match=r"cannot be written.*--log FILE"):
        DecisionLog(tmp_path, RUN)  # a folder is no file


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_says_so(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="cannot be written"):
        DecisionLog(tmp_path / "d.sqlite", RUN)


def test_a_full_disk_loses_nothing_that_was_acknowledged(path):
    with DecisionLog(path, RUN) as log:
        log.append([entry("c1")])
        pages = log._base.execute("PRAGMA page_count").fetchone()[0]
        log._base.execute(f"PRAGMA max_page_count = {pages}")  # as if the disk ended here
        with pytest.raises(OSError, match=r"disk is full.*Make room") as full:
            log.append([entry("big", sample="10", n=4000)])
        assert full.value.errno == 28
        log._base.execute("PRAGMA max_page_count = 100000")
        assert [line.client for line in log.lines()] == ["c1"]
        log.append([entry("c2", sample="2")])
    with DecisionLog(path, RUN) as log:
        assert [line.client for line in log.lines()] == ["c1", "c2"]


def test_two_processes_write_to_one_log(path):
    DecisionLog(path, RUN).close()
    code = (
        "import sys, numpy as np\n"
        "from rehead.review.log import *\n"
        "log = DecisionLog(sys.argv[1], Run('data', 'head', np.array([4, 2, 9])))\n"
        "for i in range(40):\n"
        "    line = Line(str(i), 'keep', '1', '1', 'suspect')\n"
        "    log.append([Entry(f'{sys.argv[2]}-{i}', 'decision', sys.argv[2], [line], 'head')])\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(path), w]) for w in ("Ann", "Bo")]
    assert [process.wait(60) for process in both] == [0, 0]
    with DecisionLog(path, RUN) as log:
        assert len({line.client for line in log.lines()}) == 80


def test_labels_are_json():
    assert label_to_json(np.int64(3)) == "3"
    assert label_to_json(np.str_('é"')) == '"é\\""'
