"""Figures and the theorem: kept, then drawn."""

from pathlib import Path

import pytest
from PIL import Image

from rehead.experiments.cache import Cache
from rehead.experiments.checksums import mark_of
from rehead.experiments.figures.cells import NothingToDrawError, Request
from rehead.experiments.figures.drawing import read_content
from rehead.experiments.figures.registry import FIGURES
from rehead.experiments.results import Results
from rehead.experiments.theory.kept import keep_theorem, read_theorem
from rehead.report.figures import (
    caption_sheet,
    collect_all,
    collect_figure,
    draw_all,
    draw_kept,
    kept_in,
    theorem_sheet,
)

ROOT = Path(__file__).parents[2]
QUICK = ROOT / "results" / "quick"


def assert_shows(content, name):
    """The committed pictures carry the mark of this content."""
    fix = "run `rehead reproduce page -o docs/reproduction.md`, and commit what it writes"
    (mark,) = mark_of(content).values()
    with Image.open(ROOT / "docs" / "figures" / f"{name}.png") as picture:
        assert picture.text["Description"] == mark, fix
    assert mark in (ROOT / "docs" / "figures" / f"{name}.svg").read_text(encoding="utf-8"), fix


@pytest.mark.parametrize("name", FIGURES)
def test_the_committed_pictures_show_what_is_kept(name):
    assert_shows(read_content(name, QUICK / "figures"), name)


def test_the_committed_picture_of_the_theorem_too():
    assert_shows(read_theorem(QUICK), "theorem")


@pytest.mark.parametrize("name", ["1a", "2a", "2b", "2c", "5"])
def test_figures_of_results_are_those_of_the_committed_results(name, tmp_path):
    """Others are made from features, which are not committed; 1c is simulated."""
    found = FIGURES[name].collect(Request(Results(ROOT / "results"), Cache(tmp_path)))
    kept = read_content(name, QUICK / "figures")
    assert mark_of(found) == mark_of(kept), f"run `rehead reproduce figure{name}`, and commit"


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
