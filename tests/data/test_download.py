"""Downloads from a server on this machine that behaves badly in several ways."""

import errno
import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from rehead.data import DownloadError, download
from rehead.data.download import fetch

from .server import CONTENT, SHA256


@pytest.fixture
def target(tmp_path):
    return tmp_path / "sets" / "some.bin"


def left(target):
    return sorted(p.name for p in target.parent.iterdir()) if target.parent.exists() else []


def get(server, target, **options):
    return fetch(server.url, target, **{"sha256": SHA256, **options})


def test_a_file_arrives_whole(server, target):
    assert get(server, target, size=len(CONTENT)) == target
    assert target.read_bytes() == CONTENT
    assert left(target) == ["some.bin"]


def test_a_broken_connection_is_taken_up_again(server, target):
    server.breaks, server.breaks_after = 4, 50_000
    get(server, target)
    assert target.read_bytes() == CONTENT
    assert server.asked == [None, *(f"bytes={n}-" for n in (50_000, 100_000, 150_000, 200_000))]
    assert left(target) == ["some.bin"]


def test_a_later_call_goes_on_where_an_earlier_one_gave_up(server, target):
    server.breaks, server.breaks_after, server.ranges = 99, 50_000, False
    with pytest.raises(DownloadError, match="ended after 50000 of 300000 bytes"):
        get(server, target)
    assert left(target) == ["some.bin.part"]
    server.breaks, server.ranges, server.asked = 0, True, []
    get(server, target)
    assert server.asked == ["bytes=50000-"]
    assert target.read_bytes() == CONTENT
    assert left(target) == ["some.bin"]


def test_a_server_that_ignores_ranges_begins_again(server, target):
    server.ranges, server.breaks, server.breaks_after = False, 1, 50_000
    get(server, target)
    assert server.asked == [None, "bytes=50000-"]
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("part", [CONTENT, b"x" * 300_000, b"x" * 400_000, b"x" * 1000])
def test_a_part_that_is_complete_or_wrong(server, target, part):
    # Asked for more than there is, the server answers 416; a wrong beginning shows in the checksum.
    target.parent.mkdir()
    (target.parent / "some.bin.part").write_bytes(part)
    get(server, target)
    assert target.read_bytes() == CONTENT
    assert left(target) == ["some.bin"]


def test_a_wrong_checksum_deletes_the_file_and_says_so(server, target):
    server.content = b"a page that asks for a password"
    with pytest.raises(DownloadError, match="was deleted") as caught:
        get(server, target)
    assert hashlib.sha256(server.content).hexdigest() in str(caught.value)
    assert SHA256 in str(caught.value)
    assert left(target) == []


def test_another_size_is_noticed_before_the_download(server, target):
    with pytest.raises(DownloadError, match="300000 bytes, not 5"):
        get(server, target, size=5)
    assert left(target) == []


@pytest.mark.parametrize("status", [404, 403, 500])
def test_a_refusal_tells_how_to_get_the_file_by_hand(server, target, status):
    server.status = status
    with pytest.raises(DownloadError, match=f"HTTP Error {status}") as caught:
        get(server, target)
    for said in (server.url, str(target), SHA256):
        assert said in str(caught.value)
    assert len(server.asked) == (1 if status < 500 else download.TRIES)
    assert left(target) == []


def test_no_network(server, target, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError(errno.ENETUNREACH, "Network is unreachable")

    monkeypatch.setattr("socket.create_connection", refuse)
    with pytest.raises(DownloadError, match=r"Network is unreachable.*by hand") as caught:
        get(server, target)
    assert isinstance(caught.value, OSError)
    assert left(target) == []


def test_a_disk_that_is_too_small_is_noticed_first(server, target, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1))
    with pytest.raises(DownloadError, match=r"too full: some.bin needs 1 MiB, and 0 MiB are free"):
        get(server, target, size=len(CONTENT))
    assert server.asked == []
    assert left(target) == []


def test_a_disk_that_fills_up(server, target, monkeypatch):
    def write(file, block):
        file.write(block[:1000])
        file.flush()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download, "write_block", write)
    with pytest.raises(DownloadError, match="too full"):
        get(server, target)
    assert left(target) == []


def test_an_interrupt_leaves_only_the_part(server, target, monkeypatch):
    def write(file, block):
        file.write(block[:1000])
        raise KeyboardInterrupt

    monkeypatch.setattr(download, "write_block", write)
    with pytest.raises(KeyboardInterrupt):
        get(server, target)
    assert left(target) == ["some.bin.part"]


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/some.bin", "some.bin"])
def test_only_web_addresses(url, target):
    with pytest.raises(ValueError, match="Only http and https"):
        fetch(url, target, sha256=SHA256)


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/some.bin"])
def test_only_web_addresses_after_a_redirection(server, target, url):
    server.redirect = url
    with pytest.raises(DownloadError):
        get(server, target)
    assert left(target) == []


def test_several_at_once_download_once(server, target):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: get(server, target), range(4)))
    assert server.asked == [None]
    assert target.read_bytes() == CONTENT
    assert left(target) == ["some.bin"]


def test_a_bar_is_shown(server, target, capsys):
    get(server, target, progress=True)
    assert "some.bin, MiB" in capsys.readouterr().err
