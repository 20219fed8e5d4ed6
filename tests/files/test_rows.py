"""Rows on disk behave like the array that they are, and notice when a file is not what it was."""

import os
import pickle
import time

import numpy as np
import pytest

from rehead._typing import BLOCK
from rehead.files.manifest import StoreError
from rehead.files.npy import NpyError, read_npy_header
from rehead.files.rows import NEAR, can_be_stored, read_as, stored_file
from rehead.files.store import Chunk, FeatureStore, StoreWriter

N, D = 1700, 3


def write_store(folder, X, *, shard_rows=400, labels=None, chunk=100, **others):
    """A store of layers (or of one, called "a"), in chunks."""
    layers = X if isinstance(X, dict) else {"a": X}
    n = len(next(iter(layers.values())))
    with StoreWriter(folder, list(layers), fingerprint="net", shard_rows=shard_rows) as writer:
        for a in range(0, n, chunk):
            part = slice(a, a + chunk)
            ids = others.get("ids", np.arange(n))[part]
            outputs = others.get("outputs", np.zeros((n, 2), "f4"))[part]
            given = None if labels is None else labels[part]
            of_chunk = {name: values[part] for name, values in layers.items()}
            writer.append(Chunk(of_chunk, given, ids, outputs, "ids" not in others))
        writer.finish()
    return FeatureStore(folder)


@pytest.fixture(scope="module")
def whole():
    return np.random.default_rng(0).normal(size=(N, D)).astype(np.float16)


@pytest.fixture(scope="module")
def folder(whole, tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "s"
    write_store(path, whole)
    return path


rng = np.random.default_rng(1)
INDEXES = {
    "all": slice(None),
    "over shards": slice(350, 1250),
    "backwards": slice(20, 3, -3),
    "every other": slice(None, None, 2),
    "empty": slice(5, 5),
    "last": slice(-7, None),
    "sorted": np.sort(rng.choice(N, 700, replace=False)),
    "unsorted": rng.permutation(N)[:900],
    "repeated": np.array([3, 3, 1699, 0, 3]),
    "negative": np.array([-1, -N]),
    "none": np.array([], int),
    "mask": rng.random(N) < 0.3,
    "list": [7, 0],
    "columns": (np.array([9, 1, 1200]), slice(1, 3)),
    "columns of a slice": (slice(390, 410), slice(0, 2)),
    "one": 399,
    "last one": -1,
}


@pytest.fixture(scope="module", params=["f2", "f4", "f8", "i4", "?"])
def typed(request, whole, tmp_path_factory):
    array = (whole > 0) if request.param == "?" else (100 * whole).astype(request.param)
    return array, write_store(tmp_path_factory.mktemp("typed") / "s", array).rows("a")


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_rows_are_those_of_the_array(typed, index):
    array, X = typed
    expected = array.astype(read_as(array.dtype))
    assert (X.shape, len(X), X.dtype) == (expected.shape, N, expected.dtype)
    found = X[index]
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected[index])


