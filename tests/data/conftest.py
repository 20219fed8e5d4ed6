"""A cache folder of its own for every test, real data once a session, miniature archives."""

import os
from pathlib import Path

import pytest

from rehead import data

NEEDED = {
    "cifar10": "cifar10/labels.npz",
    "tinyimagenet32": "tinyimagenet32/images.webp",
    "twitter_pos": "twitter_pos/windows.npz",
    "reuters8": "reuters/r8-train-all-terms.txt",
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
