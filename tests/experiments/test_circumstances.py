"""What is written beside measurements: the time, the machine, the versions, the commit."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from rehead.experiments import circumstances


@pytest.fixture
def _new_commit():
    circumstances.commit.cache_clear()
    yield
    circumstances.commit.cache_clear()


def test_the_time_is_that_of_no_place():
    assert abs(datetime.fromisoformat(circumstances.now()) - datetime.now(UTC)).total_seconds() < 5


def test_hardware_and_versions_are_told():
    found = circumstances.hardware()
    assert found["cpu"]
    assert found["cores"] >= 1
    assert circumstances.versions()["numpy"] == np.__version__
    assert set(circumstances.versions()) >= {"python", "scipy", "scikit-learn", "torch"}


def git(folder, *command):
    who = ["-c", "user.name=A", "-c", "user.email=a@b.example"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *command], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.usefixtures("_new_commit")
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_commit_is_that_of_the_source(monkeypatch, tmp_path):
    source = tmp_path / "rehead" / "experiments" / "circumstances.py"
    source.parent.mkdir(parents=True)
    source.write_text("first")
    monkeypatch.setattr(circumstances, "__file__", str(source))
    assert circumstances.commit() == ""

    git(tmp_path, "init", "-q")
    (tmp_path / "other.py").write_text("")
    git(tmp_path, "add", "other.py")
    git(tmp_path, "commit", "-qm", "of a project that has rehead installed in it")
    circumstances.commit.cache_clear()
    assert circumstances.commit() == ""  # not the commit of that project

    estimators = tmp_path / "rehead" / "estimators.py"
    estimators.write_text("first")
    git(tmp_path, "add", str(source), str(estimators))
    git(tmp_path, "commit", "-qm", "ours")
    circumstances.commit.cache_clear()
    assert circumstances.commit() == git(tmp_path, "rev-parse", "--short=9", "HEAD")

    (tmp_path / "other.py").write_text("not of the package")
    circumstances.commit.cache_clear()
    assert not circumstances.commit().endswith("+")
    estimators.write_text("second")  # of another room
    circumstances.commit.cache_clear()
    assert circumstances.commit().endswith("+")


@pytest.mark.usefixtures("_new_commit")
def test_without_git_there_is_no_commit(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert circumstances.commit() == ""


def test_a_processor_without_a_name_is_no_error(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda path: (_ for _ in ()).throw(OSError("none")))
    assert isinstance(circumstances.hardware()["cpu"], str)
