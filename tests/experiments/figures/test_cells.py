"""Which cells a figure shows."""

import dataclasses

import numpy as np
import pytest

from rehead.experiments.cell import Cell
from rehead.experiments.figures import cells as c
from rehead.experiments.results import NO_DATA, Result
from rehead.experiments.tables import table_cells


def test_cells_of_the_paper_are_those_of_cifar10(request_of):
    request = request_of([], "quick", None)
    found = c.uniform_cells(request, "resnet34")
    assert {cell.data for cell in found} == {"cifar10"}
    assert {cell.network for cell in found} == {"resnet34"}
    assert {cell.table for cell in found} == {"1", "2", "8"}
    assert {(cell.noise, cell.rate) for cell in found} == {
        ("none", 0.0),
        ("uniform", 0.2),
        ("uniform", 0.4),
        ("uniform", 0.6),
    }


def test_cells_on_digits(request_of):
    found = c.uniform_cells(request_of([]), "densenet100")
    assert {cell.data for cell in found} == {"digits32"}
    assert {cell.rate for cell in found} == {0.0, 0.2, 0.4, 0.6}


def test_an_experiment_counts_once_whatever_its_table(request_of):
    cells = [
        cell
        for table in "12"
        for cell in table_cells(table, "tiny", data="digits")
        if cell.network == "resnet34" and cell.noise != "flip"
    ]
    second = [cell for cell in cells if cell.table == "2" and cell.rate == 0.2]
    first = [cell for cell in cells if cell.table == "1" and cell.rate < 0.5]
    found = c.find_results(request_of([*first, *second]), cells)
    assert found.cells == first
    assert found.not_run == ["table1-digits32-resnet34-uniform60-cross-entropy-0"]
    only_second = c.find_results(request_of(second), [*first[1:2], *second])
    assert len(only_second.results) == 1


def test_a_cell_of_a_later_table_stands_in(request_of):
    first, second = (Cell(t, "resnet34", "digits32", profile="tiny") for t in "12")
    request = request_of([second])
    assert c.find_results(request, [first, second]).cells == [second]


def test_the_reason_is_told_where_there_is_one(request_of):
    ran = Cell("7", "densenet100", "digits32", profile="tiny")
    absent = dataclasses.replace(ran, source="cifar100")
    request = request_of([ran])
    request.results.write(Result(absent, NO_DATA, "no file"))
    found = c.find_results(request, [ran, absent])
    assert found.not_run == [f"{absent.name} (data not here)"]


def test_no_result_is_an_error_that_names_the_fix(request_of):
    cells = table_cells("2", "tiny", data="digits")
    with pytest.raises(c.NothingToDrawError, match="Run table 2 of profile 'tiny' first"):
        c.find_results(request_of([]), cells)
    with pytest.raises(c.NothingToDrawError, match="choose other data"):
        c.find_results(request_of([]), [])


def test_features_are_taken_from_the_cache_and_never_made(request_of, put_features):
    cells = table_cells("2", "tiny", data="digits")
    request = request_of([])
    with pytest.raises(c.NothingToDrawError, match="has no features"):
        c.load_cached(request, cells)
    arrays = put_features(request.cache, cells[3])
    cell, task = c.load_cached(request, cells)
    assert cell == cells[3]
    np.testing.assert_array_equal(task.changed, arrays["changed"])
    assert task.last == "last"


def test_what_the_paper_prints_is_found_in_any_table():
    cell = Cell("2", "resnet34", "cifar10", "uniform", 0.4, seed=2, profile="tiny")
    assert c.printed(cell, "RoG") == 75.28  # of table 2
    assert c.printed(cell, "LDA") == 65.92  # of table 1
    assert c.printed(cell, "trimmed k-means") == 63.27  # of table 8
    assert c.printed(cell, "LTS") is None
    assert c.printed(dataclasses.replace(cell, data="digits32"), "RoG") is None


def test_a_caption_says_what_differs_and_what_is_missing(request_of):
    cell = Cell("2", "resnet34", "digits32", profile="tiny")
    text = c.caption("A line.", request_of([]), [cell, cell], ["a", "b", "c", "d", "e"])
    assert text.startswith("A line. Other than in the paper: digits in place of the paper's data")
    assert text.count("a smaller network") == 1
    assert text.endswith("Not run: a, b, c, 2 more.")
    assert c.caption("A line.", request_of([], data=None), [], []) == "A line."


def test_names_of_classes():
    assert c.class_names(Cell("2", "resnet34", "digits32", profile="tiny")) == list("0123456789")
