"""``run.json``: checked before anything is made of it; a run that asks for too much is refused."""

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from rehead.experiments.runfile import read_run, write_run
from rehead.experiments.training import open_run
from rehead.files.persist import ModelFileError

RECORDED = Path(__file__).parents[1] / "files" / "written_by_0_1_0" / "format_2"


@pytest.fixture
def run(tmp_path):
    shutil.copytree(RECORDED / "run", tmp_path / "run")
    return tmp_path / "run"


def change(run, **changes):
    content = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**content, **changes}))


def change_settings(run, **changes):
    change(run, settings={**json.loads((run / "run.json").read_text())["settings"], **changes})


def test_a_run_of_version_0_1_0_is_opened():
    with np.load(RECORDED / "expected.npz") as old:
        run = open_run(RECORDED / "run")
        logits = run.net(torch.tensor(run.splits.test.X[:10])).detach().numpy()
        np.testing.assert_allclose(logits, old["run_logits"], atol=1e-6)
        np.testing.assert_array_equal(run.labels, old["run_labels"])
        np.testing.assert_array_equal(run.part("train").y, old["run_labels"])


def test_it_says_what_it_is(tmp_path, run):
    content = json.loads((run / "run.json").read_text())
    write_run(run, content)
    written = json.loads((run / "run.json").read_text())
    assert (written["format"], written["version"]) == ("rehead-run", 1)
    assert read_run(run, []) == written


def test_a_newer_run(run):
    change(run, version=2)
    with pytest.raises(ModelFileError, match=r"newer rehead \(format 2.*pip install"):
        open_run(run)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000], ids=repr)
def test_a_damaged_run(run, content):
    (run / "run.json").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"run\.json is damaged"):
        open_run(run)


@pytest.mark.parametrize(
    "options",
    [
        {"hidden": [60_000] * 60_000},
        {"hidden": [60_000, 60_000]},
        {"hidden": [2**62]},
        {"hidden": [10**30]},
        {"hidden": "no"},
        {"layers": 60_000},
    ],
    ids=lambda o: str(o)[:30],
)
def test_a_network_larger_than_the_weights_is_refused_before_it_is_made(run, options):
    change_settings(run, model_options=options)
    start = time.process_time()
    with pytest.raises(ModelFileError, match=r"net\.safetensors holds"):
        open_run(run)
    assert time.process_time() - start < 5


def test_layers_without_end_are_refused(run):
    change_settings(run, model="resnet-small", model_options={"blocks": [10**9, 1, 1]})
    with pytest.raises(ModelFileError, match="more than 4 parameters"):
        open_run(run)


def test_weights_that_are_damaged_or_missing(run):
    (run / "net.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelFileError, match="holds no weights, or is damaged"):
        open_run(run)
    (run / "net.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="no weights at"):
        open_run(run)


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": []},
        {"labels": [99] * 80},
        {"labels": [-1] * 80},
        {"labels": ["x"] * 80},
        {"labels": None},
        {"validation_labels": [0]},
        {"settings": []},
        {"accuracy": "high"},
        {"unheard of": 1},
    ],
    ids=lambda c: str(c)[:30],
)
def test_other_content(run, changes):
    change(run, **changes)
    with pytest.raises(ModelFileError, match=r"run\.json"):
        open_run(run)


@pytest.mark.parametrize(
    "changes",
    [{"rate": 2}, {"seed": -1}, {"limit": 0}, {"labels": [1]}, {"unheard of": 1}, {"data": None}],
    ids=str,
)
def test_other_settings(run, changes):
    change_settings(run, **changes)
    with pytest.raises(ModelFileError, match=r"run\.json does not hold what it should: settings\."):
        open_run(run)
