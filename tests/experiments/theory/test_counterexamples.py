from dataclasses import replace

import numpy as np
import pytest

from rehead.experiments.theory.counterexamples import (
    TINY,
    WORLDS,
    by_enumeration,
    counterexample,
    skewed,
)
from rehead.experiments.theory.repeats import Draws
from rehead.experiments.theory.settings import BASE


@pytest.mark.parametrize("world", [*WORLDS.values(), TINY])
def test_they_satisfy_the_assumptions(world):
    assert all(world.assumptions(1000).values())


@pytest.mark.parametrize("name", ["spike", "small subset"])
def test_no_clean_subset_has_the_smallest_determinant(name):
    found = counterexample(WORLDS[name], Draws(400, 4, 0), 0)
    gap = found["log_det_gap"]
    assert gap["value"] < -20 * gap["se"] < 0
    assert gap["value"] == pytest.approx(gap["limit"], rel=0.1)
    measured, limit = found["measured"]["mcd"], found["limit"]["mcd"]
    assert measured["outliers_kept"]["value"] == pytest.approx(limit["outliers_kept"], abs=0.02)
    assert limit["outliers_kept"] > 0.7
    assert limit["ratio"] < 0.1 < 1


def test_plain_outliers_that_are_hardly_wider_are_kept_in_many_dimensions():
    found = counterexample(WORLDS["hardly wider"], Draws(1500, 3, 0), 0)
    assert found["log_det_gap"]["value"] < -20 * found["log_det_gap"]["se"]
    assert found["limit"]["mcd"]["pull_1"] > 0.15
    assert found["measured"]["mcd"]["pull_1"]["value"] > 0.1


def test_where_the_mcd_finds_the_clean_samples_there_is_no_gap():
    far = replace(BASE, sigma_out=100.0)
    found = counterexample(far, Draws(400, 4, 0), 0)
    assert found["log_det_gap"]["limit"] == pytest.approx(0.0, abs=1e-5)
    assert found["measured"]["mcd"]["outliers_kept"]["value"] == 0.0


def test_every_subset_tried_outliers_win():
    found = by_enumeration(Draws(12, 10, 0))
    kept = found["outliers_kept"]
    assert kept["value"] - 5 * kept["se"] > TINY.delta_out
    assert by_enumeration(Draws(12, 10, 0)) == found


def test_the_mean_of_the_lower_half_of_an_exponential():
    found = skewed(Draws(4000, 10, 0))
    assert abs(found["mean"]["value"] - found["limit"]) < 5 * found["mean"]["se"]
    # A second implementation: the window of sorted values with the smallest variance.
    x = np.sort(np.random.default_rng(0).exponential(size=4000))
    sums, squares = (np.concatenate([[0], np.cumsum(x**p)]) for p in (1, 2))
    total, square = (s[2000:] - s[:-2000] for s in (sums, squares))
    best = np.argmin(square / 2000 - (total / 2000) ** 2)
    assert total[best] / 2000 == pytest.approx(found["limit"], abs=0.03)
