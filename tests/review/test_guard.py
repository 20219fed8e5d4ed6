"""Who may talk to the page."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from rehead.review.guard import Guard

HOST = "127.0.0.1:8723"
TOKEN = "a-token-of-some-length"


def answer(request):
    return PlainTextResponse("inside")


@pytest.fixture
def client():
    app = Starlette(routes=[Route(p, answer, methods=["GET", "POST"]) for p in ("/", "/api")])
    guarded = Guard(app, TOKEN, [HOST, "localhost:8723"])
    return TestClient(guarded, base_url=f"http://{HOST}", follow_redirects=False)


@pytest.fixture
def known(client):
    client.get(f"/?token={TOKEN}")
    return client


def test_nobody_enters_without_the_token(client):
    for path in ("/", "/api", "/?token=", "/?token=wrong", f"/api?token={TOKEN}"):
        found = client.get(path)
        assert found.status_code == 403
        assert "token" in found.text


def test_the_token_gives_a_cookie_that_other_sites_cannot_send_and_scripts_cannot_read(client):
    found = client.get(f"/?token={TOKEN}")
    assert (found.status_code, found.headers["location"]) == (303, "/")
    cookie = found.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/api").text == "inside"


def test_a_cookie_with_another_value_is_worth_nothing(client):
    client.cookies.set("rehead_review_8723", "guess")
    assert client.get("/api").status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8723", "127.0.0.1", "127.0.0.1:80"])
def test_another_host_is_refused_even_with_the_cookie(known, host):
    assert known.get("/api", headers={"host": host}).status_code == 421


def test_the_names_of_this_machine_are_all_right(known):
    assert known.get("/api", headers={"host": "LOCALHOST:8723"}).status_code in (200, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8723"])
def test_another_origin_is_refused(known, origin):
    assert known.post("/api", headers={"origin": origin}, content=b"{}").status_code == 403
    assert known.get("/api", headers={"origin": origin}).status_code == 403


def test_changes_need_an_origin_and_reading_may_not_come_from_another_site(known):
    assert known.post("/api", content=b"{}").status_code == 403
    assert known.post("/api", headers={"origin": f"http://{HOST}"}, content=b"{}").text == "inside"
    assert known.get("/api", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert known.get("/api", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_large_requests_are_refused_before_they_are_read(known):
    headers = {"origin": f"http://{HOST}"}
    assert known.post("/api", headers=headers, content=b"x" * (2**20 + 1)).status_code == 413


def test_every_answer_forbids_scripts_of_others_and_frames(known):
    for path, host in (("/", HOST), ("/", "evil.example")):
        headers = known.get(path, headers={"host": host}).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
