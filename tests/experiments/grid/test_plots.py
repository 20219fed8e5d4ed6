"""Pictures are drawn from numbers, and carry their hash."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rehead.experiments.cache import digest
from rehead.experiments.grid.plots import (
    CONTENT,
    accuracy_numbers,
    accuracy_plot,
    audit_numbers,
    audit_plot,
)
from rehead.experiments.grid.summary import Grid
from rehead.experiments.results import Results

ROOT = Path(__file__).parents[3]


@pytest.fixture
def grid(cell_of, result_of):
    where = [("none", 0.0), ("uniform", 0.2), ("flip", 0.4), ("semantic", 0.0)]
    found = [
        result_of(
            cell_of("reuters8-frozen", noise, rate, seed),
            {"auto": 0.9 - rate + 0.1 * seed, "logistic regression": 0.25},
            auto={"auroc": 0.9, "noise_rate": 0.1} if noise != "none" else None,
            cleanlab=(0.7, 0.8),
            noise_rate=rate,
        )
        for seed in range(3)
        for noise, rate in where
    ]
    return Grid.of_results(found)


def test_lines_are_means_and_spreads_over_rates(grid):
    numbers = accuracy_numbers(grid)
    assert list(numbers) == ["reuters8-frozen"]
    rates, means, spreads = numbers["reuters8-frozen"]["uniform"]["auto"]
    assert (rates, means, spreads) == ([0, 20], [100, 80], [10, 10])
    assert numbers["reuters8-frozen"]["flip"]["auto"][0] == [0, 40]


def test_the_line_of_the_softmax_is_that_of_logistic_regression_where_there_is_none(grid):
    assert accuracy_numbers(grid)["reuters8-frozen"]["flip"]["softmax"][1] == [25, 25]


def test_points_are_areas_and_shares(grid):
    numbers = audit_numbers(grid)
    assert numbers["reuters8-frozen flip 40%"] == {
        "task": "reuters8-frozen",
        "kind": "flip",
        "auroc": [0.8, 0.9],
        "share": [40, 10],
    }
    assert numbers["reuters8-frozen none"]["auroc"] == []


@pytest.mark.parametrize(
    ("numbers_of", "plot"), [(accuracy_numbers, accuracy_plot), (audit_numbers, audit_plot)]
)
def test_pictures_carry_a_hash_of_their_numbers(grid, numbers_of, plot, tmp_path):
    numbers = numbers_of(grid)
    plot(numbers, tmp_path / "plot.png")
    with Image.open(tmp_path / "plot.png") as picture:
        assert picture.text[CONTENT] == digest(numbers)
        assert np.asarray(picture.convert("L")).std() > 1  # something is drawn


@pytest.mark.parametrize(
    ("name", "numbers_of"),
    [("accuracy.png", accuracy_numbers), ("accuracy-audit.png", audit_numbers)],
)
def test_the_committed_pictures_are_of_the_committed_results(name, numbers_of):
    numbers = numbers_of(Grid.read(Results(ROOT / "results")))
    with Image.open(ROOT / "docs" / name) as picture:
        known = picture.text[CONTENT]
    assert known == digest(numbers), "run: python -m rehead.experiments.accuracy --page"
