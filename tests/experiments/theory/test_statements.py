import copy

import pytest

from rehead.experiments.theory.statements import (
    STATEMENTS,
    algorithm_1_breakdown,
    mcd_breakdown,
    sample_breakdown,
    statements,
)
from rehead.experiments.theory.verdicts import FAILS, HOLDS, SQUARED, UNDECIDED, WITH_FACTOR


def test_every_statement_says_what_where_and_why(tiny):
    found = statements(tiny)
    assert [s["id"] for s in found] == [s["id"] for s in tiny["statements"]]
    assert len({s["id"] for s in found}) == len(STATEMENTS)
    for s in found:
        assert s["verdict"] in {HOLDS, FAILS, SQUARED, WITH_FACTOR, UNDECIDED}
        assert s["says"].endswith(".")
        assert s["where"]
        assert s["tests"] or s["evidence"]


def changed(result, section, **cells):
    """A copy in which rows of a section that match say that so many runs are broken."""
    result = copy.deepcopy(result)
    share = cells.pop("broken")
    for row in result[section]["rows"]:
        if all(row[key] == value for key, value in cells.items()):
            row["mean_broken"]["value"] = row["covariance_broken"]["value"] = share
    return result


def test_one_sample_must_be_enough_to_break_the_sample_estimator(tiny):
    assert sample_breakdown(tiny).verdict == HOLDS
    sturdy = changed(tiny, "breakdown", estimator="sample", replaced=1, broken=0.5)
    assert sample_breakdown(sturdy).verdict == FAILS


def test_the_mcd_must_break_at_the_printed_number_and_not_before(tiny):
    printed = tiny["exact_breakdown"]["printed"]
    assert mcd_breakdown(tiny).verdict == HOLDS
    early = changed(tiny, "exact_breakdown", replaced=printed - 1, broken=0.5)
    assert mcd_breakdown(early).verdict == FAILS
    late = changed(tiny, "exact_breakdown", replaced=printed, broken=0.0)
    assert mcd_breakdown(late).verdict == FAILS


@pytest.mark.parametrize(("broken", "verdict"), [(0.5, FAILS), (0.0, HOLDS)])
def test_algorithm_1_must_not_break_early(tiny, broken, verdict):
    result = changed(tiny, "breakdown", estimator="algorithm_1", replaced=9, broken=broken)
    assert algorithm_1_breakdown(result).verdict == verdict
