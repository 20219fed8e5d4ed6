"""``rehead corrupt``: clean labels in, noisy labels out."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rehead import data
from rehead.experiments.noisy import TrainSettings, noisy_task

FLIP = ("--noise", "flip", "--rate")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_from_clean_labels_to_noisy_ones(succeed):
    clean = np.arange(100) % 4
    np.save("clean.npy", clean)
    common = ["corrupt", "clean.npy", "--noise", "flip", "--rate", "0.4"]
    for name in ("noisy.npy", "noisy.txt", "noisy.csv"):
        assert "40 of 100 labels changed" in succeed(*common, "-o", name)
    noisy = np.load("noisy.npy")
    assert (noisy != clean).sum() == 40
    assert Path("noisy.txt").read_text().split() == [str(c) for c in noisy]
    assert Path("noisy.csv").read_text().splitlines()[0] == "id,label,clean,changed"
    np.testing.assert_array_equal(np.load("clean.npy"), clean)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_data_set_stands_for_the_codes_that_runs_have(succeed, seed):
    told = succeed("corrupt", "digits", *FLIP, "0", "--seed", seed, "-o", "same.npy")
    assert f"--seed {seed}" in told
    same = data.load("digits", random_state=seed).train.y
    np.testing.assert_array_equal(np.load("same.npy"), same)
    options = ["--epochs", "1", "--model-option", "hidden=[5]", "--seed", seed]
    said = succeed("train", "--data", "digits", "--labels", "same.npy", *options, "-o", "run")
    assert "0.0% of the training labels are wrong" in said


def test_a_column_of_a_table_with_its_ids(succeed, fail):
    pd.DataFrame({"name": ["007", "b"] * 20, "kind": ["x", "y"] * 20}).to_csv("t.csv")
    succeed("corrupt", "t.csv", "--labels", "kind", *FLIP, "0.3", "--ids", "name", "-o", "n.csv")
    assert Path("n.csv").read_text().splitlines()[1].startswith("007,")
    parquet = ["corrupt", "t.csv:kind", *FLIP, "0.3", "-o", "n.parquet"]
    succeed(*parquet)
    made = pd.read_parquet("n.parquet")
    assert made["changed"].sum() == 12
    assert ((made["label"] != made["clean"]) == made["changed"]).all()
    assert "Did you mean 'kind'" in fail(
        "corrupt", "t.csv", "--labels", "kin", *FLIP, "0.3", "-o", "n.csv"
    )


def test_a_file_goes_before_a_data_set_of_the_same_name(fail):
    Path("digits").mkdir()
    said = fail("corrupt", "digits", "--noise", "flip", "--rate", "0", "-o", "n.npy")
    assert "not a feature store" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["digits", "--noise", "flp", "--rate", "0.1", "-o", "n.npy"], "Did you mean"),
        (["digits", "--noise", "flip", "--rate", "0.1", "-o", "n.xls"], "must end in .npy or .txt"),
    ],
)
def test_mistakes_are_one_line(fail, arguments, message):
    assert message in fail("corrupt", *arguments)


def test_no_command_writes_over_what_it_reads(fail, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("y.txt").write_text("a\nb\n" * 20)
    Path("t.csv").write_text("x,label\n" + "1,a\n2,b\n" * 20)
    for source, output in (("y.txt", "y.txt"), ("t.csv:label", "t.csv"), ("y.txt", "./y.txt")):
        said = fail("corrupt", source, "-o", output, "--noise", "uniform", "--rate", "0.3")
        assert "is what the command reads" in said
    assert Path("y.txt").read_text() == "a\nb\n" * 20


@pytest.mark.parametrize("kind", ["annotator", "part-dependent", "polynomial-margin"])
def test_noise_by_the_inputs_of_a_data_set_is_that_of_a_run(succeed, fail, kind):
    asked = ["--noise", kind, "--rate", "0.2"]
    said = succeed("corrupt", "digits", *asked, "-o", "noisy.csv")
    assert f"Which labels are wrong depends on the inputs: {kind} noise." in said
    made = pd.read_csv("noisy.csv")
    task = noisy_task(TrainSettings(data="digits", noise=kind, rate=0.2))
    np.testing.assert_array_equal(made["label"], task.labels)
    np.testing.assert_array_equal(made["clean"], task.splits.train.y)
    Path("y.txt").write_text("a\nb\n" * 20)
    said = fail("corrupt", "y.txt", *asked, "-o", "n.txt")
    assert f"rehead.noise.{kind.replace('-', '_')} in Python" in said


def test_semantic_noise_of_a_data_set_is_that_of_a_run(succeed, fail):
    semantic = ["--noise", "semantic", "--rate", "0.05"]
    said = succeed("corrupt", "digits", *semantic, "--labeller", "fcn", "-o", "noisy.csv")
    assert "The labeller, fcn, was taught on 61 clean samples." in said
    made = pd.read_csv("noisy.csv")
    assert 0.05 < made["changed"].mean() < 0.3
    task = noisy_task(TrainSettings(data="digits", noise="semantic", rate=0.05, labeller="fcn"))
    np.testing.assert_array_equal(made["label"], task.labels)
    Path("y.txt").write_text("a\nb\n" * 20)
    assert "needs inputs" in fail("corrupt", "y.txt", *semantic, "-o", "n.txt")
    assert "goes with" in fail("corrupt", "y.txt", *FLIP, "0.1", "--labeller", "fcn", "-o", "n.txt")
