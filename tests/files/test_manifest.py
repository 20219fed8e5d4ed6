"""Manifests of feature stores: written, read, and not believed where they cannot be true."""

import hashlib
import json

import pytest

from rehead.files.manifest import (
    MANIFEST,
    VERSION,
    Manifest,
    Shard,
    StoreError,
    read_manifest,
    write_manifest,
)

SUM = hashlib.sha256(b"").hexdigest()
COLUMNS = ("layer0", "layer1", "outputs", "ids", "labels", "inputs")
GOOD = Manifest(
    fingerprint="net",
    layers=("a", "b/c"),
    made_from={"pool": {"a": "mean", "b/c": "first"}},
    numbered=True,
    complete=True,
    shards=(Shard(20, 2, dict.fromkeys(COLUMNS, SUM)), Shard(5, 1, dict.fromkeys(COLUMNS, SUM))),
)


def content(manifest=GOOD):
    return json.loads(manifest.to_json())


def write(folder, changed, sign=True):
    """A manifest as somebody wrote it who knows how they are signed."""
    changed = {k: v for k, v in changed.items() if k != "sha256"} if sign else changed
    if sign:
        signed = json.dumps(changed, sort_keys=True).encode()
        changed = {**changed, "sha256": hashlib.sha256(signed).hexdigest()}
    (folder / MANIFEST).write_text(json.dumps(changed))


def changed(place, value):
    """The good manifest with one entry changed; a place is keys and numbers."""
    found = content()
    *path, last = place
    entry = found
    for step in path:
        entry = entry[step]
    if value is KeyError:
        del entry[last]
    else:
        entry[last] = value
    return found


def test_what_is_written_is_read(tmp_path):
    write_manifest(tmp_path, GOOD)
    assert read_manifest(tmp_path) == GOOD
    assert (GOOD.n_rows, GOOD.n_chunks, GOOD.columns) == (25, 3, set(COLUMNS))
    assert GOOD.layer_column("b/c") == "layer1"
    unfinished = Manifest("net", ("a",))
    write_manifest(tmp_path, unfinished)
    assert read_manifest(tmp_path) == unfinished


FILE = ("shards", 1, "files", "ids")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("format",), "other", "format is not rehead-features"),
        (("version",), "2", "'version' of the manifest must be a whole number above 0, not '2'"),
        (("version",), True, "'version'"),
        (("version",), 0, "'version'"),
        (("fingerprint",), None, "'fingerprint' of the manifest must be text, not None"),
        (("layers",), [], "'layers' must be names that differ"),
        (("layers",), ["a", "a"], "'layers' must be names that differ"),
        (("layers",), ["a", ["b"]], "'layers' must be names that differ"),
        (("layers",), "ab", "'layers' of the manifest must be a list"),
        (("layers",), ["a"], "shard 0 has 'layer1', which is not known"),
        (("layers",), ["a", "b", "c"], "shard 0 has no 'layer2'"),
        (("complete",), 1, "'complete' of the manifest must be true or false, not 1"),
        (("numbered",), KeyError, "'numbered' of the manifest must be true or false, not None"),
        (("made_from",), [], "'made_from' of the manifest must be an object"),
        (("made_from", "pool"), "mean", "'pool' of 'made_from' must be an object"),
        (("made_from", "pool", "a"), 3, "'a' of 'pool' of 'made_from' must be text, not 3"),
        (("shards",), {}, "'shards' of the manifest must be a list"),
        (("shards",), [], "it is complete, and has no shards"),
        (("shards", 1), None, "shard 1 must be an object"),
        (("shards", 1, "rows"), -5, "'rows' of shard 1 must be a whole number above 0, not -5"),
        (("shards", 1, "rows"), 0, "'rows' of shard 1"),
        (("shards", 1, "rows"), 2.5, "'rows' of shard 1"),
        (("shards", 1, "rows"), True, "'rows' of shard 1"),
        (("shards", 1, "rows"), 2**70, "'rows' of shard 1"),
        (("shards", 1, "chunks"), "1", "'chunks' of shard 1"),
        (("shards", 1, "files"), [], "'files' of shard 1 must be an object"),
        (FILE, "ids-00001.npy", "'ids' of shard 1 must be an object"),
        (FILE, KeyError, "shard 1 has no 'ids'"),
        ((*FILE, "file"), "../ids.npy", "must be 'ids-00001.npy', not '../ids.npy'"),
        ((*FILE, "file"), "/etc/passwd", "must be 'ids-00001.npy', not '/etc/passwd'"),
        ((*FILE, "file"), "ids-00000.npy", "must be 'ids-00001.npy', not 'ids-00000.npy'"),
        ((*FILE, "file"), "labels-00001.npy", "must be 'ids-00001.npy', not 'labels-00001.npy'"),
        ((*FILE, "file"), 7, "'file' of shard 1 must be text"),
        ((*FILE, "sha256"), None, "'sha256' of shard 1 must be text"),
        ((*FILE, "sha256"), "abc", "'sha256' of 'ids' in shard 1 must be a checksum"),
        (("shards", 1, "files", "labels"), KeyError, "some shards have 'labels', and others have"),
        (
            ("shards", 1, "files", "../x"),
            {"file": "../x-00001.npy", "sha256": SUM},
            "shard 1 has '../x', which is not known",
        ),
    ],
)
def test_every_entry_is_checked(tmp_path, place, value, said):
    write(tmp_path, changed(place, value))
    with pytest.raises(StoreError) as caught:
        read_manifest(tmp_path)
    assert said in str(caught.value)
    assert "damaged, or not the manifest of a feature store" in str(caught.value)


def test_a_change_that_could_be_true_is_found_by_the_checksum(tmp_path):
    for place, value in [(("layers",), ["a", "other"]), (("fingerprint",), "nes")]:
        write(tmp_path, changed(place, value), sign=False)
        with pytest.raises(StoreError, match="its checksum does not match"):
            read_manifest(tmp_path)
        write(tmp_path, changed(place, value))
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[1]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "rehead-features", "version": ' + b"9" * 5000 + b"}",
        b'{"format": "rehead-features"}',
        b'{"format": "rehead-features", "version": NaN}',
    ],
)
def test_what_is_no_manifest(tmp_path, text):
    (tmp_path / MANIFEST).write_bytes(text)
    with pytest.raises(StoreError, match="damaged, or not the manifest"):
        read_manifest(tmp_path)


def test_a_newer_version(tmp_path):
    write(tmp_path, {**content(), "version": VERSION + 1})
    with pytest.raises(StoreError, match="newer rehead"):
        read_manifest(tmp_path)


def test_places_without_a_manifest(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        read_manifest(tmp_path / "none")
    with pytest.raises(StoreError, match="not a feature store"):
        read_manifest(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="not a feature store"):
        read_manifest(tmp_path / "file")
    (tmp_path / "s").mkdir()
    write_manifest(tmp_path, GOOD)
    (tmp_path / "s" / MANIFEST).symlink_to(tmp_path / MANIFEST)
    with pytest.raises(StoreError, match="not a feature store"):
        read_manifest(tmp_path / "s")
    (tmp_path / "s" / MANIFEST).unlink()
    (tmp_path / "s" / MANIFEST).mkdir()
    with pytest.raises(StoreError, match="not a feature store"):
        read_manifest(tmp_path / "s")
