"""The interface of the page, without a browser."""

import io
import os
import time

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from rehead.report.shown import Looks, open_shown
from rehead.review.desk import Desk
from rehead.review.log import DecisionLog
from rehead.review.server import PAGES, build_app
from rehead.review.subject import Subject

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def client(desk):
    return TestClient(build_app(desk, who="Ann"))


def next_card(client, who="Ann", **query):
    return client.get("/api/next", params={"who": who, "n": 1, **query}).json()["samples"][0]


def decide(client, card, action="keep", label=None, who="Ann", client_id=None):
    sent = {"id": client_id or os.urandom(8).hex(), "who": who, "ticket": card["ticket"]}
    return client.post("/api/decide", json={**sent, "action": action, "label": label})


def test_the_page_carries_nothing_of_the_data_and_no_script_of_its_own(client):
    page = client.get("/")
    assert page.status_code == 200
    assert EVIL not in page.text
    assert page.text.count("<script") == 1
    assert 'src="/static/main.js"' in page.text
    assert "style=" not in page.text
    assert " onclick" not in page.text


def test_pages_only_use_files_of_their_own():
    for file in (f for f in PAGES.rglob("*.*") if f.suffix != ".png"):
        text = file.read_text(encoding="utf-8")
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text
        assert "innerHTML" not in text


def test_about_names_classes_as_plain_values(client):
    about = client.get("/api/about").json()
    assert about["classes"] == sorted(["cat", "dog", EVIL])
    assert about["samples"] == 300
    assert about["shows"] == "image"


def test_a_card_has_all_that_is_shown(client, desk):
    desk.set_share("client-share", "Ann", "random", 0.0).result()
    card = next_card(client)
    assert card["row"] in desk.subject.suspects
    assert card["given"] != card["other"]
    assert card["opinion"]["given"] < card["opinion"]["other"]
    assert len(card["neighbours"]["given"]) == len(card["neighbours"]["other"]) == 4
    assert "reason" not in str(card)


def test_random_draws_are_shown_without_an_opinion_and_look_alike(client, desk):
    desk.set_share("client-share", "Ann", "random", 0.4).result()
    cards = client.get("/api/next", params={"who": "Ann", "n": 24}).json()["samples"]
    suspects = set(desk.subject.suspects.tolist())
    blind = [card for card in cards if card["opinion"] is None]
    kinds = {card["row"] in suspects for card in blind}
    assert kinds == {True, False}  # who sees no opinion cannot tell which it is
    assert all(card["row"] in suspects for card in cards if card["opinion"] is not None)
    assert len({frozenset(card) for card in cards}) == 1


def test_a_decision_is_on_the_disk_when_it_is_answered(client, desk, subject):
    card = next_card(client)
    answer = decide(client, card, "suggestion", card["other"]).json()
    assert answer["lines"] == 1
    with DecisionLog(desk.log.path, subject.run) as other:
        assert other.lines()[-1].sample == subject.names[card["row"]]
    assert client.get("/api/progress").json()["counts"]["decided"] == 1


def test_the_same_decision_twice_is_one(client):
    card = next_card(client)
    answers = [decide(client, card, client_id="the-same-id").json() for _ in range(2)]
    assert [answer["repeated"] for answer in answers] == [False, True]
    assert client.get("/api/progress").json()["counts"]["decided"] == 1


def test_undo_gives_back_the_card_as_it_was_shown(client, desk):
    desk.set_share("client-share", "Ann", "random", 0.5).result()
    cards = client.get("/api/next", params={"who": "Ann", "n": 24}).json()["samples"]
    blind = next(card for card in cards if card["opinion"] is None)
    decide(client, blind)
    answer = client.post("/api/undo", json={"id": "an-undo-id", "who": "Ann"}).json()
    assert answer["undone"] == [blind["row"]]
    assert answer["again"]["row"] == blind["row"]
    assert answer["again"]["opinion"] is None
    nothing = client.post("/api/undo", json={"id": "undo-again", "who": "Ann"}).json()
    assert nothing["undone"] == []
    assert nothing["again"] is None


def test_a_batch_and_its_undo(client):
    pair = client.get("/api/pairs").json()["pairs"][0]
    asked = {"given": pair["given"], "suggested": pair["suggested"], "status": "undecided"}
    rows = [one["row"] for one in client.get("/api/list", params=asked).json()["samples"]]
    sent = {"id": "a-batch-id", "who": "Ann", "rows": rows, "action": "suggestion"}
    answer = client.post("/api/batch", json={**sent, "label": pair["suggested"]}).json()
    assert answer["lines"] == len(rows) == pair["n"]
    undone = client.post("/api/undo", json={"id": "an-undo-id", "who": "Ann"}).json()["undone"]
    assert sorted(undone) == sorted(rows)


def test_a_list_comes_in_parts(client):
    first = client.get("/api/list", params={"scope": "all", "n": 10}).json()
    assert (first["total"], len(first["samples"])) == (300, 10)
    last = client.get("/api/list", params={"scope": "all", "start": 295, "n": 999}).json()
    assert len(last["samples"]) == 5


