"""A disk that is really full: what cannot be saved is refused, and nothing acknowledged is lost."""

import os
import shutil
import subprocess

import pytest
from starlette.testclient import TestClient

from rehead.review.desk import Desk
from rehead.review.log import DecisionLog
from rehead.review.server import build_app

SIZE = 2 * 2**20


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MB; it is always unmounted."""
    place = tmp_path / "disk"
    place.mkdir()
    if shutil.which("mount") is None or os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place):
    """Take all that is left."""
    with (place / "ballast").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


@pytest.fixture
def full_desk(subject, small_disk):
    desk = Desk(subject, small_disk / "decisions.sqlite")
    yield desk
    desk.close()


def in_the_log(desk):
    with DecisionLog(desk.log.path, desk.subject.run) as other:
        return [line.client for line in other.lines()]


def send(client, card, name):
    sent = {"id": name, "who": "Ann", "ticket": card["ticket"], "action": "keep", "label": None}
    return client.post("/api/decide", json=sent)


def test_what_does_not_fit_is_refused_and_what_was_acknowledged_stays(full_desk, small_disk):
    client = TestClient(build_app(full_desk, who="Ann"))
    cards = client.get("/api/next", params={"who": "Ann", "n": 24}).json()["samples"]
    saved = [f"before-{i:04d}" for i in range(5)]
    for name, card in zip(saved, cards, strict=False):
        assert send(client, card, name).status_code == 200
    fill(small_disk)
    refused = None
    for i in range(1000):  # the log has some room of its own
        answer = send(client, cards[5 + i % 19], f"full-{i:05d}")
        if answer.status_code != 200:
            refused = f"full-{i:05d}", cards[5 + i % 19]
            break
        saved.append(f"full-{i:05d}")
    assert refused is not None
    assert answer.status_code == 507
    assert "disk is full" in answer.json()["error"]
    assert send(client, refused[1], refused[0]).status_code == 507  # and so is the next one
    assert in_the_log(full_desk) == saved
    (small_disk / "ballast").unlink()
    assert send(client, refused[1], refused[0]).status_code == 200
    assert in_the_log(full_desk) == [*saved, refused[0]]


def test_a_log_that_was_closed_on_a_full_disk_opens_again(subject, small_disk, decide):
    desk = Desk(subject, small_disk / "decisions.sqlite")
    rows = [decide(desk).row for _ in range(5)]
    fill(small_disk)
    with pytest.raises(OSError, match="disk is full"):
        rows.extend(decide(desk).row for _ in range(1000))
    desk.close()
    (small_disk / "ballast").unlink()
    again = Desk(subject, small_disk / "decisions.sqlite")
    assert [again.names.index(line.sample) for line in again.log.lines()] == rows
    rows.append(decide(again).row)
    assert len(again.log.lines()) == len(rows)
    again.close()


def test_the_page_says_so_in_red_and_sends_it_when_there_is_room(
    full_desk, small_disk, serve_desk, open_page
):
    page = open_page(serve_desk(full_desk))

    def press():
        page.wait_for_selector("article.card")
        row = page.get_attribute("article.card", "data-row")
        page.keyboard.press("k")
        page.wait_for_selector(f"article.card:not([data-row='{row}'])")
        return int(row)

    def decided(rows):
        full_desk.catch_up()
        return [full_desk.standings.standing(row).status for row in rows]

    rows = [press() for _ in range(3)]
    page.wait_for_selector("#saving:text-is('saved')")
    fill(small_disk)
    for _ in range(60):
        rows.append(press())
        page.wait_for_selector("#unsaved:visible, #saving:text-is('saved')")
        if page.locator("#unsaved").is_visible():
            break
    page.wait_for_selector("#unsaved:has-text('1 change is not saved yet')")
    assert "disk is full" in page.locator("#unsaved").inner_text()
    assert decided(rows) == ["decided"] * (len(rows) - 1) + ["undecided"]
    (small_disk / "ballast").unlink()
    page.wait_for_selector("#unsaved", state="hidden")
    page.wait_for_selector("#saving:text-is('saved')")
    assert decided(rows) == ["decided"] * len(rows)
    assert len(full_desk.log.lines()) == len(rows)


def test_a_disk_that_can_only_be_read_says_so_and_the_decisions_are_still_there(
    subject, small_disk, decide
):
    desk = Desk(subject, small_disk / "decisions.sqlite")
    decide(desk)
    desk.close()
    before = (small_disk / "decisions.sqlite").read_bytes()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for name in ("decisions.sqlite", "other.sqlite"):
        with pytest.raises(OSError, match=r"cannot be written.*--log FILE"):
            Desk(subject, small_disk / name)
    assert (small_disk / "decisions.sqlite").read_bytes() == before
