"""What was typed, checked and read."""

from pathlib import Path

import pytest
import typer

from rehead.cli.checks import (
    named_values,
    need_folder,
    need_other_file,
    need_other_folder,
    number_or_auto,
)


def test_values_are_json_where_they_can_be():
    typed = ["width=16", "hidden=[20, 5]", "name=relu", "deep=true", "empty=", "formula=a=b"]
    assert named_values(typed) == {
        "width": 16,
        "hidden": [20, 5],
        "name": "relu",
        "deep": True,
        "empty": "",
        "formula": "a=b",
    }
    assert named_values(None) == {}


@pytest.mark.parametrize("pair", ["width", "=16", ""])
def test_a_value_needs_a_name(pair):
    with pytest.raises(ValueError, match="must be NAME=VALUE"):
        named_values([pair])


def test_numbers():
    assert number_or_auto("0.25", "--shrinkage") == 0.25
    assert number_or_auto("auto", "--shrinkage") == "auto"
    assert number_or_auto(None, "--shrinkage") is None
    with pytest.raises(ValueError, match="--shrinkage must be a number or auto, got 'much'"):
        number_or_auto("much", "--shrinkage")


def test_what_is_read_is_not_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("store").mkdir()
    for name in ("t.csv", "store/shard.npy"):
        Path(name).write_text("")
    need_other_file(Path("new.csv"), "t.csv", "t.csv:label", "store", None, "gone")
    need_other_file(Path("store/new.csv"), "store")
    for output, source in (
        ("t.csv", "./t.csv"),
        ("t.csv", "t.csv:label"),
        ("store/shard.npy", "store"),
        ("store", "store/"),
    ):
        with pytest.raises(ValueError, match="is what the command reads"):
            need_other_file(Path(output), source)
    need_other_folder(Path("store"), "t.csv")
    with pytest.raises(ValueError, match=r"t.csv is a file. Choose a folder"):
        need_other_folder(Path("t.csv"))


def test_the_current_folder_is_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    need_folder(Path("out.csv"))
    with pytest.raises(typer.BadParameter, match=r"no folder none for out\.csv"):
        need_folder(Path("none/out.csv"))
    Path("made").mkdir()
    with pytest.raises(typer.BadParameter, match="made is a folder; name a file in it"):
        need_folder(Path("made"))
