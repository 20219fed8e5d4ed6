"""Tables on the terminal: means, spreads, and now beside what was kept."""

import io

import pytest
from rich.console import Console

from rehead.experiments.grid.summary import Grid
from rehead.experiments.grid.terminal import beside, show


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
    assert missed == "missed   estimated noise within 3 points: digits-mlp flip 40% 35 of 40"


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
