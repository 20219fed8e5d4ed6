"""Tables as people have them, from fit to predictions: columns are matched, shown and guarded."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, noise

FIT = ("fit", "t.csv", "--labels", "label", "--estimator", "sample", "-o", "head")


@pytest.fixture
def table(tmp_path, monkeypatch, blobs):
    """A table whose columns differ much, a tenth of its labels wrong, in the current folder."""
    monkeypatch.chdir(tmp_path)
    X, truth = blobs(sizes=(60, 60, 60), d=4)
    X = X * [1, 10, 100, 1000] + [0, 5, 50, 500]
    y = np.array(["ant", "bee", "cat"])[noise.uniform(truth, 0.1, random_state=0).labels]
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(label=y)
    frame.to_csv("t.csv", index=False)
    return frame


def predictions(succeed, data, *options):
    said = succeed("predict", "head", data, *options, "-o", "out.csv")
    return pd.read_csv("out.csv", dtype={"id": str}), said


def test_columns_are_kept_with_the_head_and_matched_by_name(table, succeed):
    said = succeed(*FIT)
    assert "Features: 4 columns of t.csv: a, b, c, d. Left out: label (labels)." in said
    assert LayerEnsemble.load("head").column_names("features").tolist() == ["a", "b", "c", "d"]
    expected, _ = predictions(succeed, "t.csv")
    table[["d", "label", "b", "a", "c"]].assign(z=1.0, town="x").to_csv("u.csv", index=False)
    found, said = predictions(succeed, "u.csv")
    pd.testing.assert_frame_equal(found, expected)
    assert "Left out: label, z, town (not known to the head)." in said
    for command in ("compare", "audit"):
        for name in ("t.csv", "u.csv"):
            said = succeed(command, "head", name, "--labels", "label")
            assert f"Features: 4 columns of {name}: a, b, c, d." in said
    with_own = succeed("compare", "head", "t.csv", "--labels", "label").splitlines()[1:]
    assert succeed("compare", "head", "u.csv", "--labels", "label").splitlines()[1:] == with_own


def test_the_audit_of_reordered_columns_is_the_same(table, succeed):
    succeed(*FIT)
    table[["d", "label", "b", "a", "c"]].to_csv("u.csv", index=False)
    for name in ("t", "u"):
        succeed("audit", "head", f"{name}.csv", "--labels", "label", "-o", f"of-{name}.csv")
    assert Path("of-t.csv").read_text() == Path("of-u.csv").read_text()


def test_missing_columns_are_named(table, succeed, fail):
    succeed(*FIT)
    table.drop(columns=["b", "d"]).to_csv("u.csv", index=False)
    for command in (["predict", "-o", "out.csv"], ["compare"], ["audit"]):
        said = fail(command[0], "head", "u.csv", "--labels", "label", *command[1:])
        assert "lacks columns that the head was fitted on: 'b', 'd'" in said


def test_a_classifier_that_was_fitted_on_a_data_frame(table, succeed):
    X, y = table[["a", "b", "c", "d"]], table["label"]
    model = RobustGaussianClassifier("sample").fit(X, y)
    model.save("head")
    table[["d", "label", "b", "a", "c"]].to_csv("u.csv", index=False)
    found, _ = predictions(succeed, "u.csv")
    assert found["label"].tolist() == model.predict(X).tolist()


def test_held_out_tables_are_matched_to_the_training_table(table, succeed, fail):
    named = table.assign(name=[f"s{i:03d}" for i in range(180)])
    named.iloc[::2].to_csv("t.csv", index=False)
    named.iloc[1::2][["d", "c", "name", "label", "b", "a"]].to_csv("held.csv", index=False)
    options = ["--validation", "held.csv", "--ids", "name"]
    said = succeed(*FIT, *options)
    assert "Features: 4 columns of held.csv: a, b, c, d." in said
    assert succeed("compare", "head", "held.csv", "--labels", "label").count("1.0000") < 9
    named.iloc[1::2].drop(columns="b").to_csv("held.csv", index=False)
    assert "lacks columns" in fail(*FIT, *options)
    np.save("held.npy", table.iloc[1::2][["a", "b", "c", "d"]].to_numpy())
    assert "--validation-labels" in fail(
        *FIT[:2], "--labels", "label", "--validation", "held.npy", "--ids", "name", "-o", "head"
    )


@pytest.mark.filterwarnings("default::rehead.ReheadWarning")
def test_samples_with_the_same_ids_are_not_taken_for_the_same(table, invoke):
    rng = np.random.default_rng(0)
    named = table.assign(name=[f"s{i:03d}" for i in range(180)])
    named.to_csv("t.csv", index=False)
    others = named.sample(40, random_state=0)
    others[["a", "b", "c", "d"]] += rng.normal(size=(40, 4))
    others.to_csv("held.csv", index=False)
    assert (
        "training samples" not in invoke(*FIT, "--validation", "held.csv", "--ids", "name").output
    )


def test_an_index_that_pandas_wrote_is_refused(table, succeed, fail):
    table.to_csv("t.csv")
    said = fail(*FIT)
    assert '--ids "Unnamed: 0"' in said
    assert "index=False" in said
    succeed(*FIT, "--ignore", "Unnamed: 0")
    succeed(*FIT, "--ids", "Unnamed: 0")
    _, said = predictions(succeed, "t.csv")
    assert "Left out: Unnamed: 0, label (not known to the head)" in said


def test_columns_that_are_no_features(table, succeed, fail):
    table.assign(sample_id=range(180), town="x", street="y").to_csv("t.csv", index=False)
    assert "hold no numbers: 'town', 'street'" in fail(*FIT)
    assert "column 'sample_id'" in fail(*FIT, "--ignore", "town,street")
    succeed(*FIT, "--ignore", "town", "--ignore", "street", "--ids", "sample_id")
    assert LayerEnsemble.load("head").column_names("features").tolist() == ["a", "b", "c", "d"]
    assert "no column 'twon'. Did you mean 'town'" in fail(*FIT, "--ignore", "twon")
    Path("t.csv").write_text("a,a,label\n1,2,x\n3,4,y\n")
    assert "several columns called 'a'" in fail(*FIT)


def test_a_column_of_embeddings(table, succeed):
    frame = pd.DataFrame({"vector": table[["a", "b", "c", "d"]].to_numpy().tolist()})
    frame.assign(label=table["label"], more=frame["vector"]).to_parquet("t.parquet")
    fit = ["fit", "t.parquet", *FIT[2:], "--ignore", "more"]
    assert "4 columns of t.parquet: vector[0], vector[1], vector[2], vector[3]" in succeed(*fit)
    found, _ = predictions(succeed, "t.parquet")
    succeed(*FIT)
    pd.testing.assert_frame_equal(predictions(succeed, "t.csv")[0], found)


def test_both_predictions_and_audits_keep_the_ids(table, succeed):
    names = [f"{i:03d}" for i in range(180)]
    table.assign(name=names).to_csv("t.csv", index=False)
    succeed(*FIT, "--ids", "name")
    found, _ = predictions(succeed, "t.csv", "--ids", "name")
    assert found["id"].tolist() == names
    audit = ["audit", "head", "t.csv", "--labels", "label", "--ids", "name", "--input-order"]
    for name, read in (("a.csv", pd.read_csv), ("a.parquet", pd.read_parquet)):
        succeed(*audit, "-o", name)
        assert read(name).columns[0] == "id"
    assert pd.read_parquet("a.parquet")["id"].tolist() == names
    succeed("predict", "head", "t.csv", "--ids", "name", "-o", "p.parquet")
    made = pd.read_parquet("p.parquet")
    assert made["id"].tolist() == names
    np.testing.assert_allclose(made["probability"], found["probability"])


@pytest.mark.parametrize(
    "command",
    [["predict", "head", "t.csv"], ["audit", "head", "t.csv", "--labels", "label"]],
)
def test_other_endings_are_refused_before_the_work(table, fail, command):
    assert "its name must end in .csv or .parquet" in fail(*command, "-o", "out.xlsx")


def test_cells_are_named_by_line_and_column(table, fail):
    lines = Path("t.csv").read_text().splitlines()
    for cell, what in (("", "is blank"), ("n.a.", "has 'n.a.'")):
        changed = ",".join([lines[9].split(",")[0], cell, *lines[9].split(",")[2:]])
        Path("t.csv").write_text("\n".join([*lines[:9], changed, *lines[10:]]) + "\n")
        assert f"Line 10 of t.csv: column 'b' {what}" in fail(*FIT)
    lines[5] = lines[5].rpartition(",")[0] + ","
    Path("t.csv").write_text("\n".join(lines) + "\n")
    assert "Line 6 of t.csv: column 'label' is blank" in fail(*FIT)


def test_a_label_column_that_is_mistyped(table, fail):
    said = fail("fit", "t.csv", "--labels", "lable", "-o", "head")
    assert "Did you mean 'label'? The table has a, b, c, d, label." in said
    assert "Which column of t.csv holds the labels?" in fail("fit", "t.csv", "-o", "head")


@pytest.mark.parametrize(
    "options",
    [
        {"sep": ";", "decimal": ","},
        {"encoding": "utf-8-sig", "lineterminator": "\r\n"},
        {"sep": "\t", "encoding": "utf-16"},
    ],
)
def test_every_way_of_writing_gives_the_same_predictions(table, succeed, options):
    succeed(*FIT)
    expected, _ = predictions(succeed, "t.csv")
    table.to_csv("u.csv", index=False, **options)
    found, _ = predictions(succeed, "u.csv")
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.filterwarnings("default::rehead.ReheadWarning")
def test_a_head_that_knows_no_names_and_data_that_has_none(table, succeed, invoke):
    np.save("x.npy", table[["a", "b", "c", "d"]].to_numpy())
    succeed("fit", "x.npy", "--labels", "t.csv:label", "--estimator", "sample", "-o", "head")
    expected, _ = predictions(succeed, "t.csv", "--labels", "label")
    succeed(*FIT)
    result = invoke("predict", "head", "x.npy", "-o", "out.csv")
    assert result.exit_code == 0
    assert "x.npy names none: they are taken in the order a, b, c, d" in result.output
    pd.testing.assert_frame_equal(pd.read_csv("out.csv", dtype={"id": str}), expected)


def test_no_command_writes_over_its_table(table, succeed, fail):
    succeed(*FIT)
    before = Path("t.csv").read_bytes()
    said = [
        fail("fit", "t.csv", "--labels", "label", "-o", "t.csv"),
        fail("predict", "head", "t.csv", "-o", "./t.csv"),
        fail("audit", "head", "t.csv", "--labels", "label", "-o", "t.csv"),
        fail("audit", "head", "t.csv", "--labels", "label", "--corrected", "t.csv"),
        fail("corrupt", "t.csv:label", "--noise", "flip", "--rate", ".1", "-o", "t.csv"),
    ]
    assert all("is what the command reads" in text for text in said)
    assert Path("t.csv").read_bytes() == before


@pytest.mark.filterwarnings("default::rehead.ReheadWarning")
def test_samples_of_another_unit_are_noticed(table, invoke):
    table.to_csv("t.csv", index=False)
    invoke(*FIT)
    table.assign(a=1000 * table["a"]).to_csv("units.csv", index=False)
    for file, strange in (("t.csv", False), ("units.csv", True)):
        for command in (["predict", "-o", "p.csv"], ["compare"], ["audit"]):
            said = invoke(command[0], "head", file, "--labels", "label", *command[1:]).output
            assert ("Most of these samples are unlike" in said) == strange, (file, command)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["fit", "t.csv", "--ids", "name", "-o", "new"], "--trusted"),
        (["report", "head", "t.csv", "--ids", "name", "-o", "r.html"], "--truth"),
        (["report", "head", "t.csv", "-o", "r.html"], "--texts"),
    ],
)
def test_columns_of_another_file_are_in_the_order_of_the_samples(
    tmp_path, monkeypatch, succeed, fail, command, option
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    names = [f"s{i}" for i in range(80)]
    x = rng.normal(size=80) + 5 * (y == "b")
    pd.DataFrame({"name": names, "x": x, "z": rng.normal(size=80), "y": y}).to_csv("t.csv")
    words = np.where(np.arange(80) % 4 == 0, "random", "")
    beside = pd.DataFrame({"id": names, "word": words if option == "--trusted" else y})
    beside.to_csv("right.csv", index=False)
    beside.sample(frac=1, random_state=0).to_csv("shuffled.csv", index=False)
    labels = ["--labels", "y", "--ignore", "name" if "name" not in command else "Unnamed: 0"]
    fitted = ["--labels", "y", "--ids", "name", "--ignore", "Unnamed: 0", "-o", "head"]
    succeed("fit", "t.csv", *fitted)
    succeed(*command, *labels, option, "right.csv:word")
    said = fail(*command, *labels, option, "shuffled.csv:word")
    assert "are in another order than the samples: see its column 'id'" in said


def test_ids_of_another_file_are_those_of_the_table(tmp_path, monkeypatch, succeed, fail):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y, names = np.repeat(["a", "b"], 40), [f"s{i}" for i in range(80)]
    table = pd.DataFrame({"name": names, "x": rng.normal(size=80) + 5 * (y == "b"), "y": y})
    table.to_csv("t.csv", index=False)
    table[["name"]].to_csv("names.csv", index=False)
    table[["name"]].sample(frac=1, random_state=0).to_csv("shuffled.csv", index=False)
    fit = ["fit", "t.csv", "--labels", "y", "--ignore", "name", "-o", "head"]
    succeed(*fit, "--ids", "names.csv:name")
    said = fail(*fit, "--ids", "shuffled.csv:name")
    assert "The ids of shuffled.csv are in another order than the samples" in said
