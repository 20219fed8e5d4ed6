"""A run that was killed, started again, ends like one that was not. See ``killed.py``."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from .killed import CASES, RUNS, Case

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
BY_NAME = pytest.mark.parametrize("case", CASES, ids=[case.folder for case in CASES])


@pytest.fixture(scope="module")
def left(tmp_path_factory) -> Path:
    """What is left of each killed run."""
    folder = tmp_path_factory.mktemp("killed")
    script = Path(__file__).with_name("killed.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return folder


@cache
def uninterrupted(name: str):
    return RUNS[name](None)


@cache
def resumed(case: Case, folder: Path):
    return RUNS[case.run](folder / case.folder)


def without_seconds(history: list[dict]) -> list[dict]:
    return [
        {k: v for k, v in entry.items() if k not in ("seconds", "cpu_seconds")} for entry in history
    ]


@BY_NAME
def test_a_killed_run_ends_with_the_same_weights(case: Case, left: Path, same) -> None:
    found, expected = resumed(case, left), uninterrupted(case.run)
    assert len(found.nets) == len(expected.nets)
    assert all(same(a, b) for a, b in zip(found.nets, expected.nets, strict=True))


@BY_NAME
def test_a_killed_run_ends_with_the_same_history(case: Case, left: Path) -> None:
    found, expected = resumed(case, left), uninterrupted(case.run)
    assert without_seconds(found.history) == without_seconds(expected.history)


@BY_NAME
def test_a_killed_run_ends_with_the_same_memory(case: Case, left: Path) -> None:
    found, expected = resumed(case, left).memory, uninterrupted(case.run).memory
    assert set(found) == set(expected)
    for name in found:
        assert torch.equal(found[name], expected[name]), name


@BY_NAME
def test_the_log_of_a_killed_run_has_each_epoch_once_in_order(case: Case, left: Path) -> None:
    history = resumed(case, left).history
    for log in (left / case.folder).rglob("log.jsonl"):
        entries = [json.loads(line) for line in log.read_text().splitlines()]
        assert [entry["epoch"] for entry in entries] == [1, 2, 3, 4, 5]
    own = (left / case.folder / "log.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in own] == history


@BY_NAME
def test_the_weights_on_disk_are_those_returned(case: Case, left: Path) -> None:
    state = resumed(case, left).net.state_dict()
    written = load_file(left / case.folder / "net.safetensors")
    assert set(written) == set(state)
    assert all(torch.equal(written[name], state[name]) for name in state)


@BY_NAME
def test_nothing_half_written_stays_behind(case: Case, left: Path) -> None:
    resumed(case, left)
    assert [path.name for path in (left / case.folder).rglob(".*")] == []
