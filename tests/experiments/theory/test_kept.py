"""The result about the theorem as a file."""

import re
from pathlib import Path

import pytest

from rehead.experiments.theory.kept import keep_theorem, read_theorem
from rehead.experiments.theory.statements import statements

RESULTS = Path(__file__).parents[3] / "results"


def test_it_is_measured_once(tmp_path):
    first = keep_theorem(tmp_path / "tiny", "tiny")
    told = []
    again = keep_theorem(tmp_path / "tiny", "tiny", lambda *what: told.append(what))
    assert told == []
    assert again == first == read_theorem(tmp_path / "tiny")


@pytest.mark.parametrize(
    ("content", "said"), [(b"{", "is damaged"), (b"[]", "is no result"), (b"{}", "is no result")]
)
def test_another_file_is_named(content, said, tmp_path):
    (tmp_path / "theorem.json").write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read_theorem(tmp_path)


def test_a_changed_number_is_noticed(tmp_path):
    kept = (RESULTS / "quick" / "theorem.json").read_text()
    for text in (kept.replace('"level": 0.01', '"level": 0.02'), kept.replace('"checksum"', '"x"')):
        assert text != kept
        (tmp_path / "theorem.json").write_text(text)
        with pytest.raises(ValueError, match="was changed or damaged"):
            read_theorem(tmp_path)


def test_nothing_there(tmp_path):
    call = f"rehead reproduce theorem --profile tiny --results {tmp_path}"
    with pytest.raises(FileNotFoundError, match=re.escape(call)):
        read_theorem(tmp_path / "tiny")


def test_the_committed_statements_are_those_of_the_code():
    """They are kept in the file, so a change of their words or rules must reach it."""
    result = read_theorem(RESULTS / "quick")
    now = statements(result)
    for name in ("id", "where", "says", "verdict", "note"):
        assert [s[name] for s in result["statements"]] == [s[name] for s in now]
