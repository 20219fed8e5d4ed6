"""Feature stores: what is written is read, and a killed writer goes on to the same bytes."""

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rehead import ReheadWarning
from rehead.files.lock import LOCK, FolderLock
from rehead.files.samples import Source, read_samples
from rehead.files.store import MANIFEST, Chunk, FeatureStore, StoreError, StoreWriter

EARLIER = Path(__file__).parent / "store_of_version_1"


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


WRITER = """
import sys, time, numpy as np
from rehead.files.store import Chunk, StoreWriter
rng = np.random.default_rng(0)
rows, none = np.arange(50), np.zeros((50, 2))
hashes = rows.astype(np.uint64)
some = [
    Chunk({"a": rng.normal(size=(50, 400))}, rows, rows, none, False, hashes) for _ in range(60)
]
with StoreWriter(sys.argv[1], ["a"], fingerprint="net", shard_rows=100) as writer:
    print("ready", flush=True)
    for chunk in some[writer.n_chunks:]:
        writer.append(chunk)
    writer.finish()
"""


def start_writer(path):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return process, process.stdout.readline()


def test_killed_at_any_moment_it_resumes_bit_identical(tmp_path):
    # A writer in a process of its own, killed with -9 again and again until it gets through.
    rng = np.random.default_rng(0)
    broken = tmp_path / "broken"
    for kill in (True, True, True, True, False):
        process, said = start_writer(broken)
        assert said == "ready\n", process.stderr.read()
        if kill:
            some = len(list(broken.iterdir())) + rng.integers(1, 30)
            while len(list(broken.iterdir())) < some and process.poll() is None:
                time.sleep(0.0002)
            os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == (-signal.SIGKILL if kill else 0)
    whole = tmp_path / "whole"
    subprocess.run([sys.executable, "-c", WRITER, str(whole)], check=True, capture_output=True)
    assert content(broken) == content(whole)  # nothing half-written is left behind either


class TestTwoWriters:
    def test_a_second_writer_is_refused_and_leaves_the_first_alone(self, tmp_path):
        whole = tmp_path / "whole"
        write(whole, chunks())
        path = tmp_path / "s"
        with StoreWriter(path, ["a", "b/c"], fingerprint="net", shard_rows=25) as first:
            for i, chunk in enumerate(chunks()):
                first.append(chunk)
                half = path / ".layer0-00009.npy.abc123"  # as if it were just being written
                half.write_bytes(b"half")
                with pytest.raises(StoreError, match="Another process is writing to the store"):
                    StoreWriter(path, ["a", "b/c"], fingerprint="net", shard_rows=25)
                assert half.exists(), i
                half.unlink()
            first.finish()
        assert content(path) == content(whole)

    def test_processes_that_start_together_make_one_good_store(self, tmp_path):
        path, whole = tmp_path / "s", tmp_path / "whole"
        subprocess.run([sys.executable, "-c", WRITER, str(whole)], check=True, capture_output=True)
        started = [start_writer(path) for _ in range(2)]
        for process, _ in started:
            process.wait()
        assert 0 in [process.returncode for process, _ in started]
        for process, _ in started:
            error = process.stderr.read()
            assert process.returncode == 0 or "Another process is writing" in error, error
        assert content(path) == content(whole)
        FeatureStore(path, verify=True)

    def test_an_error_lets_the_next_writer_in(self, tmp_path):
        def stop():
            with StoreWriter(tmp_path, ["a", "b/c"], fingerprint="net", shard_rows=25) as writer:
                writer.append(next(chunks()))
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            stop()
        write(tmp_path, chunks())

    def test_without_locks_there_is_a_warning_and_nothing_is_removed(self, tmp_path, monkeypatch):
        def flock(*_):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr("fcntl.flock", flock)
        tmp_path.joinpath(".ids-00000.npy.x").write_bytes(b"of another writer")
        with pytest.warns(ReheadWarning, match="has no locks"):
            write(tmp_path, chunks())
        assert tmp_path.joinpath(".ids-00000.npy.x").exists()
        FeatureStore(tmp_path, verify=True)


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
    lock = FolderLock(tmp_path)  # which is not asked for
    writer = StoreWriter(tmp_path, ["a", "b/c"], fingerprint="net")
    lock.release()
    assert writer.complete
    with pytest.raises(StoreError, match="is complete"):
        writer.append(next(chunks()))
    assert content(tmp_path) == before


def test_what_it_was_made_from_must_be_the_same(tmp_path):
    pool = {"pool": {"a": "mean", "b/c": "mean"}}
    for finished in (False, True):
        writer = StoreWriter(
            tmp_path, ["a", "b/c"], fingerprint="net", made_from=pool, shard_rows=25
        )
        for chunk in list(chunks())[writer.n_chunks : 7 if finished else 4]:
            writer.append(chunk)
        writer.finish() if finished else writer.close()
        with pytest.raises(StoreError, match=r"another network \(weights net, not other\)"):
            StoreWriter(tmp_path, ["a", "b/c"], fingerprint="other", made_from=pool)
        with pytest.raises(StoreError, match=r"other layers \(a, b/c; not a\)"):
            StoreWriter(tmp_path, ["a"], fingerprint="net", made_from=pool)
        other = {"pool": {"a": "mean", "b/c": "first"}}
        with pytest.raises(StoreError, match=r"another pool \(of layer 'b/c': mean, not first\)"):
            StoreWriter(tmp_path, ["a", "b/c"], fingerprint="net", made_from=other)
        with pytest.raises(StoreError, match=r"another pool \(of layer 'a': mean, not None\)"):
            StoreWriter(tmp_path, ["a", "b/c"], fingerprint="net")


