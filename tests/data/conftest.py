"""A cache folder of its own for every test, real data once a session, miniature archives."""

import dataclasses
import hashlib
import os
import threading
from pathlib import Path

import pytest

from rehead import data
from rehead.data import download

from .server import Server

NEEDED = {
    "cifar10": "cifar10/labels.npz",
    "tinyimagenet32": "tinyimagenet32/images.webp",
    "twitter_pos": "twitter_pos/windows.npz",
    "reuters8": "reuters/r8-train-all-terms.txt",
    "reuters52": "reuters/r52-train-no-short.txt",
}
REAL = os.environ.get("REHEAD_DATA", "")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The user's own files are neither read nor written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("REHEAD_DATA", raising=False)
    return tmp_path / "cache" / "rehead"


@pytest.fixture(scope="session")
def real_folder():
    """The folder of real data that has a data set, or else the test is skipped."""

    def find(name):
        if not REAL or not (Path(REAL) / NEEDED[name]).is_file():
            pytest.skip(f"REHEAD_DATA does not name a folder with {NEEDED[name]}")
        return Path(REAL)

    return find


@pytest.fixture(scope="session")
def real(real_folder, tmp_path_factory):
    """Whole data sets, loaded once, decoded anew: below a file there can be no cache."""
    loaded = {}
    no_folder = tmp_path_factory.mktemp("cache") / "file"
    no_folder.touch()

    def load(name):
        folder = real_folder(name)
        if name not in loaded:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("XDG_CACHE_HOME", str(no_folder))
                loaded[name] = data.load(name, validation=0, folder=folder, download=False)
        return loaded[name]

    return load


@pytest.fixture
def server(monkeypatch):
    """A running server; tests set how it behaves."""
    monkeypatch.setattr(download, "FIRST_PAUSE", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def publish(monkeypatch, tmp_path):
    """Put files where a data set looks for them, and make their checksums the expected ones."""

    def put(name, *contents, checksums=True):
        dataset = data.DATASETS[name]
        folder = tmp_path / dataset.folder
        folder.mkdir(exist_ok=True)
        remotes = []
        for remote, content in zip(dataset.remotes, contents, strict=True):
            (folder / remote.name).write_bytes(content)
            sha256 = hashlib.sha256(content).hexdigest() if checksums else remote.sha256
            remotes.append(dataclasses.replace(remote, sha256=sha256))
        changed = dataclasses.replace(dataset, remotes=tuple(remotes))
        monkeypatch.setitem(data.DATASETS, name, changed)

        def load(**options):
            return data.load(name, folder=tmp_path, **{"validation": 0, **options})

        return load

    return put
