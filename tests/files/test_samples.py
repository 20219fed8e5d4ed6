"""Samples from the files people have."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rehead import ReheadWarning
from rehead.files.places import read_column
from rehead.files.samples import Source, check_shown, read_layers, read_samples
from rehead.files.store import Chunk, StoreWriter

X = np.array([[1.5, 2.0], [3.0, 4.5], [5.0, 6.0]])


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def store():
    writer = StoreWriter("store", ["a", "b"], fingerprint="net", shard_rows=2)
    for rows in (slice(0, 2), slice(2, 3)):
        ids = np.array(["x", "y", "z"])[rows]
        layers = {"a": X[rows], "b": 2 * X[rows]}
        writer.append(Chunk(layers, np.array([0, 1, 0])[rows], ids, np.eye(3)[rows]))
    writer.finish()
    return "store"


@pytest.fixture
def table():
    Path("t.csv").write_text("name,p,q,label\n007,1.5,2,cat\n8,3,4.5,dog\n9,5,6,cat\n")
    return "t.csv"


def test_a_store_has_everything(store):
    found = read_samples(Source(store))
    assert {k: np.asarray(v).tolist() for k, v in found.layers.items()} == {
        "a": X.tolist(),
        "b": (2 * X).tolist(),
    }
    assert found.labels.tolist() == [0, 1, 0]
    assert found.names.tolist() == ["x", "y", "z"]
    assert found.outputs.tolist() == np.eye(3).tolist()
    assert len(found) == 3
    np.save("y.npy", [2, 1, 2])
    assert read_samples(Source(store, labels="y.npy")).labels.tolist() == [2, 1, 2]


def test_arrays(table):
    np.save("x.npy", X)
    np.savez("x.npz", first=X, second=3 * X, labels=np.arange(3))
    assert list(read_samples(Source("x.npz")).layers) == ["first", "second"]
    assert read_samples(Source("x.npz")).labels.tolist() == [0, 1, 2]
    found = read_samples(Source("x.npy", "t.csv:label", "t.csv:name"))
    assert np.asarray(found.layers["features"]).tolist() == X.tolist()
    assert (found.labels.tolist(), found.ids.tolist()) == (["cat", "dog", "cat"], ["007", "8", "9"])
    found = read_samples(Source("x.npy"), labelled=False)
    assert (found.labels, found.ids, found.names.tolist()) == (None, None, [0, 1, 2])
    with pytest.raises(ValueError, match=r"no labels are given. Give them with --held-out FILE"):
        read_samples(Source("x.npy", option="--held-out"))
    with pytest.raises(ValueError, match=r"--ignore names columns of a table, and x.npy is none"):
        read_samples(Source("x.npy", "t.csv:label", ignore=["a"]))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("prefix", ["", "t.csv:", "./t.csv:"])
def test_a_table_and_its_own_columns(table, ending, prefix):
    if ending == "parquet":
        prefix = prefix.replace("csv", ending)
        pd.read_csv("t.csv", dtype={"name": str}).to_parquet("t.parquet")
    found = read_samples(Source(f"t.{ending}", f"{prefix}label", f"{prefix}name"))
    assert found.layers["features"].names == ["p", "q"]
    assert np.asarray(found.layers["features"]).tolist() == X.tolist()
    assert found.labels.tolist() == ["cat", "dog", "cat"]
    assert found.ids.tolist() == ["007", "8", "9"]
    assert found.left_out == ["label"]


def test_a_name_of_a_column_and_of_a_file(table):
    Path("label").write_text("x")
    with pytest.raises(ValueError, match=r"'label' is a file, and a column of t.csv. Say ./label"):
        read_samples(Source(table, "label"))
    assert read_samples(Source(table, "t.csv:label", "name")).labels[0] == "cat"


def test_what_is_not_there(table):
    with pytest.raises(
        ValueError, match=r"neither a column of t.csv nor a file. Did you mean 'lab"
    ):
        read_samples(Source(table, "lable"))
    with pytest.raises(
        ValueError, match=r"Which column of t.csv .* The table has name, p, q, label"
    ):
        read_samples(Source(table))
    with pytest.raises(FileNotFoundError, match=r"There is no file or folder no.csv"):
        read_samples(Source("no.csv"))
    with pytest.raises(FileNotFoundError, match=r"There is no file or folder no.npy"):
        read_column("no.npy")
    with pytest.raises(ValueError, match=r"several columns: name, p.* Say which: t.csv:NAME"):
        read_column(table)
    with pytest.raises(ValueError, match="Did you mean 'label'"):
        read_column("t.csv:lable")
    Path("x.xlsx").write_text("")
    with pytest.raises(ValueError, match=r"Known are .npy, .npz, .csv"):
        read_layers("x.xlsx")
    with pytest.raises(ValueError, match=r"Known are .npy, .npz, .csv"):
        read_column("x.xlsx")


def test_ignored_columns_are_separated_by_commas(table):
    frame = pd.read_csv(table).assign(**{"a,b": 1, "c": 2})
    frame.to_csv("u.csv", index=False)
    for ignore in (["a,b", "c,name"], ["a,b", "c", "name"]):
        assert read_samples(Source("u.csv", "label", ignore=ignore)).left_out == [
            "a,b",
            "c",
            "name",
            "label",
        ]


def test_texts_and_rows_to_show_in_another_order(store):
    np.save("x.npy", X)
    Path("y.csv").write_text("id,label\nu,a\nv,b\nw,c\n")
    Path("same.csv").write_text("id,text\nu,A\nv,B\nw,C\n")
    Path("other.csv").write_text("id,text\nw,C\nu,A\nv,B\n")
    unnamed = Source("x.npy", "y.csv:label")
    check_shown(unnamed, "same.csv:text", None)
    check_shown(unnamed, None, "same.csv")
    with pytest.raises(ValueError, match=r"texts of other.csv are in another order .*'id'"):
        check_shown(unnamed, "other.csv:text", None)
    with pytest.raises(ValueError, match=r"rows of other.csv are in another order .*'id'"):
        check_shown(unnamed, None, "other.csv")
    # Where samples have ids, texts are found by them.
    check_shown(Source("x.npy", "y.csv:label", "y.csv:id"), "other.csv:text", None)
    Path("other.csv").write_text("id,text\nz,C\nx,A\ny,B\n")
    check_shown(Source(store), "other.csv:text", None)


def test_labels_in_another_order_than_the_samples(table, store):
    np.save("x.npy", X)
    Path("y.csv").write_text("id,label\n0,a\n1,b\n2,c\n")
    assert read_samples(Source("x.npy", "y.csv:label")).labels.tolist() == ["a", "b", "c"]
    Path("y.csv").write_text("id,label\n2,c\n0,a\n1,b\n")
    with pytest.raises(ValueError, match=r"y.csv are in another order than the samples: .*'id'"):
        read_samples(Source("x.npy", "y.csv:label"))
    Path("y.csv").write_text("name,kind\n8,c\n007,a\n9,b\n")
    with pytest.raises(ValueError, match=r"in another order than the samples: .*'name'"):
        read_samples(Source(table, "y.csv:kind", "name", ["label"]))
    Path("y.csv").write_text("id,kind\n8,c\n007,a\n9,b\n")
    with pytest.raises(ValueError, match=r"in another order than the samples: .*'id'"):
        read_samples(Source(table, "y.csv:kind", "name", ["label"]))
    # Also where the column that names the samples is only left out, or has another name.
    for column in ("name", "nr"):
        Path("y.csv").write_text(f"{column},kind\n8,c\n007,a\n9,b\n")
        with pytest.raises(ValueError, match=rf"in another order than the samples: .*'{column}'"):
            read_samples(Source(table, "y.csv:kind", None, ["label", "name"]))
        with pytest.raises(ValueError, match=rf"in another order than the samples: .*'{column}'"):
            read_samples(Source(table, "y.csv:kind", f"y.csv:{column}", ["label", "name"]))
    Path("y.csv").write_text("name,kind\n007,c\n8,a\n10,b\n")
    with pytest.raises(ValueError, match=r"not of these samples: 1 of 3 .*'name' name others"):
        read_samples(Source(table, "y.csv:kind", "name", ["label"]))
    Path("y.csv").write_text("id,kind\ny,c\nx,a\nz,b\n")
    with pytest.raises(ValueError, match="in another order than the samples"):
        read_samples(Source(store, "y.csv:kind"))
    Path("y.csv").write_text("id,kind\nx,c\ny,a\nz,b\n")
    assert read_samples(Source(store, "y.csv:kind")).labels.tolist() == ["c", "a", "b"]


def test_row_numbers_of_an_audit_in_another_order(table):
    """Samples without ids are called by their row numbers there, whatever columns they have."""
    Path("y.csv").write_text("id,kind\n2,c\n0,a\n1,b\n")
    with pytest.raises(ValueError, match=r"in another order than the samples: .*'id'"):
        read_samples(Source(table, "y.csv:kind", None, ["label", "name"]))
    Path("y.csv").write_text("id,kind\n0,c\n1,a\n2,b\n")
    found = read_samples(Source(table, "y.csv:kind", None, ["label", "name"]))
    assert found.labels.tolist() == ["c", "a", "b"]
    own = "id,kind\n7,c\n5,a\n3,b\n", "id,kind\n1,c\n2,a\n3,b\n"
    for ids in (*own, "id,name,kind\n2,007,c\n0,8,a\n1,9,b\n"):  # the names tell the order
        Path("y.csv").write_text(ids)
        assert len(read_samples(Source(table, "y.csv:kind", None, ["label", "name"]))) == 3
    np.save("x.npy", X)
    Path("y.csv").write_text(own[1])
    assert len(read_samples(Source("x.npy", "y.csv:kind"))) == 3


def test_labels_of_another_number_of_rows_name_the_file(table):
    Path("y.csv").write_text("kind\na\nb\n")
    with pytest.raises(ValueError, match=r"--labels y.csv has 2 labels, and .* has 3 rows"):
        read_samples(Source(table, "y.csv:kind", None, ["label", "name"]))


def test_known_columns(table):
    frame = pd.read_csv(table)
    frame[["q", "label", "p"]].to_csv("u.csv", index=False)
    found = read_samples(Source("u.csv"), ["p", "q"], labelled=False)
    assert np.asarray(found.layers["features"]).tolist() == X.tolist()
    np.save("x.npy", X)
    with pytest.warns(ReheadWarning, match="x.npy names none: they are taken in the order p, q"):
        found = read_samples(Source("x.npy"), ["p", "q"], labelled=False)
    assert found.layers["features"].names == ["p", "q"]


def test_a_copy_of_the_labels_is_no_feature(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [(rng.normal(), 10 * k, k, "ab"[k]) for k in rng.integers(2, size=40).tolist()]
    text = "".join(f"{x:.3f},{old},{grade},{kind}\n" for x, old, grade, kind in rows)
    Path("t.csv").write_text("x,old,grade,kind\n" + text)
    for labels, ignored in (("grade", ["kind"]), ("kind", ["grade"])):
        with pytest.raises(ValueError, match=r"'old' .* a copy of the labels. .*--ignore old"):
            read_samples(Source("t.csv", labels, None, ignored))
        found = read_samples(Source("t.csv", labels, None, [*ignored, "old"]))
        assert found.layers["features"].names == ["x"]
    # Corrected labels differ from those that the table still holds.
    corrected = "".join(f"{1 - g if i < 5 else g},{g}\n" for i, (_, _, g, _) in enumerate(rows))
    Path("corrected.csv").write_text("label,given\n" + corrected)
    with pytest.raises(ValueError, match=r"'grade' .*column 'given' of corrected.csv"):
        read_samples(Source("t.csv", "corrected.csv:label", None, ["kind", "old"]))


def test_codes_with_zeros_in_front_are_ids(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i:05d},{i % 7 / 3:.3f},{'ab'[i % 2]}\n" for i in range(30))
    Path("t.csv").write_text("code,x,kind\n" + rows)
    with pytest.raises(ValueError, match=r"'code' .* probably ids"):
        read_samples(Source("t.csv", "kind"))
