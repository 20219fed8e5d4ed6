"""rehead reproduce: what users type, and what they see."""

import csv
import io
from dataclasses import replace

import pytest

from rehead.cli.reproduce import progress_text
from rehead.experiments.asked import Scope, find_cells
from rehead.experiments.figures.drawing import write_content
from rehead.experiments.plans import columns_of
from rehead.experiments.results import Result, Results
from rehead.experiments.sweep import FolderLock, Progress
from rehead.experiments.tables import table_cells
from rehead.report.figures import kept_in

from ..experiments.results_of import result_of


@pytest.fixture
def asked(tmp_path):
    return ["--results", str(tmp_path / "results"), "--cache", str(tmp_path / "cache")]


TINY = ["--profile", "tiny", "--data", "digits", "--cells", "1"]


def test_a_cell_is_run_once_and_shown(invoke, asked, tmp_path):
    first = invoke("reproduce", "table5", *TINY, *asked)
    assert first.exit_code == 0, first.output
    assert "1 of 1 cell" in first.stderr
    assert "1 cells" not in first.stderr
    files = list((tmp_path / "results").rglob("*.json"))
    assert len(files) == 1
    before = files[0].read_bytes()
    again = invoke("reproduce", "table5", *TINY, *asked)
    assert again.stderr == ""
    assert again.stdout == first.stdout
    assert files[0].read_bytes() == before


def test_show_runs_nothing(invoke, asked, tmp_path):
    shown = invoke("reproduce", "table2", "--show", *asked)
    assert shown.exit_code == 0
    assert "94.76" in shown.stdout  # printed: ResNet-34, clean
    assert not list(tmp_path.rglob("*.json"))


def test_cells_are_listed_with_their_state(invoke, asked, tmp_path):
    cells = table_cells("7")
    results = Results(tmp_path / "results")
    results.write(result_of(cells[0], softmax=50.0))
    results.write(Result(cells[1], "data not here", "download it"))
    lines = invoke("reproduce", "table7", "--list", *asked).stdout.splitlines()
    assert [line.rpartition("  ")[2] for line in lines] == [
        "ran",
        "data not here",
        "not run",
        "not run",
    ]


@pytest.mark.parametrize("form", ["csv", "markdown", "latex", "terminal"])
def test_other_forms_to_a_file(invoke, form, asked, tmp_path):
    file = tmp_path / "table"
    done = invoke("reproduce", "table8", "--show", "--format", form, "-o", str(file), *asked)
    assert done.exit_code == 0
    text = file.read_text()
    assert "61.98" in text
    if form == "csv":
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tabel2"], "Did you mean 'table2'"),
        (["table2", "--profile", "qiuck"], "Did you mean 'quick'"),
        (["table2", "--format", "cvs", "--show"], "Did you mean 'csv'"),
        (["table2", "--data", "digit"], "Did you mean 'digits'"),
        (["table2", "--profile", "qiuck", "--show"], "Did you mean 'quick'"),
        (["table2", "--data", "digit", "--show"], "Did you mean 'digits'"),
        (["figure2d", "--show"], "Did you mean 'figure2"),
        (["table2", "--show", "-o", "nowhere/table.md"], "no folder nowhere"),
        (["table2", "--show", "--cells", "2"], "--show runs none"),
        (["page", "--format", "csv"], "always Markdown"),
        (["figure2a", "--seeds", "2"], "seeds has no effect on 'figure2a'"),
    ],
)
def test_what_was_mistyped_is_named(invoke, arguments, said, asked):
    done = invoke("reproduce", *arguments, *asked)
    assert done.exit_code != 0
    assert said in " ".join(done.output.split())


def test_a_list_goes_on_after_a_damaged_result(invoke, asked, tmp_path):
    results, cells = Results(tmp_path / "results"), table_cells("7")
    for cell in cells[:2]:
        results.write(result_of(cell, softmax=50.0))
    results.path(cells[0]).write_bytes(b"{")
    lines = invoke("reproduce", "table7", "--list", *asked).stdout.splitlines()
    assert "cannot be read" in lines[0]
    assert lines[1].endswith("  ran")


def test_a_damaged_result_is_named_and_left_alone(invoke, asked, tmp_path):
    results = Results(tmp_path / "results")
    cell = table_cells("7")[0]
    results.write(result_of(cell, softmax=50.0))
    path = results.path(cell)
    path.write_bytes(path.read_bytes()[:-20])
    done = invoke("reproduce", "table7", "--show", *asked)
    assert done.exit_code == 1
    assert path.name in done.stderr
    assert "Delete it" in done.stderr
    assert path.exists()


