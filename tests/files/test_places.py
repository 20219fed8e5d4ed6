"""Labels and ids from every kind of file."""

from pathlib import Path

import numpy as np
import pytest

from rehead.files.places import locate, read_beside, read_column
from rehead.files.store import Chunk, StoreWriter
from rehead.files.tables import read_table

X = np.array([[1.5, 2.0], [3.0, 4.5], [5.0, 6.0]])


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def store():
    writer = StoreWriter("store", ["a"], fingerprint="net")
    writer.append(Chunk({"a": X}, np.array([0, 1, 0]), np.arange(3), X))
    writer.finish()
    return "store"


@pytest.fixture
def table():
    Path("t.csv").write_text("name,p,q,label\n007,1.5,2,cat\n8,3,4.5,dog\n9,5,6,cat\n")
    return "t.csv"


def test_columns_of_the_table_itself_and_of_others(table):
    own = read_table(Path(table))
    for source in ("label", "t.csv:label", "./t.csv:label"):
        assert locate(source, own).own(own) == "label"
    Path("u.csv").write_text("label\na\n")
    assert locate("u.csv:label", own).own(own) is None
    assert locate("u.csv", None).read().tolist() == ["a"]
    assert locate(None, own) is None
    with pytest.raises(FileNotFoundError, match=r"There is no file or folder gone.csv"):
        locate("gone.csv:label", own)


def test_columns_from_every_kind_of_file(store, table):
    np.save("y.npy", np.array([2, 1, 2]))
    np.savez("y.npz", X=X, labels=np.array([5, 6, 7]))
    Path("y.txt").write_text("\ufeffcat\ndog\ncat\n", encoding="utf-8")
    assert read_column("y.npy").tolist() == [2, 1, 2]
    assert read_column("y.npz").tolist() == [5, 6, 7]
    assert read_column("y.npz:labels").tolist() == [5, 6, 7]
    assert read_column("y.txt").tolist() == ["cat", "dog", "cat"]
    assert read_column(store).tolist() == [0, 1, 0]
    assert read_beside("label", table).tolist() == ["cat", "dog", "cat"]
    assert read_beside("y.npy", table).tolist() == [2, 1, 2]
    assert read_beside("y.npy", "digits").tolist() == [2, 1, 2]


def test_blank_lines_of_a_text_file():
    Path("y.txt").write_text("cat\ndog\n\n")
    assert read_column("y.txt").tolist() == ["cat", "dog"]
    Path("y.txt").write_text("cat\n\ndog\n")
    with pytest.raises(ValueError, match=r"Line 2 of y.txt is blank"):
        read_column("y.txt")


def test_a_pickled_array_is_not_read():
    np.save("y.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Python objects"):
        read_column("y.npy")