def test_damage_is_found_without_being_asked_for(tmp_path):
    store = write(tmp_path, chunks())
    file = tmp_path / "layer0-00001.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    for damaged in (data, data[:-100], b""):
        file.write_bytes(damaged)
        for read in (
            lambda: FeatureStore(tmp_path, verify=True),
            lambda: FeatureStore(tmp_path).layer("a"),
            lambda: FeatureStore(tmp_path).shards("a"),
            lambda: store.layer("a"),
            lambda: read_samples(Source(tmp_path)).layers["a"][:],
        ):
            with pytest.raises(StoreError, match=r"layer0-00001\.npy is damaged"):
                read()
    file.unlink()
    with pytest.raises(StoreError, match="missing"):
        FeatureStore(tmp_path).layer("a")
    FeatureStore(tmp_path).layer("b/c")


def test_damage_is_found_before_a_run_goes_on(tmp_path):
    with StoreWriter(tmp_path, ["a", "b/c"], fingerprint="net", shard_rows=25) as writer:
        for chunk in list(chunks())[:4]:
            writer.append(chunk)
    file = tmp_path / "ids-00000.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match=r"ids-00000\.npy is damaged"):
        write(tmp_path, chunks())
    file.unlink()
    with pytest.raises(StoreError, match=r"ids-00000\.npy is missing"):
        write(tmp_path, chunks())


def test_a_layer_that_is_not_there(tmp_path):
    store = write(tmp_path, chunks())
    for read in (store.layer, store.shards):
        with pytest.raises(StoreError, match="no layer 'c'"):
            read("c")


def test_stores_that_go_together(tmp_path):
    def store(name, layers=("a", "b/c"), fingerprint="net", made_from=None):
        with StoreWriter(
            tmp_path / name, layers, fingerprint=fingerprint, made_from=made_from
        ) as writer:
            writer.append(next(chunks()))
            writer.finish()
        return FeatureStore(tmp_path / name)

    first = store("first")
    assert first.difference(store("same")) == ""
    assert first.difference(store("less", ["a"])) == "other layers (a; not a, b/c)"
    assert "another network" in first.difference(store("network", fingerprint="x"))
    pooled = store("pooled", made_from={"pool": {"a": "first"}})
    assert first.difference(pooled) == "another pool (of layer 'a': first, not None)"
    assert first.difference(FeatureStore(EARLIER)).startswith("another network")


def test_a_store_of_version_1_goes_with_one_of_version_2(tmp_path):
    """It does not tell how it was pooled."""
    earlier = FeatureStore(EARLIER)
    with StoreWriter(
        tmp_path,
        earlier.layers,
        fingerprint=earlier.fingerprint,
        made_from={"pool": {"input": "grid"}},
    ) as writer:
        some = np.zeros((2, 1))
        writer.append(Chunk(dict.fromkeys(earlier.layers, some), None, np.arange(2), some))
        writer.finish()
    later = FeatureStore(tmp_path)
    assert earlier.difference(later) == later.difference(earlier) == ""


def read_all(path):
    store = FeatureStore(path)
    assert len(store) == len(store.ids) == len(store.outputs)
    for name in store.layers:
        assert len(store.layer(name)) == len(store)
        assert store.shards(name)
    assert store.labels is None or len(store.labels) == len(store)
    assert store.n_outputs == store.outputs.shape[1]
    assert isinstance(store.numbered, bool)


def test_any_damage_is_refused_as_such(tmp_path):
    """Nothing but StoreError comes of flipped, cut, exchanged or missing files."""
    write(tmp_path, chunks())
    good = content(tmp_path)
    names = sorted(name for name in good if name != LOCK)
    rng = np.random.default_rng(0)
    for turn in range(120):
        name = names[turn % len(names)]
        data = bytearray(good[name])
        match turn % 4:
            case 0:
                data[rng.integers(len(data))] ^= 1 << rng.integers(8)
            case 1:
                data = data[: rng.integers(len(data))]
            case 2:
                data = good[names[(turn + 1) % len(names)]]
            case 3:
                data += b"\n\0"
        (tmp_path / name).write_bytes(data)
        with pytest.raises(StoreError):
            read_all(tmp_path)
        (tmp_path / name).write_bytes(good[name])
    read_all(tmp_path)


