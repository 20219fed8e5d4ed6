"""Where files are looked for, and when they are downloaded."""

import tarfile

import pytest

from rehead.data import DataFileError, DownloadError
from rehead.data.files import Files, Remote, places, user_cache

from .miniatures import cifar10, tar_of
from .server import CONTENT, SHA256


def test_where_files_are_looked_for(monkeypatch, tmp_path):
    assert places(None) == (user_cache(),)
    assert places(tmp_path) == (tmp_path, user_cache())
    monkeypatch.setenv("REHEAD_DATA", "~/sets")
    assert places(None)[0].is_absolute()
    assert places(tmp_path)[0] == tmp_path
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert user_cache().parts[-2:] == (".cache", "rehead")


def files(server, *folders, **options):
    remote = Remote("some.bin", server.url, SHA256, len(CONTENT), note="Ask nicely. ")
    return Files(folders, (remote,), **{"download": True, "progress": False, **options})


def test_a_file_that_is_there_is_not_downloaded(server, tmp_path):
    (tmp_path / "some.bin").write_bytes(CONTENT)
    assert files(server, tmp_path / "no", tmp_path).get("some.bin") == tmp_path / "some.bin"
    assert server.asked == []


def test_a_damaged_file_that_is_there_is_named_and_left_alone(server, tmp_path):
    (tmp_path / "some.bin").write_bytes(CONTENT[:-1])
    with pytest.raises(DataFileError, match=r"some.bin is damaged.*Delete it"):
        files(server, tmp_path).get("some.bin")
    assert (tmp_path / "some.bin").exists()


def test_a_read_only_folder_sends_downloads_to_the_next(server, tmp_path):
    read_only, below_a_file = tmp_path / "read-only", tmp_path / "file" / "sets"
    read_only.mkdir(mode=0o555)
    (tmp_path / "file").touch()
    path = files(server, read_only, below_a_file, tmp_path / "cache").get("some.bin")
    assert path == tmp_path / "cache" / "some.bin"
    with pytest.raises(DownloadError, match="cannot be written to"):
        files(server, read_only, below_a_file).get("some.bin")


def test_the_note_comes_first(server, tmp_path):
    server.status = 403
    with pytest.raises(DownloadError, match=r"^Ask nicely. some.bin could not"):
        files(server, tmp_path).get("some.bin")


def test_the_checksum_comes_before_the_reader(publish, monkeypatch):
    load = publish("cifar10", tar_of(cifar10()), checksums=False)
    monkeypatch.setattr(tarfile, "open", lambda *a, **k: pytest.fail("was read"))
    with pytest.raises(DataFileError, match=r"cifar-10-binary.tar.gz is damaged.*Delete it"):
        load()
