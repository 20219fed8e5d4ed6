"""``rehead audit``: a saved model, features on disk, a CSV and a summary."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, noise, score_labels
from rehead.audit.files import audit_files
from rehead.files.store import Chunk, StoreWriter


@pytest.fixture
def run(invoke):
    """Run ``rehead audit``, to success or to a mistake that it must name."""

    def call(*arguments, code=0):
        result = invoke("audit", *arguments)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result.output

    return call


def rows_of(path):
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def write_store(path, X, y=None, ids=None, rows=100):
    writer = StoreWriter(path, ["features"], fingerprint="none", shard_rows=rows)
    for a in range(0, len(X), rows):
        part = slice(a, a + rows)
        named = np.arange(len(X))[part] if ids is None else ids[part]
        labels = None if y is None else y[part]
        writer.append(Chunk({"features": X[part]}, labels, named, X[part, :2], ids is None))
    writer.finish()


@pytest.fixture
def files(blobs, tmp_path, monkeypatch):
    """A head and its training data, a tenth of them mislabelled, in the current folder."""
    monkeypatch.chdir(tmp_path)
    X, y = blobs(sizes=(150, 150, 150), d=4)
    y = np.array(["ant", "bee", "cat"])[noise.uniform(y, 0.1, random_state=0).labels]
    ids = np.array([f"img{i}" for i in range(450)])
    X = X.astype(np.float32)
    np.save("x.npy", X)
    np.save("y.npy", y)
    Path("ids.txt").write_text("\n".join(ids) + "\n")
    write_store("store", X, y, ids)
    head = LayerEnsemble("anchored", random_state=0).fit({"features": X}, y)
    head.save("head")
    return X, y, ids, score_labels(head, {"features": X}, y, ids=ids)


def test_a_store_in_several_shards_with_its_own_labels_and_ids(files, run):
    _, y, ids, report = files
    said = run("head", "store", "-o", "out.csv")
    assert said.startswith("450 labels: ")
    assert "Review the " in said
    assert "\n450 labels: out.csv\n" in said
    rows = rows_of("out.csv")
    assert [r["id"] for r in rows] == ids[report.order].tolist()
    assert [r["given"] for r in rows] == y[report.order].tolist()
    assert [r["suggested"] for r in rows] == report.suggested[report.order].tolist()
    assert [r["kind"] for r in rows] == report.kind[report.order].tolist()
    np.testing.assert_allclose([float(r["quality"]) for r in rows], report.quality[report.order])


def test_files_with_labels_and_ids_of_their_own(files, run):
    *_, ids, report = files
    run("head", "x.npy", "--labels", "y.npy", "--ids", "ids.txt", "-o", "out.csv", "--input-order")
    rows = rows_of("out.csv")
    assert [r["id"] for r in rows] == ids.tolist()
    run("head", "x.npy", "--labels", "y.npy", "-o", "out.csv")
    assert int(rows_of("out.csv")[0]["id"]) == report.order[0]


def test_tables_and_named_columns(files, run):
    X, y, ids, report = files
    header = ",".join(f"f{i}" for i in range(4))
    np.savetxt("x.csv", X.astype(float), delimiter=",", header=header, comments="", fmt="%.17g")
    lines = [f"{name},{label}" for name, label in zip(ids, y, strict=True)]
    Path("names.csv").write_text("name,label\n" + "\n".join(lines) + "\n")
    run("head", "x.csv", "--labels", "names.csv:label", "--ids", "names.csv:name", "-o", "out.csv")
    assert rows_of("out.csv")[0]["id"] == ids[report.order[0]]


def test_labels_and_ids_beside_the_features_are_not_features(files, run, succeed, fail):
    X, y, *_ = files
    codes = np.searchsorted(["ant", "bee", "cat"], y)
    table = (
        pd.DataFrame(X.astype(float))
        .rename(columns=str)
        .assign(label=codes, number=range(450)[::-1])
    )
    table.to_csv("all.csv", index=False)
    fit = ["fit", "all.csv", "--labels", "./all.csv:label", "-o", "head2"]
    succeed(*fit)
    assert LayerEnsemble.load("head2").estimators_["features"].n_features_in_ == 5
    table.drop(columns="number").to_csv("all.csv", index=False)
    succeed(*fit)
    assert LayerEnsemble.load("head2").estimators_["features"].n_features_in_ == 4
    run("head2", "all.csv", "--labels", "all.csv:label")
    table.to_csv("all.csv", index=False)
    run("head2", "all.csv", "--labels", "all.csv:label", "--ids", "all.csv:number")
    table.assign(label=y).to_csv("all.csv", index=False)
    succeed(*fit)
    table[["label"]].to_csv("all.csv", index=False)
    assert "no features besides label" in fail(*fit)


def test_without_output_only_the_summary_is_shown(files, run):
    *_, ids, report = files
    said = run("head", "store", "--show", "3")
    assert sum(name in said for name in ids[report.order[:3]]) == 3
    assert len(run("head", "store", "--show", "12").splitlines()) == len(said.splitlines()) + 9
    assert not list(Path().glob("*.csv"))


def test_a_saved_classifier(files, run):
    X, y, *_ = files
    model = RobustGaussianClassifier(random_state=0).fit(X, y)
    model.save("classifier")
    report = audit_files("classifier", "store")
    np.testing.assert_allclose(report.quality, score_labels(model, X, y).quality)
    assert report.in_sample.all()
    np.savez("two.npz", a=X, b=X, labels=y)
    assert "one array of features, and there are several: ['a', 'b']" in run(
        "classifier", "two.npz", code=1
    )


def test_a_store_whose_ids_only_number_its_samples(files, run):
    X, y, *_ = files
    write_store("numbered", X, y)
    run("head", "numbered", "-o", "out.csv")
    assert "id" in rows_of("out.csv")[0]


def test_mistakes_name_the_fix(files, run, refuse):
    X, y, ids, _ = files
    assert "no model file at none" in run("none", "store", code=1)
    assert "There is no file or folder none.npy" in run("head", "none.npy", code=1)
    assert "not a model file" in run("x.npy", "store", code=1)
    assert "store is a folder, not a head" in run("store", "store", code=1)
    assert "--labels FILE:COLUMN" in run("head", "x.npy", code=1)
    Path("run").mkdir()
    Path("run/run.json").write_text("{}")
    assert "rehead features run --data run:train" in run("head", "run", code=1)
    assert "--data run/:test" in run("head", "run/:test", code=1)
    np.save("few.npy", y[:9])
    assert "few.npy has 9 labels, and store has 450 rows" in run(
        "head", "store", "--labels", "few.npy", code=1
    )
    np.save("other.npy", np.where(y == "ant", "ape", y))
    assert "not fitted on these labels: 'ape'" in run(
        "head", "store", "--labels", "other.npy", code=1
    )
    assert "one entry for each of the 450 rows" in run("head", "store", "--ids", "few.npy", code=1)
    write_store("twice", X, y, np.where(ids == "img1", "img0", ids))
    assert "--ids FILE" in run("head", "twice", code=1)
    run("head", "twice", "--ids", "ids.txt")
    write_store("unlabelled", X)
    assert "holds no labels" in run("head", "unlabelled", code=1)
    np.save("narrow.npy", X[:, :3])
    assert "3 features" in run("head", "narrow.npy", "--labels", "y.npy", code=1)
    bad = X.copy()
    bad[333, 1] = np.nan
    write_store("bad", bad, y)
    assert "NaN (row 333, feature 1" in run("head", "bad", code=1)
    assert "no folder none" in refuse("audit", "head", "store", "-o", "none/out.csv")


@pytest.mark.parametrize("command", ["fit", "predict", "compare", "audit"])
def test_every_command_notices_a_damaged_store(files, invoke, command):
    file = Path("store/layer0-00001.npy")
    data = bytearray(file.read_bytes())
    data[-2] ^= 4
    file.write_bytes(data)
    options = {
        "fit": ["fit", "store", "-o", "new"],
        "predict": ["predict", "head", "store", "-o", "out.csv"],
        "compare": ["compare", "head", "store"],
        "audit": ["audit", "head", "store"],
    }[command]
    result = invoke(*options)
    assert result.exit_code == 1
    assert "layer0-00001.npy is damaged: its checksum does not match" in result.output
    assert not Path("out.csv").exists()
