"""Files of a store: whatever is not what was written is noticed before it is handed out."""

import hashlib
import os
import time

import numpy as np
import pytest

from rehead.files import shards
from rehead.files.manifest import Manifest, Shard, StoreError
from rehead.files.shards import ShardFiles, check_file, check_form, check_same_form


def write(folder, parts, **changes):
    """Files with true checksums, whatever is in them."""
    good = {
        "layer0": [np.ones((3, 2), "f4"), np.ones((2, 2), "f4")],
        "outputs": [np.zeros((3, 1), "f4"), np.zeros((2, 1), "f4")],
        "ids": [np.array(["a", "b", "c"]), np.array(["long", "er"])],
    }
    sums = [{}, {}]
    for column, arrays in {**good, **parts}.items():
        for number, array in enumerate(arrays):
            file = folder / f"{column}-{number:05d}.npy"
            np.save(file, array)
            sums[number][column] = hashlib.sha256(file.read_bytes()).hexdigest()
    rows = changes.get("rows", (3, 2))
    entries = tuple(Shard(n, 1, s) for n, s in zip(rows, sums, strict=True))
    return ShardFiles(folder, Manifest("net", ("a",), shards=entries, complete=True))


def test_columns_are_mapped_and_joined(tmp_path):
    files = write(tmp_path, {})
    assert [type(part) for part in files.mapped("layer0")] == [np.memmap, np.memmap]
    assert files.joined("ids").tolist() == ["a", "b", "c", "long", "er"]
    files.verify()


@pytest.mark.parametrize(
    ("parts", "column", "said"),
    [
        ({"layer0": [np.ones((3, 2), "f4"), np.ones((2, 3), "f4")]}, "layer0", r"shape \(2, 3\)"),
        ({"layer0": [np.ones((3, 2), "f4"), np.ones((2, 2), "f8")]}, "layer0", "type <f8"),
        ({"layer0": [np.ones(3, "f4"), np.ones(2, "f4")]}, "layer0", "cannot be layer0"),
        ({"layer0": [np.array([["x"]] * 3), np.ones((2, 1))]}, "layer0", "cannot be layer0"),
        ({"layer0": [np.ones((3, 2), "c8"), np.ones((2, 2), "c8")]}, "layer0", "cannot be layer0"),
        ({"ids": [np.arange(3), np.array(["x", "y"])]}, "ids", "text of shape"),
        ({"ids": [np.ones((3, 2)), np.ones((2, 2))]}, "ids", "cannot be ids"),
        ({"ids": [np.zeros(3, "V4"), np.zeros(2, "V4")]}, "ids", "cannot be ids"),
        ({"ids": [np.array(3), np.arange(2)]}, "ids", "cannot be ids"),
    ],
)
def test_arrays_that_are_no_such_column_or_do_not_go_together(tmp_path, parts, column, said):
    files = write(tmp_path, parts)
    with pytest.raises(StoreError, match=said):
        files.mapped(column)


def test_other_rows_than_the_manifest_says(tmp_path):
    with pytest.raises(StoreError, match="has 3 rows instead of 4"):
        write(tmp_path, {}, rows=(4, 2)).joined("ids")


def test_a_header_that_claims_more_than_the_file_holds(tmp_path):
    """With a checksum that is right: whoever wrote this knew how."""
    files = write(tmp_path, {})
    file = tmp_path / "layer0-00000.npy"
    data = file.read_bytes().replace(b"(3, 2)", b"(3" + b"0" * 12 + b", 2)")
    file.write_bytes(data[: 128 + 24])
    files.manifest.shards[0].checksums["layer0"] = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(StoreError, match="missing or damaged"):
        files.mapped("layer0")


def test_every_flipped_bit_is_noticed(tmp_path):
    files = write(tmp_path, {})
    file = tmp_path / "layer0-00000.npy"
    good = file.read_bytes()
    for bit in np.random.default_rng(0).choice(8 * len(good), size=60, replace=False):
        data = bytearray(good)
        data[bit // 8] ^= 1 << (bit % 8)
        file.write_bytes(data)
        with pytest.raises(StoreError, match="checksum does not match"):
            files.mapped("layer0")
    file.write_bytes(good)
    files.mapped("layer0")


def test_exchanged_files_are_noticed(tmp_path):
    first = [np.ones((3, 2), "f4"), np.ones((3, 2), "f4")]
    files = write(tmp_path, {"layer0": [a * i for i, a in enumerate(first)]}, rows=(3, 3))
    a, b = (tmp_path / f"layer0-0000{i}.npy" for i in (0, 1))
    old, new = a.read_bytes(), b.read_bytes()
    a.write_bytes(new)
    b.write_bytes(old)
    with pytest.raises(StoreError, match="checksum does not match"):
        files.mapped("layer0")


@pytest.mark.parametrize("kind", ["link out", "link inside", "folder", "pipe", "missing"])
def test_only_plain_files_in_the_folder_are_read(tmp_path, kind):
    (tmp_path / "s").mkdir()
    files = write(tmp_path / "s", {})
    file = tmp_path / "s" / "ids-00000.npy"
    elsewhere = tmp_path / "ids.npy" if kind == "link out" else tmp_path / "s" / "other.npy"
    os.replace(file, elsewhere)
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)  # which would be read for ever
    elif kind != "missing":
        file.symlink_to(elsewhere)
    with pytest.raises(StoreError, match="missing" if kind == "missing" else "not a plain file"):
        files.joined("ids")
    with pytest.raises(StoreError, match=r"ids-00000\.npy"):
        files.verify()


class TestOnceForEachState:
    @pytest.fixture
    def digests(self, monkeypatch):
        """Counts how often a file is read through."""
        runs = []
        digest = hashlib.file_digest

        def counted(*arguments):
            runs.append(1)
            return digest(*arguments)

        monkeypatch.setattr(hashlib, "file_digest", counted)
        return runs

    def test_a_file_that_has_settled_is_read_through_once(self, tmp_path, digests):
        (tmp_path / "f").write_bytes(b"abc")
        checksum = hashlib.sha256(b"abc").hexdigest()
        check_file(tmp_path / "f", checksum)
        check_file(tmp_path / "f", checksum)
        assert len(digests) == 2  # a change in the same moment could not be told by its time
        late = time.time() + shards.SETTLED + 1
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "time", lambda: late)
            check_file(tmp_path / "f", checksum)
            check_file(tmp_path / "f", checksum)
            assert len(digests) == 3
            time.sleep(0.02)
            (tmp_path / "f").write_bytes(b"abd")
            with pytest.raises(StoreError, match="checksum"):
                check_file(tmp_path / "f", checksum)
        assert len(digests) == 4

    def test_another_checksum_is_another_question(self, tmp_path, monkeypatch):
        (tmp_path / "f").write_bytes(b"abc")
        late = time.time() + shards.SETTLED + 1
        monkeypatch.setattr(time, "time", lambda: late)
        check_file(tmp_path / "f", hashlib.sha256(b"abc").hexdigest())
        with pytest.raises(StoreError, match="checksum"):
            check_file(tmp_path / "f", hashlib.sha256(b"abd").hexdigest())


def test_forms():
    check_form(np.ones((2, 3), "f4"), "layer0", "x")
    check_form(np.array(["2020"], "M8[Y]"), "ids", "x")
    check_same_form(np.array(["abc"]), np.array(["a"]), "labels", "x")
    check_same_form(np.array([1], "i4"), np.array([1], "u1"), "labels", "x")
    with pytest.raises(StoreError, match="what came first numbers of shape"):
        check_same_form(np.array([1]), np.array([1.0]), "labels", "x")
