import copy

import pytest

from rehead.experiments.theory import lemma
from rehead.experiments.theory.verdicts import FAILS, HOLDS, UNDECIDED, WITH_FACTOR


def measured_as(tiny, estimator, names, reading, se=1e-5):
    """A copy in which figures were measured exactly as one reading claims; no counterexamples."""
    result = copy.deepcopy(tiny)
    result["counterexamples"] = {}
    result["settings"]["repeats"] = 30
    for cell in result["cells"]:
        for name in names:
            claim = cell["claims"][estimator][name][reading]
            cell["pooled"][estimator][name] = {"value": claim, "se": se}
    return result


@pytest.mark.parametrize(
    ("make", "estimator", "names"),
    [
        (lemma.sample_mean, "sample", lemma.PULLS),
        (lemma.sample_covariance, "sample", lemma.SHAPE),
        (lemma.mcd_mean, "mcd", lemma.PULLS),
        (lemma.mcd_covariance, "mcd", lemma.SHAPE),
        (lemma.algorithm_1, "algorithm_1", lemma.PULLS),
    ],
)
def test_what_is_measured_as_printed_holds(tiny, make, estimator, names):
    assert make(measured_as(tiny, estimator, names, "printed")).verdict == HOLDS
    result = measured_as(tiny, estimator, names, "printed")
    result["cells"][0]["pooled"][estimator][names[0]]["value"] += 0.01
    assert make(result).verdict == FAILS


def test_the_mean_of_the_mcd_fails_as_measured_by_quadrature(tiny):
    assert lemma.mcd_mean(measured_as(tiny, "mcd", lemma.PULLS, "exact")).verdict == FAILS
    blurred = measured_as(tiny, "mcd", lemma.PULLS, "exact", se=1.0)
    assert lemma.mcd_mean(blurred).verdict == UNDECIDED


def test_a_counterexample_is_enough_against_the_mean_of_the_mcd(tiny):
    result = measured_as(tiny, "mcd", lemma.PULLS, "printed")
    result["counterexamples"] = tiny["counterexamples"]
    found = lemma.mcd_mean(result)
    assert found.verdict == FAILS
    assert any(e["what"].startswith("spike") for e in found.evidence)


def test_the_covariance_holds_with_the_factor(tiny):
    result = measured_as(tiny, "mcd", lemma.SHAPE, "repaired")
    found = lemma.mcd_covariance(result)
    assert found.verdict == WITH_FACTOR
    # The world without outliers is another statement's.
    assert found.tests["printed"]["of"] == 2 * 2
    assert found.tests["exact"]["worst"]["world"] in (0, 2)


def test_without_outliers_the_factor_is_tested_on_its_own_runs(tiny):
    result = copy.deepcopy(tiny)
    result["settings"]["factor_repeats"] = 30
    for row in result["factor"]:
        row["scale"] = {"value": row["factor"], "se": 1e-4}
    assert lemma.mcd_covariance_clean(result).verdict == WITH_FACTOR
    for row in result["factor"]:
        row["scale"]["value"] = 1.0
    assert lemma.mcd_covariance_clean(result).verdict == HOLDS
    for row in result["factor"]:
        row["scale"]["se"] = 10.0
    assert lemma.mcd_covariance_clean(result).verdict == UNDECIDED


def test_outliers_are_kept_unless_all_limits_are_zero(tiny):
    assert lemma.no_outliers_kept(tiny).verdict == FAILS
    result = copy.deepcopy(tiny)
    result["counterexamples"] = {}
    for cell in result["cells"]:
        cell["claims"]["mcd"]["outliers_kept"]["exact"] = 0.0
    assert lemma.no_outliers_kept(result).verdict == HOLDS
