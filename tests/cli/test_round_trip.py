"""The same labels in files of every format: fit, predict and audit agree on the classes."""

import numpy as np
import pandas as pd
import pytest

from rehead import LayerEnsemble

N = 60
CODES = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 2)) + 6 * CODES[:, None]

CLASSES = {
    "whole numbers": [3, 12],
    "numbers with a point": [3.0, 12.0],
    "numbers as text": ["3", "12"],
    "truths": [True, False],
    "padded numbers": ["007", "12"],
    "long numbers": ["12345678901234567890", "12345678901234567891"],
    "words": ["cat", "dog"],
    "a formula": ["=1+1", "-2+3"],
    "signs": ["+", "-"],
}
FORMATS = ["csv", "parquet", "npy", "npz", "txt"]


def write(folder, classes, form):
    """Features and labels in a format; the arguments that name them."""
    labels = [classes[c] for c in CODES]
    table = folder / f"x.{form if form in ('csv', 'parquet') else 'csv'}"
    frame = pd.DataFrame(X, columns=["a", "b"])
    if form in ("csv", "parquet"):
        frame["kind"] = labels
    frame.to_parquet(table) if form == "parquet" else frame.to_csv(table, index=False)
    if form in ("csv", "parquet"):
        return table, "kind"
    beside = folder / f"y.{form}"
    if form == "npy":
        np.save(beside, np.array(labels))
    elif form == "npz":
        np.savez(beside, labels=np.array(labels))
    else:
        beside.write_text("".join(f"{label}\n" for label in labels))
    return table, beside


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
@pytest.mark.parametrize("case", CLASSES)
def test_formats_agree(tmp_path, succeed, case):
    data = {}
    for form in FORMATS:
        folder = tmp_path / form
        folder.mkdir()
        data[form] = write(folder, CLASSES[case], form)
    found = {}
    for form, (table, labels) in data.items():
        head = tmp_path / form / "head.safetensors"
        succeed("fit", table, "--labels", labels, "--estimator", "sample", "-o", head)
        found[form] = LayerEnsemble.load(head).classes_
    for form, classes in found.items():
        assert classes.tolist() == found["csv"].tolist(), form
        assert classes.dtype == found["csv"].dtype, form
    table = data["csv"][0]
    head = tmp_path / "csv" / "head.safetensors"
    for form, (_, labels) in data.items():
        source = data[form][0] if labels == "kind" else table
        options = [] if labels == "kind" else ["--ignore", "kind"]
        fixed = tmp_path / f"fixed-{form}.csv"
        succeed("audit", head, source, "--labels", labels, *options, "--corrected", fixed)
        again = tmp_path / "again.safetensors"
        labels = f"{fixed}:label"
        succeed("fit", table, "--labels", labels, "--ignore", "kind", "-o", again)
        assert LayerEnsemble.load(again).classes_.tolist() == found["csv"].tolist()
    out = tmp_path / "predictions.csv"
    succeed("predict", head, table, "--labels", "kind", "-o", out)
    succeed("audit", head, table, "--labels", f"{out}:label", "--ignore", "kind")


def test_labels_of_some_classes_are_told_by_those_of_the_head(tmp_path, succeed):
    labels = np.array(["1", "2", "unknown"])[np.arange(N) % 3]
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(kind=labels)
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame[labels != "unknown"].to_csv(tmp_path / "some.csv", index=False)
    head = tmp_path / "head.safetensors"
    fit = ["fit", tmp_path / "all.csv", "--labels", "kind", "--estimator", "sample", "-o", head]
    succeed(*fit)
    said = succeed("audit", head, tmp_path / "some.csv", "--labels", "kind")
    assert "40 labels" in said
    frame.iloc[:, :2] += 0.01
    frame[labels != "unknown"].to_csv(tmp_path / "held-out.csv", index=False)
    succeed(*fit, "--validation", tmp_path / "held-out.csv")


def test_predict_needs_no_labels_in_their_column(tmp_path, succeed):
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(kind=np.array(["x", "y"])[CODES])
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.assign(kind="").to_csv(tmp_path / "new.csv", index=False)
    head, out = tmp_path / "head.safetensors", tmp_path / "out.csv"
    succeed("fit", tmp_path / "x.csv", "--labels", "kind", "--estimator", "sample", "-o", head)
    succeed("predict", head, tmp_path / "new.csv", "--labels", "kind", "-o", out)
    assert pd.read_csv(out)["label"].value_counts().to_dict() == {"x": 30, "y": 30}


@pytest.mark.filterwarnings("default::rehead.ReheadWarning")
def test_what_people_see_and_open_runs_nothing(tmp_path, succeed):
    labels = np.array(["=1+1", "[red]\x1b[2J"])[CODES]
    labels[3] = labels[0]
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(kind=labels)
    frame.to_csv(tmp_path / "x.csv", index=False)
    head, out, fixed = tmp_path / "h.safetensors", tmp_path / "out.csv", tmp_path / "fixed.csv"
    succeed("fit", tmp_path / "x.csv", "--labels", "kind", "--estimator", "sample", "-o", head)
    said = succeed(
        "audit", head, tmp_path / "x.csv", "--labels", "kind", "-o", out, "--corrected", fixed
    )
    assert "\x1b" not in said
    assert "[red]\\x1b[2J" in said
    assert "begin like formulas ('=1+1' first)" in said
    assert pd.read_csv(out)["given"].str.startswith("'=1+1").any()
    assert sorted(pd.read_csv(fixed)["label"].unique()) == sorted(set(labels))