def test_rows_far_apart_are_read_one_by_one_and_near_ones_together(tmp_path):
    wide = np.arange(40 * NEAR // 4, dtype="f4").reshape(40, -1)  # a row is as wide as NEAR
    X = write_store(tmp_path, wide, chunk=10).rows("a")
    for rows in (np.array([0, 1, 2, 9, 39]), np.arange(40), np.array([0, 39, 20])):
        np.testing.assert_array_equal(X[rows], wide[rows])


@pytest.mark.parametrize("index", [np.array([N]), np.array([-N - 1]), np.ones(3, bool), N])
def test_rows_that_there_are_not(folder, index):
    with pytest.raises(IndexError):
        FeatureStore(folder).rows("a")[index]


def test_another_precision_and_a_part_of_the_rows(folder, whole):
    X = FeatureStore(folder).rows("a")
    double = X.astype(np.float64)
    assert double[:5].dtype == np.float64
    for a, b in ((0, N), (350, 900), (400, 800), (7, 8), (9, 9)):
        part = X.between(a, b)
        assert part.shape == (b - a, D)
        np.testing.assert_array_equal(part[:], whole[a:b])
        assert len(part.pieces) <= len(range(a // 400, -(-b // 400)))
    np.testing.assert_array_equal(X.between(350, 900).between(100, 300)[:], whole[450:650])
    assert [os.path.basename(f) for f in X.files_of(np.array([399, 0, 1600]))] == [
        "layer0-00000.npy",
        "layer0-00004.npy",
    ]
    assert "1700 rows of 3 features in 5 files" in repr(X)
    np.testing.assert_array_equal(np.asarray(X, np.float64), whole)


def test_it_is_sent_as_names_and_checksums_and_opened_again(folder, whole):
    X = FeatureStore(folder).rows("a")
    X[:]  # files are known now
    sent = pickle.dumps(X)
    assert len(sent) < 3000
    assert whole.tobytes()[:64] not in sent
    again = pickle.loads(sent)
    np.testing.assert_array_equal(again[:], whole)


def settled(file):
    """As if it had been written a while ago: what changes now has another time."""
    past = time.time() - 100
    os.utime(file, (past, past))


def spoil(file):
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def test_a_shard_that_is_damaged_vanishes_or_changes_is_named(tmp_path, whole):
    path = tmp_path / "s"
    write_store(path, whole)
    second = path / "layer0-00001.npy"
    settled(second)
    X = FeatureStore(path).rows("a")
    X[:]
    spoil(second)
    np.testing.assert_array_equal(X[:400], whole[:400])
    for rows in (slice(0, 401), np.array([401, 3])):
        with pytest.raises(StoreError, match=r"layer0-00001.npy is damaged: its checksum"):
            X[rows]
        with pytest.raises(StoreError, match=r"layer0-00001.npy is damaged: its checksum"):
            pickle.loads(pickle.dumps(X))[rows]
    second.unlink()
    with pytest.raises(StoreError, match=r"layer0-00001.npy is missing"):
        X[500:501]
    with pytest.raises(StoreError, match=r"layer0-00001.npy is missing or damaged"):
        FeatureStore(path).rows("a")


def test_a_shard_that_was_only_touched_is_compared_again_and_taken(tmp_path, whole):
    path = tmp_path / "s"
    X = write_store(path, whole).rows("a")
    X[:]
    settled(path / "layer0-00001.npy")
    np.testing.assert_array_equal(X[:], whole)


def test_shards_that_do_not_go_together_are_noticed_before_anything_is_read(tmp_path, whole):
    path = tmp_path / "s"
    store = write_store(path, whole)
    np.save(path / "layer0-00002.npy", np.ones((400, D), "f4"))
    with pytest.raises(StoreError, match=r"layer0-00002.npy is numbers of shape .* type <f4"):
        store.rows("a")
    np.save(path / "layer0-00002.npy", np.ones((399, D), "f2"))
    with pytest.raises(StoreError, match=r"layer0-00002.npy has 399 rows instead of 400"):
        store.rows("a")
    np.save(path / "layer0-00002.npy", np.asfortranarray(np.ones((400, D), "f2")))
    with pytest.raises(StoreError, match="columns one after the other"):
        store.rows("a")
    (path / "layer0-00002.npy").write_bytes(b"nothing")
    with pytest.raises(StoreError, match="checksum"):
        store.rows("a")
    with pytest.raises(StoreError, match="no layer 'b'"):
        store.rows("b")


def test_one_file(tmp_path, whole):
    file = tmp_path / "x.npy"
    np.save(file, whole)
    X = stored_file(file)
    np.testing.assert_array_equal(X[BLOCK - 3 : BLOCK + 3], whole[BLOCK - 3 : BLOCK + 3])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(X))[:], whole)
    np.save(file, whole[:-1])
    with pytest.raises(StoreError, match=r"x.npy has changed since it was opened"):
        X[:1]
    file.unlink()
    with pytest.raises(StoreError, match=r"x.npy is missing"):
        X[:1]


def test_a_file_that_ends_too_early(tmp_path, whole):
    file = tmp_path / "x.npy"
    np.save(file, whole)
    X = stored_file(file)
    state = file.stat()
    os.truncate(file, state.st_size - 1)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    X._known = {}
    with pytest.raises(StoreError, match=r"x.npy is damaged: it ends too early"):
        X[:]


@pytest.mark.parametrize(
    "array",
    [np.ones(3), np.ones((3, 2), int), np.ones((0, 2)), np.asfortranarray(np.ones((3, 2)))],
    ids=["flat", "whole numbers", "empty", "by columns"],
)
def test_files_of_other_kinds_are_left_to_others(tmp_path, array):
    file = tmp_path / "x.npy"
    np.save(file, array)
    assert not can_be_stored(read_npy_header(file))
    with pytest.raises(NpyError, match=r"numpy\.load"):
        stored_file(file)
