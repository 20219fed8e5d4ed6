"""Tables on the terminal: means, spreads, and now beside what was kept."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from rehead.experiments.grid.summary import Grid
from rehead.experiments.grid.terminal import beside, show, show_list


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=200)


def lines(console, word):
    return [line for line in console.file.getvalue().splitlines() if word in line]


def cells(line):
    return [text.strip() for text in line.strip("│").split("│")]


@pytest.fixture
def results(cell_of, result_of):
    return [
        result_of(
            cell_of("digits-mlp", "flip", 0.4, seed),
            {"auto": 0.9 + 0.02 * seed},
            auto={"auroc": 0.9, "noise_rate": 0.35, "calibration": 0.01},
            cleanlab=(0.8, 0.7),
            noise_rate=0.4,
        )
        for seed in range(2)
    ]


def test_tables_and_targets(results, console):
    show(Grid.of_results(results), console)
    (auto,) = lines(console, "│ auto ")
    assert cells(auto) == ["auto", "91.0 ±1.4"]
    values = {"AUROC": "0.900", "cleanlab's": "0.800", "noise, %": "40.0", "estimated": "35.0"}
    for name, value in values.items():
        (line,) = lines(console, f"│ {name} ")
        assert cells(line) == [name, value]
    (missed,) = lines(console, "estimated noise within")
    assert (
        missed == "missed   estimated noise within 3 points: digits-mlp flip 40% 35 of 40, off by 5"
    )


@pytest.fixture
def listed(cell_of, result_of):
    """Of a table: with clean labels, and with noise."""
    clean = result_of(cell_of("wine"))
    noisy = result_of(cell_of("wine", "flip", 0.3), {"k-NN": 0.7}, auto={"auroc": 0.9})
    judged = replace(noisy.columns["k-NN"], auroc=0.8)
    return [clean, noisy.with_more([judged])]


def test_another_list_has_an_area_for_each_column_that_judges_labels(listed, console):
    show_list(Grid.of_results(listed), console)
    (first, second) = lines(console, "│ k-NN ")
    assert cells(first) == ["k-NN", "50.0", "70.0"]
    assert cells(second) == ["k-NN", "0.800"]
    assert cells(lines(console, "│ auto ")[1]) == ["auto", "0.900"]
    assert len(lines(console, "│ boosting ")) == 1
    assert len(lines(console, "wine: AUROC")) == 1
    assert not lines(console, "reached")
    assert not lines(console, "missed")


def test_clean_labels_have_no_wrong_ones_to_find(listed, console):
    show_list(Grid.of_results(listed[:1]), console)
    assert not lines(console, "wine: AUROC")


def test_now_beside_what_was_kept(results, console, cell_of, result_of):
    kept = [result_of(cell_of("digits-mlp", "flip", 0.4), {"auto": 0.5}, auto={"auroc": 0.7})]
    beside(Grid.of_results(results[:1]), Grid.of_results(kept), console)
    (auto,) = lines(console, "│ auto ")
    assert cells(auto) == ["auto", "90.0 (50.0)"]
    (auroc,) = lines(console, "│ AUROC ")
    assert cells(auroc) == ["AUROC", "0.900 (0.700)"]


def test_what_was_not_kept_has_no_brackets(results, console):
    beside(Grid.of_results(results[:1]), Grid([]), console)
    (auto,) = lines(console, "│ auto ")
    assert cells(auto) == ["auto", "90.0"]


def test_a_single_seed_has_no_spread(results, console):
    show(Grid.of_results(results[:1]), console)
    (auto,) = lines(console, "│ auto ")
    assert cells(auto) == ["auto", "90.0"]
