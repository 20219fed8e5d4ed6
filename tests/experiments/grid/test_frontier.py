"""Targets on fresh seeds: each is reached and missed where it should be."""

from dataclasses import replace

import numpy as np
import pytest

from rehead.experiments.columns.classic import LOGISTIC
from rehead.experiments.columns.told import CHECKED, MACHINE_LABELS
from rehead.experiments.grid.frontier import frontier_targets, named_range
from rehead.experiments.grid.summary import Grid

NOTHING = Grid([])


@pytest.fixture
def judge(cell_of, result_of):
    """The target whose text begins so, of one task under a noise with some seeds."""

    def find(text, where, accuracy, *, seeds=(3,), **more):
        of_seed = accuracy if callable(accuracy) else lambda seed: accuracy
        results = [result_of(cell_of(*where, s), of_seed(s), **more) for s in seeds]
        found = frontier_targets(Grid.of_results(results), NOTHING)
        (target,) = [t for t in found if t.text.startswith(text)]
        return target

    return find


def test_nothing_lost_compares_versions_of_the_default(cell_of, result_of):
    def change(points, noise="flip", rate=0.4):
        result = result_of(cell_of("digits-mlp", noise, rate), {"auto": 0.9})
        later = replace(result.columns["auto"], accuracy=0.9 + points, rehead="9.9.9")
        grid = Grid.of_results([result.with_more([later])])
        return list(frontier_targets(NOTHING, grid))

    assert change(0.001)[0].reached
    assert change(0.001)[0].measured.startswith("+0.10 on the mean of 1 tasks")
    assert not change(-0.001)[0].reached
    assert "digits-mlp flip 40% -0.6" in change(-0.006)[0].measured
    assert change(-0.1, "semantic", 0.0) == []


def test_one_version_tells_no_change(cell_of, result_of):
    grid = Grid.of_results([result_of(cell_of("digits-mlp", "flip", 0.4))])
    assert list(frontier_targets(NOTHING, grid)) == []


def test_many_classes_must_be_above_every_column(judge):
    where = ("twitter-19", "flip", 0.4)
    assert judge("many classes: above every", where, {"auto": 0.501}).reached
    found = judge("many classes: above every", where, {"auto": 0.9, "mixture": 0.91})
    assert (found.reached, found.measured) == (False, "not in twitter-19 flip 40% 1.0 (mixture)")
    assert judge("many classes: above the oracle", where, {"auto": 0.6}).measured == "+10.0"


def test_within_a_limit_and_two_standard_errors(judge):
    def unclear(seed):
        return {"auto": 0.9, "WANN": 0.9 + (0.0, 0.0, 0.06)[seed - 3]}

    where, text = ("digits-mlp-people", "annotator", 0.4), "as people make it: above"
    assert judge(text, where, unclear, seeds=(3, 4, 5)).reached
    assert not judge(text, where, {"auto": 0.9, "WANN": 0.92}).reached
    assert judge(text, where, {"auto": 0.9, "WANN": 0.902}).reached


def test_areas_and_noise_of_tables(judge):
    where = ("wine", "uniform", 0.3)
    good = {"auto": {"noise_rate": 0.33, "auroc": 0.9}, "noise_rate": 0.3}
    bad = {"auto": {"noise_rate": 0.35, "auroc": 0.9}, "noise_rate": 0.3}
    assert judge("tables: noise", where, {}, **good).reached
    assert (
        judge("tables: noise", where, {}, **bad).measured
        == "not in wine uniform 30% 35 of 30, off by 5"
    )
    assert judge("tables: AUROC", where, {}, **good).reached  # no rival has an area