def test_two_sweeps_at_once(invoke, asked, tmp_path):
    (tmp_path / "results").mkdir()
    lock = FolderLock(tmp_path / "results")
    done = invoke("reproduce", "table5", *TINY, *asked)
    lock.release()
    assert done.exit_code == 1
    assert "Another sweep writes to" in done.stderr


def test_missing_data_is_said(invoke, asked, tmp_path, monkeypatch):
    monkeypatch.setenv("REHEAD_DATA", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cell = next(c for c in table_cells("2") if c.data == "tinyimagenet32")
    done = invoke("reproduce", cell.name, *asked)
    assert done.exit_code == 0
    assert "data not here" in done.output
    assert "docs/data-sets.md" in done.stdout


def test_why_cells_did_not_run_is_said_once(invoke, asked, tmp_path, monkeypatch):
    monkeypatch.setenv("REHEAD_DATA", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = invoke("reproduce", "table2", "--data", "tinyimagenet32", *asked)
    assert done.exit_code == 0
    assert done.stderr.count("docs/data-sets.md tells how") == 1
    assert "12 of 12 cells: There is no images.webp" in " ".join(done.stderr.split())


def test_a_figure_whose_features_are_gone_is_drawn_as_it_was_kept(invoke, asked, tmp_path):
    one = find_cells("figure1b", Scope("tiny", "digits"))
    Results(tmp_path / "results").write(finished(one[0]))
    digits = ["--profile", "tiny", "--data", "digits", *asked]
    gone = invoke("reproduce", "figure1b", *digits)
    assert gone.exit_code == 1
    assert "with another folder of results" in gone.stderr
    kept = kept_in(tmp_path / "results", "tiny", "digits")
    write_content("1b", places(), kept)
    drawn = invoke("reproduce", "figure1b", *digits)
    assert drawn.exit_code == 0, drawn.output
    assert "figure1b is drawn as it was kept" in drawn.stderr
    assert (kept / "1b.png").exists()


def finished(cell):
    return result_of(cell, **{name.replace(" ", "_"): 50.0 for name in columns_of(cell)})


def places():
    return {
        "caption": "Two samples.",
        "network": "densenet100",
        "data": "digits32",
        "noise_rate": 0.2,
        "class_names": ["0", "1"],
        "x": [0.0, 1.0],
        "y": [0.0, 1.0],
        "label": [0, 1],
        "wrong": [0, 1],
    }


def test_progress_in_words():
    cell = table_cells("7")[0]
    assert progress_text(Progress(0, 4, float("nan"))) == "4 cells to run"
    assert progress_text(Progress(0, 1, float("nan"))) == "1 cell to run"
    said = progress_text(Progress(1, 4, 61.0, Result(cell)))
    assert said == f"{cell.name}, 1 of 4 cells, about 2 min left"
    assert progress_text(Progress(4, 4, 0.0, Result(cell))) == f"{cell.name}, 4 of 4 cells"
    failed = progress_text(Progress(1, 4, float("nan"), replace(Result(cell), status="not run")))
    assert failed == f"{cell.name} (not run), 1 of 4 cells"


def test_a_picture_goes_to_a_file_or_to_a_folder(invoke, asked, tmp_path):
    for name in ("one.png", "two.svg"):
        done = invoke("reproduce", "figure1c", "-o", str(tmp_path / name), *asked)
        assert done.exit_code == 0, done.output
        assert (tmp_path / name).is_file()
    (tmp_path / "pictures").mkdir()
    invoke("reproduce", "figure1c", "-o", str(tmp_path / "pictures"), *asked)
    assert {p.name for p in (tmp_path / "pictures").iterdir()} == {"1c.png", "1c.svg"}


@pytest.mark.parametrize(
    ("what", "file", "said"),
    [
        ("figure1c", "x.pdf", "pictures end in"),
        ("theorem", "x.md", "pictures end in"),
        ("page", "x.csv", "ends in .md"),
    ],
)
def test_endings_that_do_not_go_with_what_is_asked_for(invoke, what, file, said, asked, tmp_path):
    done = invoke("reproduce", what, "--show", "-o", str(tmp_path / file), *asked)
    assert done.exit_code != 0
    assert said in " ".join(done.output.replace("│", " ").split())
    assert not (tmp_path / file).exists()
