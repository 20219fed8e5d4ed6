"""Arrays from and to the files people have."""

import numpy as np
import pytest

from rehead.files.store import Chunk, StoreWriter
from rehead.files.tables import (
    read_column,
    read_ids,
    read_labels,
    read_layers,
    read_outputs,
    write_csv,
    write_noisy_labels,
)

X = np.array([[1.5, 2.0], [3.0, 4.5], [5.0, 6.0]])


@pytest.fixture
def store(tmp_path):
    writer = StoreWriter(tmp_path / "store", ["a", "b"], fingerprint="net")
    ids = np.array(["x", "y", "z"])
    writer.append(Chunk({"a": X, "b": 2 * X}, np.array([0, 1, 0]), ids, np.eye(3)))
    writer.finish()
    return tmp_path / "store"


def test_layers_from_every_kind_of_file(tmp_path, store):
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", first=X, second=3 * X, labels=np.arange(3))
    (tmp_path / "x.csv").write_text("p,q\n1.5,2\n3,4.5\n5,6\n")
    assert {k: v.tolist() for k, v in read_layers(tmp_path / "x.npy").items()} == {
        "features": X.tolist()
    }
    assert list(read_layers(tmp_path / "x.npz")) == ["first", "second"]
    assert read_layers(tmp_path / "x.csv")["features"].tolist() == X.tolist()
    assert read_layers(store)["b"].tolist() == (2 * X).tolist()


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"p": X[:, 0], "q": X[:, 1], "label": ["a", "b", "a"]})
    frame[["p", "q"]].to_parquet(tmp_path / "x.parquet")
    frame.to_parquet(tmp_path / "y.parquet")
    assert read_layers(tmp_path / "x.parquet")["features"].tolist() == X.tolist()
    assert read_column(f"{tmp_path}/y.parquet:label").tolist() == ["a", "b", "a"]


def test_columns_from_every_kind_of_file(tmp_path, store):
    np.save(tmp_path / "y.npy", np.array([2, 1, 2]))
    np.savez(tmp_path / "y.npz", X=X, labels=np.array([5, 6, 7]))
    (tmp_path / "y.txt").write_text("cat\ndog\ncat\n")
    (tmp_path / "y.csv").write_text("id,label\n7,cat\n8,dog\n9,cat\n")
    assert read_column(tmp_path / "y.npy").tolist() == [2, 1, 2]
    assert read_column(tmp_path / "y.npz").tolist() == [5, 6, 7]
    assert read_column(tmp_path / "y.txt").tolist() == ["cat", "dog", "cat"]
    assert read_column(f"{tmp_path}/y.csv:label").tolist() == ["cat", "dog", "cat"]
    assert read_column(f"{tmp_path}/y.csv:id").tolist() == [7, 8, 9]
    assert read_column(store).tolist() == [0, 1, 0]


def test_ids_and_outputs(tmp_path, store):
    assert read_ids(store, 3).tolist() == ["x", "y", "z"]
    assert read_ids(tmp_path / "x.npy", 3).tolist() == [0, 1, 2]
    assert read_outputs(store).tolist() == np.eye(3).tolist()
    assert read_outputs(tmp_path / "x.npy") is None


def test_labels_and_ids_beside_the_features_are_no_features(tmp_path):
    table = tmp_path / "x.csv"
    table.write_text("id,p,q,label\n7,1.5,2,cat\n8,3,4.5,dog\n9,5,6,cat\n")
    (tmp_path / "other.csv").write_text("p\n1\n")
    beside = [f"{table}:label", f"{table}:id", None, f"{tmp_path}/other.csv:p"]
    assert read_layers(table, beside)["features"].tolist() == X.tolist()
    with pytest.raises(ValueError, match="no features beside id, label, p, q"):
        read_layers(table, [f"{table}:{name}" for name in ("id", "p", "q", "label")])


def test_labels_from_where_they_are_said_to_be_or_from_beside_the_features(tmp_path, store):
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X, labels=np.array([5, 6, 7]))
    np.save(tmp_path / "y.npy", np.array([2, 1, 2]))
    assert read_labels(str(tmp_path / "y.npy"), store).tolist() == [2, 1, 2]
    assert read_labels(None, store).tolist() == [0, 1, 0]
    assert read_labels(None, tmp_path / "x.npz").tolist() == [5, 6, 7]
    with pytest.raises(ValueError, match=r"no labels are given. Give them with --held-out FILE"):
        read_labels(None, tmp_path / "x.npy", "--held-out")


@pytest.mark.parametrize("suffix", [".npy", ".txt", ".csv"])
@pytest.mark.parametrize("clean", [np.array([0, 1, 2]), np.array(["ant", "bee", "käfer"])])
def test_noisy_labels_that_were_written_are_read(tmp_path, suffix, clean):
    noisy = clean[[0, 0, 2]]
    path = tmp_path / f"y{suffix}"
    write_noisy_labels(path, clean, noisy, noisy != clean)
    column = ":label" if suffix == ".csv" else ""
    found = read_column(f"{path}{column}")
    assert found.tolist() == noisy.tolist()
    if suffix == ".csv":
        assert read_column(f"{path}:clean").tolist() == clean.tolist()
        assert read_column(f"{path}:changed").tolist() == ["False", "True", "False"]
    with pytest.raises(ValueError, match=r"use .npy, .txt or .csv"):
        write_noisy_labels(tmp_path / "y.json", clean, noisy, noisy != clean)


def test_csv_out(tmp_path):
    write_csv(tmp_path / "out.csv", {"id": np.array(["a,b", "c"]), "p": np.array([0.5, 1.0])})
    assert (tmp_path / "out.csv").read_text() == 'id,p\n"a,b",0.5\nc,1.0\n'


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "a,b\n1,2\n3\n", "Line 3 of .* has 1 values, the header 2"),
        ("x.csv", "a,b\n", "holds no rows"),
        ("x.csv", "a,b\n1,two\n", "Column 'b' of .* is not a number"),
        ("x.xlsx", "", "Known are .npy, .npz, .csv"),
    ],
)
def test_bad_tables(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_layers(tmp_path / name)


def test_missing_and_unclear(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file or folder"):
        read_layers(tmp_path / "no.npy")
    (tmp_path / "y.csv").write_text("id,label\n7,cat\n")
    with pytest.raises(ValueError, match=r"2 columns .* Say which: .*y.csv:NAME"):
        read_column(tmp_path / "y.csv")
    with pytest.raises(ValueError, match="Did you mean 'label'"):
        read_column(f"{tmp_path}/y.csv:lable")


def test_a_pickled_array_is_not_read(tmp_path):
    np.save(tmp_path / "y.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        read_column(tmp_path / "y.npy")
