"""Archives that are hostile, damaged or incomplete: refused, and named."""

import gzip
import tarfile

import pytest

from rehead.data import DataFileError, archive, cifar, imagenet32

from .miniatures import DAMAGE, cifar10, imagenet, tar_of, zip_of


def special(name, kind, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


HOSTILE = {
    "../evil": b"x",
    "/evil": b"x",
    "cifar-10-batches-bin/../../evil": b"x",
    "..\\evil": b"x",
    "c:evil": b"x",
    "symlink": special("symlink", tarfile.SYMTYPE, "/etc/hostname"),
    "hardlink": special("hardlink", tarfile.LNKTYPE, "cifar-10-batches-bin/readme.html"),
    "device": special("device", tarfile.CHRTYPE),
    "fifo": special("fifo", tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_tar_is_refused(publish, tmp_path, name):
    load = publish("cifar10", tar_of({name: HOSTILE[name], **cifar10()}))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataFileError, match="was refused"):
        load()
    assert sorted(tmp_path.rglob("*")) == before
    assert not (tmp_path.parent / "evil").exists()


def test_a_hostile_zip_is_refused(publish):
    train, test = imagenet()
    load = publish("imagenet32", zip_of({"../evil": b"x", **train}), zip_of(test))
    with pytest.raises(DataFileError, match="was refused"):
        load()


def test_a_member_that_is_too_large_is_refused(publish, monkeypatch):
    load = publish("cifar10", tar_of(cifar10()))
    monkeypatch.setattr(archive, "LARGEST", 1000)
    with pytest.raises(DataFileError, match=r"was refused.*more than expected"):
        load()


def pax_bomb(size):
    """A tar whose header for one name is as large as that: tarfile reads headers whole."""
    info = tarfile.TarInfo("x")
    info.pax_headers = {"comment": "x" * size}
    return info.tobuf(tarfile.PAX_FORMAT)


@pytest.mark.parametrize("how", ["one", "many", "header"])
def test_a_tar_that_unpacks_to_more_than_expected_is_refused(publish, monkeypatch, how):
    monkeypatch.setattr(cifar, "UNPACKED", 1_000_000)
    more = {
        "one": {"big": b"0" * 2_000_000},
        "many": {f"small{i}": b"0" * 1000 for i in range(1000)},
    }
    content = tar_of({**more.get(how, {}), **cifar10()})
    if how == "header":
        content = gzip.compress(pax_bomb(2_000_000) + gzip.decompress(content))
    with pytest.raises(DataFileError, match="it unpacks to more than expected"):
        publish("cifar10", content)()


def test_a_zip_that_unpacks_to_more_than_expected_is_refused(publish, monkeypatch):
    train, test = imagenet()
    bomb = zip_of({**train, "zeros": b"\0" * 10_000_000})
    assert len(bomb) < 1_000_000
    monkeypatch.setattr(imagenet32, "UNPACKED", 5_000_000)
    with pytest.raises(DataFileError, match="it unpacks to more than expected"):
        publish("imagenet32", bomb, zip_of(test))()


def test_arrays_within_a_zip_are_no_bombs_either(publish, monkeypatch):
    train, test = (zip_of(part) for part in imagenet())
    monkeypatch.setattr(imagenet32, "LARGEST", 1000)
    with pytest.raises(DataFileError, match="it unpacks to more than expected"):
        publish("imagenet32", train, test)()


def test_a_zip_that_lies_about_a_size_is_damaged(publish):
    train, test = (bytearray(zip_of(part)) for part in imagenet())
    # The size in the list of members, 24 bytes into an entry: readers stop there.
    entry = train.index(b"PK\x01\x02")
    train[entry + 24 : entry + 28] = (10).to_bytes(4, "little")
    with pytest.raises(DataFileError, match=r"Imagenet32_train_npz.zip cannot be read"):
        publish("imagenet32", bytes(train), bytes(test))()


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_archive_is_named(publish, how):
    load = publish("cifar10", DAMAGE[how](tar_of(cifar10())))
    with pytest.raises(DataFileError, match=r"cifar-10-binary.tar.gz .*Delete it"):
        load()


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_zip_is_named(publish, how):
    train, test = (zip_of(part) for part in imagenet())
    with pytest.raises(DataFileError, match=r"Imagenet32_train_npz.zip .*Delete it"):
        publish("imagenet32", DAMAGE[how](train), test)()


@pytest.mark.parametrize(
    ("member", "content"),
    [("data_batch_3.bin", None), ("batches.meta.txt", None), ("data_batch_3.bin", b"1234")],
)
def test_an_incomplete_archive_is_named(publish, member, content):
    members = cifar10()
    name = f"cifar-10-batches-bin/{member}"
    members = {k: v for k, v in members.items() if k != name}
    if content:
        members[name] = content
    with pytest.raises(DataFileError, match=r"cifar-10-binary.tar.gz (has no|cannot be read)"):
        publish("cifar10", tar_of(members))()


def test_a_gzip_that_is_no_tar(publish):
    with pytest.raises(DataFileError, match="cannot be read"):
        publish("cifar10", gzip.compress(b"hello" * 1000))()
