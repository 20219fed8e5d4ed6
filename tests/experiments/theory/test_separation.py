import copy

import pytest

from rehead.experiments.theory import separation
from rehead.experiments.theory.verdicts import FAILS, HOLDS, SQUARED, UNDECIDED


def measured_as(tiny, estimator, **readings):
    """A copy in which figures were measured exactly as a reading claims; no counterexamples."""
    result = copy.deepcopy(tiny)
    result["counterexamples"] = {}
    result["settings"]["repeats"] = 30
    for cell in result["cells"]:
        for name, reading in readings.items():
            claim = cell["claims"][estimator][name][reading]
            cell["pooled"][estimator][name] = {"value": claim, "se": 1e-4}
    return result


@pytest.mark.parametrize(
    ("distance", "squared", "verdict"),
    [("exact", "exact", SQUARED), ("printed", "exact", HOLDS)],
)
def test_distances_shrink_by_one_power_or_by_two(tiny, distance, squared, verdict):
    result = measured_as(tiny, "sample", distance=distance, distance_squared=squared)
    assert separation.distances(result).verdict == verdict
    for cell in result["cells"]:
        cell["pooled"]["sample"]["distance"]["value"] += 0.05
    assert separation.distances(result).verdict == FAILS


def test_distances_that_are_not_known_well_decide_nothing(tiny):
    result = measured_as(tiny, "sample", distance="exact", distance_squared="exact")
    for cell in result["cells"]:
        cell["pooled"]["sample"]["distance"]["se"] = 1.0
    assert separation.distances(result).verdict == UNDECIDED


@pytest.mark.parametrize(
    ("ratio", "squared", "verdict"),
    [
        ("printed", "exact", HOLDS),
        ("repaired", "printed", SQUARED),
        ("exact", "exact", FAILS),
    ],
)
def test_the_ratio_under_both_readings(tiny, ratio, squared, verdict):
    result = measured_as(tiny, "mcd", ratio=ratio, ratio_squared=squared)
    found = separation.ratio(result)
    assert found.verdict == verdict
    assert set(found.tests) == {"printed", "repaired", "exact", "squared", "squared, exact"}


def test_the_ratio_is_at_least_one_but_in_the_counterexamples(tiny):
    assert separation.ratio_at_least_one(tiny).verdict == FAILS
    result = copy.deepcopy(tiny)
    del result["counterexamples"]["spike"], result["counterexamples"]["small subset"]
    assert separation.ratio_at_least_one(result).verdict == HOLDS
    result["cells"][0]["claims"]["mcd"]["ratio_squared"]["exact"] = 0.99
    assert separation.ratio_at_least_one(result).verdict == FAILS


def test_phi_tends_to_one_but_in_the_counterexamples(tiny):
    result = measured_as(tiny, "mcd", phi="printed")
    assert separation.phi_to_one(result).verdict == HOLDS
    result["counterexamples"] = tiny["counterexamples"]
    assert separation.phi_to_one(result).verdict == FAILS


@pytest.mark.parametrize(
    ("norm", "squared", "verdict"),
    [(0.2, 0.3, HOLDS), (0.05, 0.3, SQUARED), (0.05, 0.05, FAILS)],
)
def test_a_bound_must_not_be_below_the_error(norm, squared, verdict):
    row = {"scale": 1.0, "error": 0.1, "norm": norm, "squared": squared}
    good = {"scale": 2.0, "error": 0.1, "norm": 1.0, "squared": 1.0}
    assert separation.bound_as_printed({"rescaled": [good, row]}).verdict == verdict


def test_the_bound_must_be_smaller_everywhere(tiny):
    assert separation.bound_is_smaller(tiny).verdict == FAILS
    result = copy.deepcopy(tiny)
    del result["counterexamples"]["spike"], result["counterexamples"]["small subset"]
    assert separation.bound_is_smaller(result).verdict == HOLDS
    result["cells"][1]["claims"]["mcd"]["mean_errors"]["exact"] = 1.0
    found = separation.bound_is_smaller(result)
    assert found.verdict == FAILS
    assert [e["value"] for e in found.evidence] == [3, 2]
