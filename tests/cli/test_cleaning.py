"""What a folder says that it was made from."""

import numpy as np
import pytest

from rehead.cli.cleaning import Asked, cleaning_of, difference_of, folder_steps
from rehead.files.cleaned import CleanedFolder

NETWORK = {"weights": None, "layers": "auto", "pool": "mean", "trust": False}


def asked(**changes):
    fields = {
        "net": "x.npy",
        "data": None,
        "validation": None,
        "labels": "y.npy",
        "ids": None,
        "validation_labels": None,
        "ignore": (),
        "network": NETWORK,
        "inputs": {},
        "looks": {},
        "head": {"random_state": 0},
    }
    return Asked(**{**fields, **changes})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.zeros((4, 2)))
    np.save("y.npy", np.zeros(4, int))
    np.save("images.npy", np.zeros((4, 8, 8)))
    (tmp_path / "t.csv").write_text("text,path\na,b\n")
    (tmp_path / "far.csv").write_text("text,path\na,/elsewhere/b.png\n")
    return CleanedFolder(tmp_path / "out")


def test_every_file_that_is_read_has_its_checksum(folder):
    found = cleaning_of(asked(validation="x.npy", validation_labels="y.npy"), folder)
    assert [place.rpartition("/")[2] for place in found.content] == ["x.npy", "y.npy"]
    assert all(len(digest) == 64 for digest in found.content.values())
    assert difference_of(found, found) == ""
    np.save("y.npy", np.ones(4, int))
    now = cleaning_of(asked(validation="x.npy", validation_labels="y.npy"), folder)
    assert difference_of(found, now).endswith("y.npy: the file has changed since")


@pytest.mark.parametrize(
    ("changes", "looks"),
    [
        ({"data": "images.npy"}, {"images": "images.npy"}),
        ({"data": "x.npy"}, {}),
        ({"data": "."}, {"images": "."}),
        ({"data": "t.csv", "inputs": {"texts": "text"}}, {"texts": "t.csv:text"}),
        ({"data": "t.csv", "inputs": {"paths": "path"}}, {"images": "."}),
        ({"data": "t.csv", "inputs": {"paths": "path"}, "ids": "text"}, {}),
        ({"data": "far.csv", "inputs": {"paths": "path"}}, {}),
        ({"data": "mine:loader"}, {}),
        ({"net": "t.csv", "ids": "text"}, {"table": "t.csv"}),
        ({"net": "t.csv", "ids": "y.npy"}, {}),
        ({"net": "t.csv"}, {"table": "t.csv"}),
        ({"net": "t.csv", "looks": {"images": ".", "table": None}}, {"images": "."}),
    ],
)
def test_what_samples_look_like_is_told_by_the_data(folder, tmp_path, changes, looks):
    found = cleaning_of(asked(**changes), folder).looks
    expected = {name: str((tmp_path / value).absolute()) for name, value in looks.items()}
    assert found == expected


def test_commands_for_a_folder(tmp_path):
    assert [command for _, command in folder_steps("out")] == [
        "rehead review out",
        "rehead apply out",
    ]
