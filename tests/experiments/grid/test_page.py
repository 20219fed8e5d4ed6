"""The page is made of results: the committed one of the committed results."""

from dataclasses import replace
from pathlib import Path

import pytest

from rehead.experiments.accuracy import read_lists
from rehead.experiments.grid.page import page, task_table, unseen_table, write_page
from rehead.experiments.grid.peers import read_standings
from rehead.experiments.grid.summary import Grid
from rehead.experiments.grid.tasks import grid_cells
from rehead.experiments.results import Results

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def committed():
    return Grid.read(Results(ROOT / "results"))


def rows(table):
    return [[text.strip() for text in line.strip("|").split("|")] for line in table.splitlines()]


def test_all_cells_are_committed(committed):
    found = [result.cell for group in committed.groups for result in group.results]
    assert sorted(found, key=lambda c: c.key) == sorted(grid_cells(), key=lambda c: c.key)


def test_the_committed_page_is_of_the_committed_results(committed):
    text = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    results = Results(ROOT / "results")
    whole = page(committed, read_standings(results), read_lists(results))
    assert text == whole, "run: python -m rehead.experiments.accuracy --page"


def test_other_lists_have_sections_of_their_own(committed, result_of, cell_of):
    cell = grid_cells(["wine"], [0])[1]
    found = Grid.of_results([result_of(cell)])
    text = page(committed, lists={"tabular": found, "people": Grid([])})
    section = text.split("## Tables whose classes are not Gaussian")[1]
    assert "| Wine | uniform 30% | 1 |" in section
    assert "Noise as people make it" not in text


def test_other_results_make_another_page(committed):
    group = committed.groups[0]
    result = group.results[0]
    worse = replace(result.columns["auto"], accuracy=0.1, rehead="9.9.9")
    other = group._replace(results=(result.with_more([worse]), *group.results[1:]))
    text = page(Grid([other, *committed.groups[1:]]))
    assert text != page(committed)
    assert "and rehead 9.9.9 (1 cells)" in text


def test_the_table_of_a_task(cell_of, result_of):
    found = [
        result_of(
            cell_of("reuters8-frozen", "flip", 0.2, seed),
            {"auto": 0.9 + 0.01 * seed, "logistic regression": 0.7, "mixture": 0.8},
            auto={"auroc": 0.91, "noise_rate": 0.25},
            cleanlab=(0.5, 0.85),
            noise_rate=0.2,
        )
        for seed in range(2)
    ]
    head, _, row = rows(task_table(Grid.of_results(found).groups))
    table = dict(zip(head, row, strict=True))
    assert table["noise"] == "flip 20%"
    assert table["seeds"] == "2"
    assert table["logistic regression"] == "70.0"
    assert table["best other"] == "80.0 (mixture)"
    assert table["auto"] == "**90.5 ± 0.7**"
    assert (table["AUROC"], table["cleanlab's"]) == ("0.910", "0.850")
    assert table["noise, estimated"] == "20.0, 25.0"


def test_clean_labels_have_no_areas(cell_of, result_of):
    _, _, row = rows(task_table(Grid.of_results([result_of(cell_of())]).groups))
    assert row[-3:] == ["", "", "0.0, 0.0"]


def test_seeds_by_which_nothing_was_set(cell_of, result_of):
    """Means over noises, of two seeds and of one."""
    accuracy = {"none": (0.8, 0.9, 0.6), "flip": (0.7, 0.8, 0.5)}
    found = [
        result_of(
            cell_of("twitter-fcn", noise, rate, seed),
            {"auto": accuracy[noise][seed], "RoG": 0.5, "mixture": 0.9, "oracle": 1.0},
            auto={"auroc": 0.9, "noise_rate": rate + 0.1} if rate else None,
            noise_rate=rate,
        )
        for noise, rate in (("none", 0.0), ("flip", 0.4))
        for seed in range(3)
    ]
    _, _, first, second = rows(unseen_table(Grid.of_results(found)))
    assert first == ["seeds 0 and 1", "80.00", "30.00", "10.00", "20.00", "0.900", "5.0"]
    assert second == ["seed 2", "55.00", "5.00", "35.00", "45.00", "0.900", "5.0"]


def test_tasks_by_which_something_was_set_do_not_count(cell_of, result_of):
    found = [result_of(cell_of("digits-mlp", seed=seed)) for seed in range(3)]
    found.append(result_of(cell_of("twitter-fcn")))  # one seed of three
    assert len(rows(unseen_table(Grid.of_results(found)))) == 2


def test_a_page_and_two_pictures_are_written(tmp_path, cell_of, result_of):
    grid = Grid.of_results([result_of(cell_of(), rehead="1.2.3")])
    write_page(grid, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {
        "accuracy.md",
        "accuracy.png",
        "accuracy-audit.png",
    }
    assert "measured with rehead 1.2.3;" in (tmp_path / "accuracy.md").read_text(encoding="utf-8")


def test_errors_say_what_is_missing(tmp_path, cell_of, result_of):
    with pytest.raises(ValueError, match="Nothing of the accuracy grid was measured"):
        write_page(Grid([]), tmp_path)
    with pytest.raises(NotADirectoryError, match="Name that of the documentation"):
        write_page(Grid.of_results([result_of(cell_of())]), tmp_path / "nowhere")
