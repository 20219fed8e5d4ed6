import json
import os

import pytest

from rehead.files.cleaned import CleanedFolder, Cleaning, CleaningError, is_cleaned, stored


def test_what_was_asked_for_is_read_back(tmp_path):
    folder = CleanedFolder(tmp_path / "cleaned")
    asked = Cleaning(
        train={"data": "./features", "labels": None, "ids": None, "ignore": ["a", "b"]},
        validation={"data": "/x/held.csv", "labels": "y"},
        looks={"images": "./digits.npy"},
        head={"seed": 3},
    )
    folder.write(asked)
    assert is_cleaned(folder.path)
    assert folder.read() == asked
    assert folder.source().data == str(folder.features)
    assert folder.source().ignore == ("a", "b")
    assert folder.validation().labels == "y"
    assert folder.looks() == {"images": str(folder.path / "digits.npy")}


def test_places_are_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cleaned").mkdir()
    for name in ("data.csv", "cleaned/own.npy"):
        (tmp_path / name).touch()
    assert stored("data.csv", "cleaned") == str(tmp_path / "data.csv")
    assert stored("data.csv:label", "cleaned") == f"{tmp_path / 'data.csv'}:label"
    assert stored("cleaned/own.npy", "cleaned") == "./own.npy"
    assert stored("species", "cleaned") == "species"
    folder = CleanedFolder("cleaned")
    assert os.path.samefile(folder.place("./own.npy"), "cleaned/own.npy")


def test_folders_of_others_are_refused(tmp_path):
    folder = CleanedFolder(tmp_path)
    with pytest.raises(CleaningError, match="not made by `rehead clean`"):
        folder.read()
    with pytest.raises(FileNotFoundError):
        CleanedFolder(tmp_path / "none").read()
    record = tmp_path / "cleaning.json"
    good = {"kind": "rehead cleaning", "version": 1, "train": {"data": "x"}, "validation": None}
    good |= {name: {} for name in ("looks", "network", "head", "content", "versions")}
    record.write_text(json.dumps(good))
    assert folder.validation() is None
    for change, problem in (
        ({"version": 2}, "version 2"),
        ({"kind": "x"}, "not written by"),
        ({"train": {"data": 3}}, "'train'"),
        ({"validation": {}}, "'validation'"),
        ({"looks": []}, "'looks'"),
        ({"more": 1}, "'more'"),
    ):
        record.write_text(json.dumps({**good, **change}))
        with pytest.raises(CleaningError, match=problem):
            folder.read()
    record.write_text("{")
    with pytest.raises(CleaningError, match="damaged"):
        folder.read()
