"""Feature stores: what is written is read, and a killed writer goes on to the same bytes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rehead.files.store import MANIFEST, Chunk, FeatureStore, StoreError, StoreWriter


def chunks(n_chunks=7, rows=10, labels=True):
    rng = np.random.default_rng(0)
    for i in range(n_chunks):
        ids = np.array([f"{i}-{k}" for k in range(rows)])
        layers = {"a": rng.normal(size=(rows, 3)).astype("f4"), "b/c": rng.normal(size=(rows, 2))}
        yield Chunk(
            layers, rng.integers(3, size=rows) if labels else None, ids, np.zeros((rows, 3))
        )


def write(path, some, **options):
    writer = StoreWriter(path, ["a", "b/c"], fingerprint="net", shard_rows=25)
    for chunk in list(some)[writer.n_chunks :]:
        writer.append(chunk)
    writer.finish()
    return FeatureStore(path, **options)


def content(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_what_is_written_is_read(tmp_path):
    store = write(tmp_path / "s", chunks(), verify=True)
    expected = list(chunks())
    assert len(store) == 70
    assert store.layers == ["a", "b/c"]
    np.testing.assert_array_equal(
        store.layer("a"), np.concatenate([c.layers["a"] for c in expected])
    )
    np.testing.assert_array_equal(store.labels, np.concatenate([c.labels for c in expected]))
    assert store.ids.tolist() == [i for c in expected for i in c.ids.tolist()]
    assert [len(s) for s in store.shards("a")] == [30, 30, 10]
    assert all(isinstance(s, np.memmap) for s in store.shards("a"))


def test_without_labels(tmp_path):
    assert write(tmp_path, chunks(labels=False)).labels is None


@pytest.mark.parametrize("stop_after", range(7))
def test_a_stopped_writer_goes_on_to_the_same_bytes(tmp_path, stop_after):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    write(whole, chunks())
    writer = StoreWriter(broken, ["a", "b/c"], fingerprint="net", shard_rows=25)
    for chunk in list(chunks())[:stop_after]:
        writer.append(chunk)
    writer.close()
    with pytest.raises(StoreError, match=r"no manifest|not complete"):
        FeatureStore(broken)
    write(broken, chunks())
    assert content(broken) == content(whole)


def test_killed_at_any_moment_it_resumes_bit_identical(tmp_path):
    # A writer in a process of its own, killed with -9 again and again until it gets through.
    code = """
import sys, time, numpy as np
from rehead.files.store import Chunk, StoreWriter
rng = np.random.default_rng(0)
rows, none = np.arange(50), np.zeros((50, 2))
some = [Chunk({"a": rng.normal(size=(50, 400))}, rows, rows, none) for _ in range(60)]
writer = StoreWriter(sys.argv[1], ["a"], fingerprint="net", shard_rows=100)
print("ready", flush=True)
for chunk in some[writer.n_chunks:]:
    writer.append(chunk)
writer.finish()
"""
    kills, rng = 0, np.random.default_rng(0)
    broken = tmp_path / "broken"
    while True:
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(broken)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        if kills < 4:
            time.sleep(rng.uniform(0.0, 0.01))
            os.kill(process.pid, signal.SIGKILL)
        if process.wait() == 0:
            break
        kills += 1
    whole = tmp_path / "whole"
    subprocess.run([sys.executable, "-c", code, str(whole)], check=True, capture_output=True)
    assert content(broken) == content(whole)  # nothing half-written is left behind either


def test_what_a_killed_writer_left_behind_is_removed(tmp_path):
    write(tmp_path / "whole", chunks())
    (tmp_path / "s").mkdir()
    for name in (".layer0-00002.npy.abc123", ".manifest.json.x1"):
        (tmp_path / "s" / name).write_bytes(b"half")
    write(tmp_path / "s", chunks())
    assert content(tmp_path / "s") == content(tmp_path / "whole")


def test_a_complete_store_is_left_alone(tmp_path):
    write(tmp_path, chunks())
    before = content(tmp_path)
    assert StoreWriter(tmp_path, ["a", "b/c"], fingerprint="net").complete
    assert content(tmp_path) == before


def test_another_network_or_other_layers_are_refused(tmp_path):
    write(tmp_path, chunks())
    with pytest.raises(StoreError, match="another network"):
        StoreWriter(tmp_path, ["a", "b/c"], fingerprint="other")
    with pytest.raises(StoreError, match="other layers"):
        StoreWriter(tmp_path, ["a"], fingerprint="net")


def test_damage_is_found(tmp_path):
    write(tmp_path, chunks())
    file = tmp_path / "layer0-00001.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(StoreError, match="checksum"):
        FeatureStore(tmp_path, verify=True)
    file.write_bytes(data[:-100])
    with pytest.raises(StoreError, match="missing or damaged"):
        FeatureStore(tmp_path).layer("a")
    file.unlink()
    with pytest.raises(StoreError, match="missing"):
        FeatureStore(tmp_path, verify=True)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "other", "version": 1}'])
def test_a_foreign_manifest(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(StoreError, match="damaged, or not the manifest"):
        FeatureStore(tmp_path)


def test_a_newer_version(tmp_path):
    write(tmp_path, chunks())
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    (tmp_path / MANIFEST).write_text(json.dumps({**manifest, "version": 99}))
    with pytest.raises(StoreError, match="newer rehead"):
        FeatureStore(tmp_path)


def test_ids_that_are_neither_numbers_nor_text(tmp_path):
    writer = StoreWriter(tmp_path, ["a"], fingerprint="net")
    ids = np.array([object(), 1], dtype=object)
    writer.append(Chunk({"a": np.zeros((2, 1))}, None, ids, np.zeros((2, 1))))
    with pytest.raises(StoreError, match="whole numbers or text"):
        writer.finish()
