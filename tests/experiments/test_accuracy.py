"""The command that measures the grid: what is missing, or a part of it anew."""

import io
from dataclasses import replace

import pytest
import torch
from rich.console import Console

from rehead.experiments import accuracy
from rehead.experiments.accuracy import main, measure, quick, quick_cells
from rehead.experiments.cache import Cache
from rehead.experiments.columns.registry import COLUMNS
from rehead.experiments.grid.columns import grid_columns
from rehead.experiments.grid.tasks import TASKS
from rehead.experiments.results import Measurement, Result, Results
from rehead.experiments.sweep import Sweep

CELL = TASKS["digits-mlp"].cells(0)[2]
"""Digits with 40 % uniform noise."""


@pytest.fixture(autouse=True)
def _small(monkeypatch, tmp_path):
    """A cache of its own, a small network, one thread."""
    monkeypatch.setenv("REHEAD_CACHE", str(tmp_path / "cache"))
    small = {"epochs": 1, "model_options": {"hidden": (8,)}}
    monkeypatch.setitem(TASKS, "digits-mlp", TASKS["digits-mlp"]._replace(settings=small))
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "results")


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=200)


def kept(accuracy=0.01):
    measured = [Measurement(c, accuracy, 1.0, "0.1.0", "", "") for c in grid_columns(CELL)]
    return Result(CELL, network={"noise_rate": 0.4}, measurements=tuple(measured))


def test_what_is_missing_is_measured_and_what_is_there_stays(results, console, tmp_path):
    # Without the softmax, which would tell that these numbers are of another network.
    before = [m for m in kept().measurements if m.column != "softmax"]
    results.write(replace(kept(), measurements=tuple(before)))
    columns = ("RoG", "LDA")
    sweep = Sweep(results, Cache(tmp_path / "cache"), columns=columns)
    measure(sweep, [CELL], console)
    found = results.read(CELL)
    assert found.accuracy("RoG") == 1
    assert found.accuracy("LDA") > 20
    assert len(found.measurements) == 19
    assert f"{CELL.name} LDA shrunk 1.0" in console.file.getvalue()
    measure(sweep, [CELL], console)
    assert results.read(CELL) == found


def test_a_part_is_measured_anew_beside_what_was_kept(results, console, tmp_path, monkeypatch):
    results.write(kept())
    monkeypatch.setattr(accuracy, "quick_cells", lambda: [CELL])
    monkeypatch.setattr(accuracy, "QUICK_COLUMNS", ("LDA shrunk",))
    quick(Cache(tmp_path / "cache"), results, console)
    (line,) = [n for n in console.file.getvalue().splitlines() if n.startswith("│ LDA shrunk")]
    now, earlier = line.strip("│").split("│")[1].split()
    assert float(now) > 20
    assert earlier == "(1.0)"
    assert results.read(CELL) == kept()


def test_missing_data_is_told(console):
    result = Result(CELL, "data not here", "No folder of CIFAR-10 [x].")
    accuracy.tell(result, console)
    assert "data not here: No folder of CIFAR-10 [x]." in console.file.getvalue()


def test_quick_cells_are_of_seed_0_and_their_columns_are_known():
    cells = quick_cells()
    assert len(cells) == 12
    assert {c.seed for c in cells} == {0}
    assert set(accuracy.QUICK_COLUMNS) <= set(COLUMNS)
    assert all(set(accuracy.QUICK_COLUMNS) <= set(grid_columns(cell)) for cell in cells)


def test_print_changes_nothing(results, tmp_path, capsys):
    results.write(kept())
    docs = tmp_path / "docs"
    main(["--print", "--results", str(results.folder), "--docs", str(docs)])
    assert "digits-mlp" in capsys.readouterr().out
    assert not docs.exists()


def test_the_page_alone_is_written(results, tmp_path, capsys):
    results.write(kept())
    main(["--page", "--results", str(results.folder), "--docs", str(tmp_path)])
    assert "## Digits, MLP" in (tmp_path / "accuracy.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""


def test_only_what_is_in_the_cache(results, tmp_path, monkeypatch):
    results.write(kept())
    asked = []
    monkeypatch.setattr(accuracy, "run_sweep", lambda sweep, cells, tell: asked.append(cells))
    common = ["digits-mlp", "--seeds", "0", "--results", str(results.folder), "--docs"]
    main([*common, str(tmp_path)])
    main([*common, str(tmp_path), "--cached"])
    assert [len(cells) for cells in asked] == [7, 0]


def test_a_misspelt_column_ends_the_program(capsys):
    with pytest.raises(SystemExit):
        main(["--columns", "RoG ensemble"])
    assert "RoG ensemble" in capsys.readouterr().err


def test_a_cell_of_another_list(results, tmp_path, capsys):
    docs = tmp_path / "docs"
    docs.mkdir()
    common = ["--tasks", "tabular", "wine", "--noise", "uniform30", "--seeds", "1", "--results"]
    main([*common, str(results.folder), "--docs", str(docs), "--columns", "k-NN", "auto"])
    (found,) = list(results)
    assert found.cell.name == "tabular-wine-table-uniform30-cross-entropy-1"
    assert results.path(found.cell).parent == results.folder / "grid" / "tabular"
    assert list(found.columns) == ["k-NN", "auto"]
    assert min(m.accuracy for m in found.measurements) > 0.6
    assert min(m.auroc for m in found.measurements) > 0.8
    assert "wine: AUROC" in capsys.readouterr().out
    assert not list(docs.iterdir())  # the page is of the grid


def test_all_tasks_of_a_list(results, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(accuracy, "run_sweep", lambda sweep, cells, tell: asked.append(cells))
    main(["--tasks", "many", "--seeds", "0", "3", "--results", str(results.folder)])
    (cells,) = asked
    assert {cell.table for cell in cells} == {"many"}
    assert len(cells) == 2 * 15


def test_what_is_not_in_the_list_is_an_error(results, capsys):
    with pytest.raises(ValueError, match="task must be one of"):
        main(["digits-mlp", "--tasks", "tabular", "--results", str(results.folder)])
    with pytest.raises(ValueError, match="noise must be one of"):
        main(["wine", "--tasks", "tabular", "--noise", "flip40", "--results", str(results.folder)])
    with pytest.raises(SystemExit):
        main(["--tasks", "tabular", "--page"])
    assert "of the grid itself" in capsys.readouterr().err
