"""Rows of stores in another one: what was on disk is on disk again, also after a kill."""

import numpy as np
import pytest

from rehead.files import chunks
from rehead.files.chunks import Copy, StoredChunks, write_copies
from rehead.files.manifest import StoreError
from rehead.files.store import Chunk, FeatureStore, StoreWriter

N = 330


def write(folder, *, numbered=False, labels=True, inputs=True, shard_rows=50, part=slice(0, N)):
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=(N, 3)).astype("f2"), "b": rng.normal(size=(N, 2))}
    y, outputs = rng.integers(4, size=N), rng.normal(size=(N, 4)).astype("f4")
    # Later ids are longer: shards differ in the width of their text.
    ids = np.arange(N) if numbered else np.array([f"{'x' * (i // 100)}{i}" for i in range(N)])
    with StoreWriter(folder, ["a", "b"], fingerprint="net", shard_rows=shard_rows) as writer:
        for a in range(part.start, part.stop, 10):
            rows = slice(a, min(a + 10, part.stop))
            writer.append(
                Chunk(
                    {name: Z[rows] for name, Z in X.items()},
                    y[rows] if labels else None,
                    ids[rows] - part.start if numbered else ids[rows],
                    outputs[rows],
                    numbered,
                    np.arange(N, dtype="u8")[rows] if inputs else None,
                )
            )
        writer.finish()
    return FeatureStore(folder)


def columns(store):
    """Everything that a store holds of its rows."""
    found = {name: np.array(store.layer(name)) for name in store.layers}
    for name in sorted(store.files.manifest.columns - {"layer0", "layer1"}):
        found[name] = np.array(store.files.joined(name))
    return found


def content(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.fixture
def memory_of_a_shard(monkeypatch):
    monkeypatch.setattr(chunks, "MEMORY", 1)


def test_rows_are_taken_as_they_are_on_disk(tmp_path):
    store = write(tmp_path / "s")
    rows = np.array([320, 3, 3, 77])
    chunk, whole = StoredChunks(store).take(rows), columns(store)
    assert chunk.layers["a"].dtype == np.float16
    assert chunk.ids.tolist() == ["xxx320", "3", "3", "77"]
    for name in ("a", "b"):
        np.testing.assert_array_equal(chunk.layers[name], whole[name][rows])
    for name in ("labels", "outputs", "inputs"):
        np.testing.assert_array_equal(getattr(chunk, name), whole[name][rows])


@pytest.mark.parametrize("memory", [1, 3000, 2**28])
def test_a_copy_is_written_whatever_memory_there_is(tmp_path, monkeypatch, memory):
    monkeypatch.setattr(chunks, "MEMORY", memory)
    store, order = write(tmp_path / "s"), np.random.default_rng(1).permutation(N)
    write_copies(tmp_path / "t", [Copy(StoredChunks(store), order)], store, "shuffled", 40)
    found, whole = columns(FeatureStore(tmp_path / "t", verify=True)), columns(store)
    for name, values in whole.items():
        np.testing.assert_array_equal(found[name], values[order])
        assert found[name].dtype.kind == values.dtype.kind


@pytest.mark.usefixtures("memory_of_a_shard")
@pytest.mark.parametrize("stop_after", range(1, 9, 2))
def test_a_copy_that_was_killed_goes_on_to_the_same_bytes(tmp_path, monkeypatch, stop_after):
    store, order = write(tmp_path / "s"), np.random.default_rng(1).permutation(N)
    # Two copies, of which the second begins in the middle of a shard.
    copies = [Copy(StoredChunks(store), part) for part in (order[:170], order[170:])]
    write_copies(tmp_path / "whole", copies, store, "shuffled", 40)
    written, append = [], StoreWriter.append

    def append_some(self, chunk):
        if len(written) == stop_after:
            raise KeyboardInterrupt
        written.append(chunk)
        append(self, chunk)

    monkeypatch.setattr(StoreWriter, "append", append_some)
    with pytest.raises(KeyboardInterrupt):
        write_copies(tmp_path / "broken", copies, store, "shuffled", 40)
    with pytest.raises(StoreError, match=r"no manifest|not complete"):
        FeatureStore(tmp_path / "broken")
    monkeypatch.setattr(StoreWriter, "append", append)
    write_copies(tmp_path / "broken", copies, store, "shuffled", 40)
    assert content(tmp_path / "broken") == content(tmp_path / "whole")


def test_a_store_of_other_rows_is_not_continued(tmp_path):
    store, rows = write(tmp_path / "s"), np.arange(N)
    write_copies(tmp_path / "t", [Copy(StoredChunks(store), rows)], store, "one", 40)
    write_copies(tmp_path / "t", [], store, "one", 40)  # complete: nothing is done
    with pytest.raises(StoreError, match="another order"):
        write_copies(tmp_path / "t", [Copy(StoredChunks(store), rows)], store, "two", 40)
    assert FeatureStore(tmp_path / "t").difference(store) == ""