def test_a_crafted_manifest_reads_nothing_from_outside(tmp_path):
    """Signed as it should be, with the right checksum of the file that it points at."""
    store = tmp_path / "s"
    write(store, chunks())
    np.save(tmp_path / "secret.npy", np.array(["secret"] * 30))
    digest = hashlib.sha256((tmp_path / "secret.npy").read_bytes()).hexdigest()
    for name in ("../secret.npy", str(tmp_path / "secret.npy")):
        manifest = json.loads((store / MANIFEST).read_text())
        del manifest["sha256"]
        manifest["shards"][0]["files"]["ids"] = {"file": name, "sha256": digest}
        signed = json.dumps(manifest, sort_keys=True).encode()
        manifest["sha256"] = hashlib.sha256(signed).hexdigest()
        (store / MANIFEST).write_text(json.dumps(manifest))
        with pytest.raises(StoreError, match=r"must be 'ids-00000\.npy'"):
            read_all(store)


class TestWhatCannotBeWritten:
    @pytest.fixture
    def writer(self, tmp_path):
        with StoreWriter(tmp_path, ["a"], fingerprint="net", shard_rows=4) as writer:
            yield writer

    def chunk(self, n=2, layer=(2, "f4"), labels=None, ids=None, **more):
        width, kind = layer
        ids = np.arange(n) if ids is None else np.asarray(ids)
        labels = None if labels is None else np.asarray(labels)
        return Chunk({"a": np.ones((n, width), kind)}, labels, ids, np.zeros((n, 1), "f4"), **more)

    @pytest.mark.parametrize("rows", [2, 4], ids=["in one shard", "in the next shard"])
    @pytest.mark.parametrize(
        ("first", "second", "said"),
        [
            ({}, {"layer": (3, "f4")}, "layer0 of a batch is numbers of shape"),
            ({}, {"layer": (2, "f8")}, "layer0 of a batch is numbers of shape"),
            ({"labels": [0, 1]}, {}, "Some samples have labels, and others have none"),
            ({}, {"labels": [0, 1]}, "Some samples have labels, and others have none"),
            ({"labels": [0, 1]}, {"labels": ["a", "b"]}, "labels of a batch is text"),
            ({"labels": [0, 1]}, {"labels": [0.5, 1]}, "labels of a batch is numbers"),
            ({}, {"ids": ["a", "b"]}, "ids of a batch is text"),
            ({}, {"numbered": True}, "Some samples have ids, and others are only numbered"),
            ({"inputs": np.ones(2, np.uint64)}, {}, "Some samples have inputs, and others"),
        ],
    )
    def test_batches_that_do_not_go_together(self, writer, first, second, said, rows):
        for _ in range(rows // 2):
            writer.append(self.chunk(**first))
        if rows == 4:
            writer.append(self.chunk(**second))
        with pytest.raises(StoreError, match=said):
            writer.append(self.chunk(**second))

    def test_columns_of_other_forms(self, writer):
        writer.append(self.chunk(ids=[[1, 2], [3, 4]]))
        with pytest.raises(StoreError, match="cannot be ids"):
            writer.finish()

    def test_ids_that_are_neither_numbers_nor_text(self, writer):
        writer.append(self.chunk(ids=np.array([object(), 1], dtype=object)))
        with pytest.raises(StoreError, match="whole numbers or text"):
            writer.finish()

    def test_nothing(self, writer):
        writer.append(self.chunk(0))
        with pytest.raises(StoreError, match="no samples"):
            writer.finish()


class TestVersion1:
    """A store that version 0.1.0 wrote, of 20 samples in three shards."""

    def test_it_is_read(self):
        store = FeatureStore(EARLIER, verify=True)
        assert len(store) == 20
        assert store.layers == ["input", "2.input"]
        assert store.ids.tolist() == [f"img{i}" for i in range(20)]
        assert store.labels.tolist() == ["bee", "ant"] * 10
        x = np.arange(80, dtype="f4").reshape(20, 4) / 40 - 1
        np.testing.assert_allclose(store.layer("input"), x, rtol=1e-6)
        assert store.layer("2.input").sum() == pytest.approx(15.85)
        assert store.outputs.sum() == pytest.approx(-9.395)
        assert store.n_outputs == 2
        assert not store.numbered

    def test_its_damage_is_found(self, tmp_path):
        shutil.copytree(EARLIER, tmp_path / "s")
        file = tmp_path / "s" / "layer1-00002.npy"
        file.write_bytes(file.read_bytes()[:-1] + b"x")
        with pytest.raises(StoreError, match="checksum"):
            FeatureStore(tmp_path / "s").layer("2.input")

    @pytest.mark.parametrize("complete", ["true", "false"])
    def test_it_is_not_continued(self, tmp_path, complete):
        shutil.copytree(EARLIER, tmp_path / "s")
        file = tmp_path / "s" / MANIFEST
        text = file.read_text()
        file.write_text(text.replace('"complete": true', f'"complete": {complete}'))
        before = content(tmp_path / "s")
        fingerprint = json.loads(text)["fingerprint"]
        with pytest.raises(StoreError, match="written by an earlier rehead"):
            StoreWriter(tmp_path / "s", ["input", "2.input"], fingerprint=fingerprint)
        assert content(tmp_path / "s") == before