def test_the_export_has_old_and_new_labels_who_and_when(client):
    card = next_card(client)
    decide(client, card, "suggestion", card["other"])
    found = client.get("/export.csv")
    assert "attachment" in found.headers["content-disposition"]
    lines = found.text.splitlines()
    assert lines[0] == "id,label,given,changed,weight,trusted,status,who,when,why,uncorrected"
    assert len(lines) == 301
    assert sum("Ann" in line for line in lines) == 1


def test_pictures_are_webp_whatever_the_run_in_their_address(client):
    found = client.get("/picture/run/3/small")
    assert found.headers["content-type"] == "image/webp"
    assert Image.open(io.BytesIO(found.content)).size == (8, 8)
    assert client.get("/picture/run/3/huge").status_code == 404
    assert client.get("/picture/run/300/small").status_code == 404


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd"]
)
def test_files_outside_of_the_pages_are_not_served(client, path):
    assert client.get(f"/static/{path}").status_code == 404


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense",
        b"[]",
        b"{}",
        b'{"id": 3, "who": "Ann", "ticket": "t", "action": "keep"}',
        b'{"id": "some-good-id", "who": "Ann", "ticket": "t", "action": "keep"}',
        b'{"id": "some-good-id", "who": "Ann", "ticket": "t", "action": "other", "label": "cat"}',
    ],
)
def test_requests_that_make_no_sense_get_an_answer_that_says_why(client, sent):
    found = client.post("/api/decide", content=sent)
    assert found.status_code == 400
    assert found.json()["error"]


def test_bad_filters_and_numbers_get_an_answer_that_says_why(client):
    for path in ("/api/list?given=99", "/api/list?kind=odd", "/api/next?n=x", "/api/list?start=-1"):
        found = client.get(path)
        assert found.status_code == 400
        assert found.json()["error"]


def test_a_full_disk_is_said_and_the_decision_can_be_sent_again(client, desk):
    card = next_card(client)
    pages = desk.log._base.execute("PRAGMA page_count").fetchone()[0]
    desk.log._base.execute(f"PRAGMA max_page_count = {pages}")
    rows = desk.subject.suspects.tolist()
    sent = {"id": "a-large-batch", "who": "Ann", "action": "unsure", "label": None}
    for i in range(60):  # until the pages that there are hold no more
        found = client.post("/api/batch", json={**sent, "id": f"batch-{i:04d}", "rows": rows})
        if found.status_code != 200:
            break
    assert found.status_code == 507
    assert "disk is full" in found.json()["error"]
    desk.log._base.execute("PRAGMA max_page_count = 1000000")
    assert decide(client, card).status_code == 200


def folder_subject(made, folder, tmp_path):
    """Images as files, some of which are not what they should be."""
    from rehead import RobustGaussianClassifier, score_labels

    X, _, noisy, _ = made(60)
    names = np.array([f"{i:03d}.png" for i in range(60)], dtype="<U40")
    names[1], names[2], names[3], names[4] = '"><img src=x>.png', "out.png", "svg.png", "huge.png"
    for name in names:
        Image.new("L", (9, 9), 128).save(folder / name)
    (tmp_path / "secret.png").write_bytes((folder / "000.png").read_bytes())
    (folder / "out.png").unlink()
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "svg.png").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>")
    Image.new("1", (10_000, 8_000)).save(folder / "huge.png")
    (folder / "005.png").write_bytes(b"\x89PNG broken")
    model = RobustGaussianClassifier(random_state=0).fit(X, noisy)
    report = score_labels(model, X, noisy, ids=names)
    return Subject(report, X, open_shown(names, Looks(images=folder)), "h", tmp_path)


def test_images_are_files_below_the_root_and_nothing_else(made, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    subject = folder_subject(made, folder, tmp_path)
    (folder / "006.png").unlink()
    desk = Desk(subject, tmp_path / "d.sqlite")
    client = TestClient(build_app(desk))
    found = {row: client.get(f"/picture/run/{row}/small") for row in range(7)}
    assert [found[row].status_code for row in range(7)] == [200, 200, 404, 404, 404, 404, 404]
    said = {row: answer.json()["error"] for row, answer in found.items() if row > 1}
    assert "link to a file outside" in said[2]
    assert "not an image" in said[3]
    assert "too large" in said[4]
    assert "decoded" in said[5] or "not an image" in said[5]
    assert "no longer there" in said[6]
    desk.close()


def test_texts_and_rows_are_plain_values(subject_of, tmp_path):
    for looks, kind in (("texts", "text"), ("table", "row"), ("none", "none")):
        desk = Desk(subject_of(tmp_path, looks=looks), tmp_path / f"{looks}.sqlite")
        client = TestClient(build_app(desk))
        assert next_card(client)["sample"]["kind"] == kind
        assert client.get("/picture/run/3/small").status_code == 404
        desk.close()


def test_refitting_in_the_background_gives_a_better_order(client, desk):
    for row in desk.subject.suspects[:10]:
        card = client.get(f"/api/sample/{row}").json()
        decide(client, card, "suggestion", card["other"])
    assert client.post("/api/refit").json()["state"] == "working"
    until = time.monotonic() + 120
    while client.get("/api/refit").json()["state"] == "working" and time.monotonic() < until:
        time.sleep(0.05)
    state = client.get("/api/refit").json()
    assert state["state"] == "done", state
    assert "10 labels corrected" in state["said"]
    assert next_card(client)["row"] not in desk.log.suspects[:10]
