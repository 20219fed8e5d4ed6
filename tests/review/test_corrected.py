"""Decisions as labels and weights."""

import json

import numpy as np
import pytest

from rehead.audit.known import KnownRows
from rehead.files.tables import read_table
from rehead.review.corrected import corrected_labels, known_after, write_corrected
from rehead.review.draws import Shown


@pytest.fixture
def corrected(desk, decide):
    rows = desk.subject.suspects[:5].tolist()
    actions = ["suggestion", "keep", "out of scope", "unsure", "skip"]
    for row, action in zip(rows, actions, strict=True):
        decide(desk, action, shown=Shown(row, "suspect"))
    return desk, rows, corrected_labels(desk.report, desk.standings)


def test_labels_weights_and_trust_follow_from_decisions(corrected):
    desk, rows, found = corrected
    assert found.labels[rows[0]] == desk.report.suggested[rows[0]]
    assert (found.labels[rows[1:]] == desk.given[rows[1:]]).all()
    assert found.weights[rows].tolist() == [1, 1, 0, 1, 1]
    assert found.trusted[rows].tolist() == [True, True, False, False, False]
    assert found.status[rows].tolist() == [
        "suggestion",
        "keep",
        "out of scope",
        "unsure",
        "skipped",
    ]
    assert set(found.who[rows]) == {"Ann"}
    assert found.weights.sum() == len(desk.report) - 1
    assert found.trusted.sum() == 2
    assert (found.who == "").sum() == len(desk.report) - 5


def test_disputed_labels_stay_as_they_were(desk, decide):
    row = int(desk.subject.suspects[0])
    decide(desk, "suggestion", "Ann", Shown(row, "suspect"))
    decide(desk, "keep", "Bo", Shown(row, "suspect"))
    found = corrected_labels(desk.report, desk.standings)
    assert found.labels[row] == desk.given[row]
    assert not found.trusted[row]
    assert found.status[row] == "disputed"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_hold_all_of_it(corrected, tmp_path, ending):
    _, rows, found = corrected
    write_corrected(tmp_path / f"c.{ending}", found)
    table = read_table(tmp_path / f"c.{ending}")
    assert table.values("label").tolist() == found.labels.tolist()
    assert table.values("id").tolist() == found.ids.tolist()
    assert table.values("weight").tolist() == found.weights.tolist()
    assert table.cells("who")[rows[0]] == "Ann"


def test_json_and_npy(corrected, tmp_path):
    _, _, found = corrected
    write_corrected(tmp_path / "c.json", found)
    lines = json.loads((tmp_path / "c.json").read_text())
    assert [line["label"] for line in lines] == found.labels.tolist()
    files = write_corrected(tmp_path / "c.npy", found)
    assert [file.name for file in files] == ["c.npy", "c-weights.npy"]
    assert np.load(files[0]).tolist() == found.labels.tolist()
    assert np.load(files[1]).tolist() == found.weights.tolist()


def test_another_ending_is_refused(corrected, tmp_path):
    with pytest.raises(ValueError, match=r"\.csv or \.parquet or \.npy or \.json"):
        write_corrected(tmp_path / "c.xlsx", corrected[2])


def test_what_the_head_was_told_before_is_still_known(corrected, tmp_path):
    desk, rows, found = corrected  # decided: rows[0] and rows[1]
    other = int(np.setdiff1d(np.arange(len(desk.report)), rows)[0])
    words = np.full(len(found.ids), "", "U9")
    words[[rows[1], rows[3], other]] = "random", "suggested", "chosen"
    before = found.given.copy()
    before[[rows[3], other]] = before[[other, rows[3]]]
    known = known_after(found, KnownRows(words, before))
    told = known.trusted[[*rows[:4], other]].tolist()
    assert told == ["chosen", "random", "", "suggested", "chosen"]
    assert known.uncorrected is before
    write_corrected(tmp_path / "c.csv", found, KnownRows(words, before))
    table = read_table(tmp_path / "c.csv")
    assert table.cells("trusted").tolist() == known.trusted.tolist()
    assert table.values("uncorrected").tolist() == before.tolist()
    assert table.values("given").tolist() == found.given.tolist()


def test_what_labels_were_is_known_if_nobody_checked_any_before(corrected):
    found = corrected[2]
    words = np.full(len(found.ids), "", "U9")
    before = np.roll(found.given, 1)
    # Also where a model has changed all labels that are not as they came.
    assert known_after(found, KnownRows(words, before)).uncorrected is before
    for first in (None, KnownRows(words), KnownRows(np.where(words == "", "suggested", ""))):
        assert known_after(found, first).uncorrected is found.given
    words[3] = "random"  # and what this one was, nobody has said
    assert known_after(found, KnownRows(words)).uncorrected is None
    assert "uncorrected" not in found.columns(KnownRows(words))
