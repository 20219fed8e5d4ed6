"""One tiny cell of every table, every figure, the theorem and the page, end to end, without data.

``make reproduce-smoke`` runs this alone.
"""

import pytest
from typer.testing import CliRunner

from rehead.cli import app
from rehead.experiments.figures.registry import FIGURES
from rehead.experiments.results import Results
from rehead.experiments.tables import TABLES

CELLS = ("--profile", "tiny", "--data", "digits", "--cells", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("smoke")


def reproduce(folder, *arguments):
    where = ("--results", folder / "results", "--cache", folder / "cache")
    done = CliRunner().invoke(app, ["reproduce", *map(str, (*arguments, *where))])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("table", TABLES)
def test_a_cell_of_every_table(table, folder):
    shown = reproduce(folder, f"table{table}", *CELLS)
    assert f"Table {table}." in shown
    (found,) = [r for r in Results(folder / "results") if r.cell.table == table]
    assert (found.status, found.reason) == ("ran", "")
    assert {"softmax", "RoG", "auto", "oracle"} <= set(found.columns)
    assert 0.0 < found.columns["auto"].accuracy <= 1.0


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure(figure, folder):
    asked = CELLS[:2] if figure == "1c" else CELLS  # figure 1c is simulated
    said = reproduce(folder, f"figure{figure}", *asked, "-o", folder / "pictures")
    assert f"Figure {figure}." in said
    for form, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        assert (folder / "pictures" / f"{figure}.{form}").read_bytes().startswith(start)


def test_the_theorem(folder):
    said = reproduce(folder, "theorem", "--profile", "tiny", "-o", folder / "pictures")
    assert "breakdown" in said
    assert (folder / "pictures" / "theorem.png").exists()


def test_the_page(folder):
    reproduce(folder, "page", "--profile", "tiny", "-o", folder / "reproduction.md")
    text = (folder / "reproduction.md").read_text()
    for table in TABLES:
        assert f"## Table {table}" in text
    # Figures of other data than the paper's are kept apart, and are not on its page.
    assert (folder / "figures" / "1c.png").exists()
    assert "(figures/1c.png)" in text
    assert "(figures/2a.png)" not in text
