from dataclasses import replace

import numpy as np
import pytest

from rehead.experiments.theory.cells import (
    Plan,
    all_claims,
    estimates,
    pooled_figures,
    repaired_scale,
    run_cell,
)
from rehead.experiments.theory.closed import truncation
from rehead.experiments.theory.figures import figures
from rehead.experiments.theory.repeats import mean_figure
from rehead.experiments.theory.world import World

WORLD = World(d=3, delta_out=0.3, delta_mcd=0.5)
PLAN = Plan((30, 60), 4, seed=1)


@pytest.fixture(scope="module")
def cell():
    return run_cell(WORLD, PLAN, 0, (0.0, 1.0))


def test_the_same_seed_gives_the_same_figures(cell):
    assert run_cell(WORLD, PLAN, 0, (0.0, 1.0)) == cell
    other = run_cell(WORLD, PLAN._replace(seed=2), 0, (0.0, 1.0))
    assert other["runs"] != cell["runs"]
    assert other["claims"] == cell["claims"]


def test_a_size_does_not_depend_on_the_others(cell):
    alone = run_cell(WORLD, PLAN._replace(sizes=(60,)), 0, (0.0, 1.0))
    assert alone["runs"] == cell["runs"][1:]
    assert alone["pooled"] == cell["pooled"]


def test_figures_are_means_over_the_repetitions(cell):
    values = []
    for i in range(4):
        found = estimates(WORLD, 30, 1, (0, 30, i))
        values.append(figures(WORLD, found["mcd"], found["sample"])["phi"])
    assert cell["runs"][0]["figures"]["mcd"]["phi"] == mean_figure(values)


def test_pooled_figures_are_means_where_they_are_linear(cell):
    last = cell["runs"][-1]["figures"]
    for e in ("sample", "mcd", "algorithm_1"):
        for name in ("pull_1", "along", "scale", "outliers_kept"):
            for key in ("value", "se"):
                assert cell["pooled"][e][name][key] == pytest.approx(last[e][name][key], abs=1e-12)


def test_pooling_takes_most_of_the_bias_from_phi():
    world = replace(WORLD, delta_out=0.0)
    found = [estimates(world, 100, 0, (0, i)) for i in range(16)]
    pooled = pooled_figures(world, found)["sample"]["phi"]
    alone = np.mean([figures(world, f["sample"], f["sample"])["phi"] for f in found])
    assert 1 - alone > 4 * abs(1 - pooled["value"])


def test_the_scale_is_repaired_by_the_factor():
    repaired = repaired_scale(replace(WORLD, sigma=2.0), {"value": 3.0, "se": 0.3})
    known, unknown = truncation(3, 0.5 / 0.7) * 4, truncation(3, 0.5) * 4
    assert repaired["known"] == pytest.approx({"value": 3 / known, "se": 0.3 / known})
    assert repaired["unknown"] == pytest.approx({"value": 3 / unknown, "se": 0.3 / unknown})


def test_a_cell_says_what_it_is(cell):
    assert cell["world"] == vars(WORLD)
    assert all(cell["assumptions"].values())
    assert cell["claims"] == all_claims(WORLD)
    assert [run["n"] for run in cell["runs"]] == [30, 60]