def test_semantic_noise_where_the_default_is_told_something(judge):
    where = ("digits-mlp", "semantic", 0.0)
    accuracy = {"mixture": 0.9, MACHINE_LABELS: 0.88, CHECKED[500]: 0.896, "RoG": 0.89}
    assert judge(f"semantic, {MACHINE_LABELS}: mean", where, accuracy).measured == "2.00"
    assert judge(f"semantic, {CHECKED[500]}", where, accuracy).reached
    assert not judge(f"semantic, {CHECKED[100]}", where, accuracy).reached
    above = judge(f"semantic, {MACHINE_LABELS}: above RoG", where, accuracy)
    assert (above.reached, above.measured) == (False, "not in digits-mlp semantic -1.0")
    assert judge("semantic, told nothing", where, accuracy).measured == "-39.0"


@pytest.mark.parametrize(
    ("named", "reached"),
    [([0.35, 0.45], True), ([0.41, 0.45], False), ([0.3, 0.45], False), (None, None)],
)
def test_ranges_hold_the_truth_and_are_narrow(cell_of, result_of, named, reached):
    auto = {"noise_rate": 0.42, "details": {"noise_range": named}}
    result = result_of(cell_of("digits-mlp", "flip", 0.4, 3), auto=auto, noise_rate=0.4)
    grid = Grid.of_results([result])
    assert np.isnan(named_range(grid.groups[0])).all() == (named is None)
    found = [t for t in frontier_targets(grid, NOTHING) if t.text.startswith("noise: the range")]
    assert [t.reached for t in found] == ([] if reached is None else [reached])
    (near,) = [t for t in frontier_targets(grid, NOTHING) if "within 3 points" in t.text]
    assert near.reached


def test_seeds_do_not_cancel(cell_of, result_of):
    results = [
        result_of(cell_of("wine", "uniform", 0.3, s), auto={"noise_rate": r}, noise_rate=0.3)
        for s, r in ((3, 0.2), (4, 0.4))
    ]
    found = frontier_targets(Grid.of_results(results), NOTHING)
    (target,) = [t for t in found if t.text.startswith("tables: noise")]
    assert (target.reached, target.measured) == (
        False,
        "not in wine uniform 30% 30 of 30, off by 10",
    )


@pytest.mark.parametrize("name", ["noise_rate", "auroc"])
def test_what_is_not_known_is_not_reached(cell_of, result_of, name):
    result = result_of(cell_of("wine", "uniform", 0.3, 3), auto={"auroc": 0.9, name: np.nan})
    rival = replace(result.columns[LOGISTIC], auroc=0.5)
    grid = Grid.of_results([result.with_more([rival])])
    text = {"noise_rate": "tables: noise", "auroc": "tables: AUROC"}[name]
    assert [t.reached for t in frontier_targets(grid, NOTHING) if t.text.startswith(text)] == [
        False
    ]


def test_the_text_says_how_many_have_one_seed_and_so_no_margin(judge):
    where, text = ("digits-mlp-people", "annotator", 0.4), "as people make it: above"
    said = judge(text, where, {"auto": 0.9}).text
    assert said.endswith("(1 tasks and noises) (1 of 1 with one seed, so without a margin)")
    assert judge(text, where, {"auto": 0.9}, seeds=(3, 4)).text.endswith("(1 tasks and noises)")


def test_calibration(judge):
    where = ("reuters8-frozen", "flip", 0.2)
    assert judge("calibration", where, {}, auto={"calibration": 0.04}).reached
    assert not judge("calibration", where, {}, auto={"calibration": 0.06}).reached
    found = judge("calibration", where, {}, auto={"calibration": 0.2})
    assert found.measured == "0%; above 0.10: reuters8-frozen flip 20% 0.20"


def test_only_some_cells_are_named(cell_of, result_of):
    noises = [("none", 0.0), ("uniform", 0.3), ("flip", 0.3)]
    tasks = ("wine", "moons", "rings")
    results = [
        result_of(cell_of(task, *noise, 3), {"auto": 0.1}) for task in tasks for noise in noises
    ]
    found = list(frontier_targets(Grid.of_results(results), NOTHING))
    (tables,) = [t for t in found if t.text.startswith("tables: above")]
    assert tables.measured.endswith("and 3 more")
