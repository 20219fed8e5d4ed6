"""A small review: blobs of three classes, some labels wrong, an image for each sample."""

import random
import secrets
import threading

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, score_labels
from rehead.report.shown import Looks, open_shown
from rehead.review.desk import Asked, Desk
from rehead.review.serving import Address, hosts_of, listen
from rehead.review.subject import Subject

CLASSES = np.array(["cat", "dog", "<script>alert(1)</script>"])


@pytest.fixture(scope="session")
def made():
    """Make features, true and noisy labels, and images with one grey for each class."""

    def make(n=300, wrong=0.15, seed=0, classes=CLASSES, d=3):
        rng = np.random.default_rng(seed)
        codes = rng.integers(len(classes), size=n)
        centres = 5 * np.random.default_rng(1).normal(size=(len(classes), d))
        X = rng.normal(size=(n, d)) + centres[codes]
        noisy = codes.copy()
        bad = rng.random(n) < wrong
        noisy[bad] = (codes[bad] + 1) % len(classes)
        return X, classes[codes], classes[noisy], codes

    return make


@pytest.fixture(scope="session")
def subject_of(made):
    """A subject of n samples, in memory."""

    def make(folder, n=300, looks="images", **options):
        X, _, noisy, codes = made(n, **options)
        few = slice(0, min(n, 3000))
        model = RobustGaussianClassifier("anchored").fit(X[few], noisy[few])
        ids = np.array([f"s{i:05d}" for i in range(n)])
        report = score_labels(model, X, noisy, ids=ids)
        shown = None
        if looks == "images":
            pixels = np.zeros((n, 8, 8), np.uint8)
            pixels[np.arange(n), codes % 8] = 250
            shown = open_shown(ids, Looks(images=pixels))
        elif looks == "texts":
            shown = open_shown(ids, Looks(texts=[f"<b>text</b> {i}" for i in range(n)]))
        elif looks == "table":
            shown = open_shown(ids, Looks(table={"a": X[:, 0], "<i>b</i>": X[:, 1]}))
        return Subject(report, X, shown, "head-1", folder)

    return make


@pytest.fixture
def subject(subject_of, tmp_path):
    return subject_of(tmp_path)


@pytest.fixture
def desk(subject, tmp_path):
    desk = Desk(subject, tmp_path / "decisions.sqlite")
    yield desk
    desk.close()


@pytest.fixture
def decide():
    """Decide about the next sample of a reviewer, or about a row; the sample that it was."""
    count = iter(range(10**6))

    def call(desk, action="keep", who="Ann", shown=None, label=None):
        shown = desk.next(who, 1)[0] if shown is None else shown
        if action == "suggestion":
            label = desk.evidence.other_label(shown.row, desk.codes[shown.row])[0]
        asked = Asked(f"client-{next(count):06d}", who, action, label)
        desk.decide(asked, desk.ticket(shown)).result(timeout=60)
        desk.catch_up()
        return shown

    return call


def listen_where_none_calls():
    """Listen at a port that is still free when the server comes back.

    Port 0 would be one of those that the system gives to whoever calls somebody.
    """
    for port in random.sample(range(12_000, 32_000), 50):
        try:
            return listen(Address(port=port))
        except OSError:
            continue  # in use
    raise OSError("none of 50 ports is free")


class Served:
    """A page that can die and come back at the same address."""

    def __init__(self, desk):
        self.desk, self.token = desk, secrets.token_urlsafe(8)
        self.port = None
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    @property
    def door(self):
        return f"{self.url}?token={self.token}"

    def start(self):
        import uvicorn

        from rehead.review.guard import Guard
        from rehead.review.server import build_app

        listening = listen(Address(port=self.port)) if self.port else listen_where_none_calls()
        self.port = listening.getsockname()[1]
        app = Guard(build_app(self.desk, who="Ann"), self.token, hosts_of("127.0.0.1", self.port))
        config = uvicorn.Config(app, log_level="error", lifespan="off")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]})
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            threading.Event().wait(0.01)

    def stop(self):
        self.server.should_exit = self.server.force_exit = True
        self.thread.join()


@pytest.fixture
def serve_desk():
    """Serve a desk; all servers are stopped afterwards."""
    running = []

    def start(desk):
        running.append(Served(desk))
        return running[-1]

    yield start
    for served in running:
        if served.thread.is_alive():
            served.stop()


@pytest.fixture
def open_page(new_context):
    """Open the page as a reviewer; an error in its scripts fails the test."""
    errors = []

    def answer(dialog):
        if dialog.type != "beforeunload":  # who has something unsaved is asked before leaving
            errors.append(f"dialog: {dialog.message}")
        dialog.accept()

    def start(served, who="Ann", context=None, **options):
        if context is None:
            context = new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", answer)
        page.goto(served.door)
        page.wait_for_selector("body[data-ready]")
        if page.input_value("#who") != who:
            page.fill("#who", who)
            page.press("#who", "Enter")
        return page

    yield start
    assert errors == []
