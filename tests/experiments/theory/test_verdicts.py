import copy

import pytest

from rehead.experiments.theory.repeats import critical
from rehead.experiments.theory.verdicts import (
    FAILS,
    HOLDS,
    UNDECIDED,
    WITH_FACTOR,
    Check,
    accepted,
    contradicting,
    judge,
    outcome,
    shown,
    verdict_of,
)


def check(value, claim, se=0.1, world=0):
    return Check(world, "scale", {"value": value, "se": se}, claim)


def test_outcome_counts_and_names_the_worst():
    found = outcome([check(1.0, 1.0), check(2.0, 1.0, world=1), check(1.1, 1.0)], 30)
    assert (found["accepted"], found["of"]) == (2, 3)
    assert found["critical"] == critical(3, 30)
    assert found["worst"]["world"] == 1
    assert found["worst"]["deviation"] == pytest.approx(10.0)
    assert not accepted(found)


def test_a_claim_below_is_as_bad_as_one_above():
    assert outcome([check(0.0, 1.0)], 30)["accepted"] == 0


def test_figures_that_never_varied_are_left_out():
    found = outcome([check(1.0, 1.0), check(5.0, 1.0, se=0.0)], 30)
    assert (found["accepted"], found["of"]) == (1, 1)
    with pytest.raises(ValueError, match="No figure varied"):
        outcome([check(5.0, 1.0, se=0.0)], 30)


YES, NO = {"accepted": 2, "of": 2}, {"accepted": 1, "of": 2}


@pytest.mark.parametrize(
    ("tests", "verdict"),
    [
        ({"printed": YES}, HOLDS),
        ({"printed": NO}, FAILS),
        ({"printed": YES, "exact": {**YES, "differs": False}}, HOLDS),
        ({"printed": YES, "exact": {**YES, "differs": True}}, UNDECIDED),
        ({"printed": YES, "exact": {**NO, "differs": True}}, HOLDS),
        ({"printed": NO, "repaired": YES}, WITH_FACTOR),
        ({"printed": NO, "repaired": NO, "exact": YES}, FAILS),
    ],
)
def test_verdicts(tests, verdict):
    assert verdict_of(tests) == verdict


def test_judging_compares_what_was_measured_with_what_is_claimed(tiny):
    result = copy.deepcopy(tiny)
    for i, cell in enumerate(result["cells"]):
        cell["pooled"]["mcd"]["scale"] = {"value": float(i), "se": 0.001}
        cell["claims"]["mcd"]["scale"] = {"printed": float(i), "exact": 1.0}
    found = judge(result, "mcd", ("scale",), ("printed", "exact"))
    assert found["printed"]["accepted"] == 3
    assert found["exact"]["accepted"] == 1
    assert not found["printed"]["differs"]
    assert found["exact"]["differs"]


def test_counterexamples_count_only_if_the_assumptions_hold(tiny):
    result = copy.deepcopy(tiny)
    assert contradicting(result, "ratio", lambda r: r < 1) == ["spike", "small subset"]
    result["counterexamples"]["spike"]["assumptions"]["A3"] = False
    assert contradicting(result, "ratio", lambda r: r < 1) == ["small subset"]
    rows = shown(result, "ratio", ["spike"])
    assert rows[0]["value"] == result["counterexamples"]["spike"]["limit"]["mcd"]["ratio"]
    assert "se" in rows[1]
