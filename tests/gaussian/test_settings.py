"""The constants of the default: each is explained, and each is used."""

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

import rehead
from rehead.gaussian.settings import SETTINGS, settings_table


def test_every_setting_is_read_somewhere():
    source = Path(rehead.__file__).parent
    code = "".join(p.read_text() for p in source.rglob("*.py") if p.name != "settings.py")
    assert [f.name for f in fields(SETTINGS) if f"SETTINGS.{f.name}" not in code] == []


def test_the_table_has_a_row_for_every_setting():
    head, line, *rows = settings_table().splitlines()
    assert (head.count("|"), line.count("|")) == (4, 4)
    names = [row.split("`")[1] for row in rows]
    assert names == [f.name for f in fields(SETTINGS)]
    assert all(row.count("|") == 4 for row in rows)
    assert "| `trust_powers` | 1, 2 |" in settings_table()


def test_settings_are_constants():
    with pytest.raises(FrozenInstanceError):
        SETTINGS.noise_sample = 1
