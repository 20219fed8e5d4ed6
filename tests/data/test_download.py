"""Downloads from a server on this machine that behaves badly in several ways."""

import errno
import hashlib
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from rehead.data import DATASETS, DownloadError, download
from rehead.data.download import fetch

from .server import CONTENT, SHA256


@pytest.fixture
def target(tmp_path):
    return tmp_path / "sets" / "some.bin"


def left(target):
    return sorted(p.name for p in target.parent.iterdir()) if target.parent.exists() else []


def get(server, target, **options):
    return fetch(server.url, target, **{"sha256": SHA256, "size": len(CONTENT), **options})


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
    # One that is too long is begun again; a wrong beginning shows in the checksum.
    target.parent.mkdir()
    (target.parent / "some.bin.part").write_bytes(part)
    get(server, target)
    assert target.read_bytes() == CONTENT
    assert left(target) == ["some.bin"]


def test_a_wrong_checksum_deletes_the_file_and_says_so(server, target):
    server.content = b"a page that asks for a password".ljust(len(CONTENT))
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


def test_no_more_is_written_than_the_file_has(server, target, monkeypatch):
    """A server that does not say how much it sends, and sends without end."""
    server.endless = True
    written = []
    write = download.write_block

    def count(file, block):
        written.append(len(block))
        write(file, block)

    monkeypatch.setattr(download, "write_block", count)
    with pytest.raises(DownloadError, match="more than 300000 bytes"):
        get(server, target)
    assert sum(written) <= len(CONTENT)
    assert left(target) == []


@pytest.mark.parametrize("slow", ["content", "header"])
def test_a_server_that_trickles_is_given_up_on(server, target, monkeypatch, slow):
    monkeypatch.setattr(download, "SLOW_SECONDS", 0.5)
    monkeypatch.setattr(download, "ANSWER_SECONDS", 0.5)
    server.pause, server.slow = 0.02, slow
    start = time.monotonic()
    with pytest.raises(DownloadError, match=r"too slow|no answer within") as caught:
        get(server, target)
    assert time.monotonic() - start < 10
    assert left(target) == (["some.bin.part"] if slow == "content" else [])
    assert ("What has arrived is kept" in str(caught.value)) == (slow == "content")
    server.pause, server.asked = None, []
    get(server, target)
    assert target.read_bytes() == CONTENT
    assert (server.asked[0] or "").startswith("bytes=") == (slow == "content")


def test_a_server_that_breaks_off_after_each_crumb_is_given_up_on(server, target, monkeypatch):
    """Each try brings something new, so that it is not a failure: together they are too slow."""
    monkeypatch.setattr(download, "SLOW_SECONDS", 0.5)
    monkeypatch.setattr(download, "FIRST_PAUSE", 0.05)
    server.breaks, server.breaks_after = 10**6, 10
    with pytest.raises(DownloadError, match="too slow"):
        get(server, target)
    assert left(target) == ["some.bin.part"]


def links(part, other):
    return {
        "symlink": lambda: part.symlink_to(other),
        "dangling": lambda: part.symlink_to(other.with_name("nowhere")),
        "hard link": lambda: os.link(other, part),
        "folder": part.mkdir,
        "fifo": lambda: os.mkfifo(part),
    }


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("kind", ["symlink", "dangling", "hard link", "folder", "fifo"])
def test_a_part_that_leads_elsewhere_is_not_followed(server, target, tmp_path, kind):
    other = tmp_path / "precious"
    other.write_text("mine")
    target.parent.mkdir()
    links(target.parent / "some.bin.part", other)[kind]()
    with pytest.raises(DownloadError, match=r"some.bin.part is a link, or no file.*Remove it"):
        get(server, target)
    assert other.read_text() == "mine"
    assert server.asked == []
    assert not (tmp_path / "nowhere").exists()


def test_every_data_set_says_how_large_its_files_are():
    remotes = {remote for dataset in DATASETS.values() for remote in dataset.remotes}
    assert len(remotes) == 13
    assert all(remote.size > 10_000 for remote in remotes)


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/some.bin", "some.bin"])
def test_only_web_addresses(url, target):
    with pytest.raises(ValueError, match="Only http and https"):
        fetch(url, target, sha256=SHA256, size=len(CONTENT))


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
