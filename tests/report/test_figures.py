"""Figures and the theorem: kept, then drawn."""

import pytest

from rehead.experiments.cache import Cache
from rehead.experiments.figures.cells import NothingToDrawError, Request
from rehead.experiments.results import Results
from rehead.experiments.theory.kept import keep_theorem
from rehead.report.figures import (
    caption_sheet,
    collect_all,
    collect_figure,
    draw_all,
    draw_kept,
    kept_in,
    theorem_sheet,
)


@pytest.fixture
def request_(tmp_path):
    return Request(Results(tmp_path / "results"), Cache(tmp_path / "cache"), "tiny", "digits")


def test_a_figure_is_kept_and_drawn_from_that(request_, tmp_path):
    content = collect_figure("1c", request_)
    kept = kept_in(tmp_path / "results", "tiny", "digits")
    assert (kept / "1c.json").exists()
    # What shows the paper's data is not overwritten by what shows other data.
    assert not kept_in(tmp_path / "results", "tiny").exists()
    files = draw_kept("1c", kept, tmp_path / "pictures")
    assert [file.name for file in files] == ["1c.png", "1c.svg"]
    sheet = caption_sheet("1c", content, files)
    assert sheet.title == "Figure 1c. The MCD estimator, illustrated"
    assert sheet.notes == [content["caption"]]


def test_what_cannot_be_collected_or_drawn_is_said(request_, tmp_path):
    with pytest.raises(NothingToDrawError, match="Run table 1"):
        collect_figure("2a", request_)
    assert "1c" not in collect_all(request_)
    assert set(collect_all(request_)) == {"1a", "1b", "2a", "2b", "2c", "3a", "3b", "4", "5"}
    keep_theorem(tmp_path / "results" / "tiny", "tiny")
    missing = draw_all(tmp_path / "results", "tiny", tmp_path / "pictures")
    assert "2a" in missing
    assert (tmp_path / "pictures" / "theorem.svg").exists()


def test_the_theorem_has_a_row_for_each_statement(tmp_path):
    result = keep_theorem(tmp_path, "tiny")
    sheet = theorem_sheet(result)
    assert len(sheet.rows) == len(result["statements"]) > 10
    assert all(len(row) == 3 for row in sheet.rows)
