import numpy as np
import pytest
from scipy.stats import norm

from rehead.experiments.theory.bound import (
    bound,
    compare_bounds,
    limiting_bounds,
    rescaled,
    smaller_for_every_constant,
)

MCD = {"terms": 0.5, "terms_squared": 0.2, "mean_errors": 1.0}
SAMPLE = {"terms": 0.8, "terms_squared": 0.3, "mean_errors": 2.0}


@pytest.mark.parametrize(("reading", "terms"), [("norm", 0.5), ("squared", 0.2)])
def test_the_bound_is_terms_and_errors_of_the_means(reading, terms):
    assert bound(MCD, reading, 0.0) == terms
    assert bound(MCD, reading, 3.0) == terms + 3.0


def test_bounds_are_compared_repetition_by_repetition():
    repeats = [{"mcd": MCD, "sample": SAMPLE}, {"mcd": SAMPLE, "sample": MCD}]
    repeats += [{"mcd": MCD, "sample": SAMPLE}] * 2
    rows = compare_bounds(repeats, [0.0, 2.0])
    assert [(r["reading"], r["constant"]) for r in rows] == [
        ("norm", 0.0),
        ("norm", 2.0),
        ("squared", 0.0),
        ("squared", 2.0),
    ]
    assert rows[3]["mcd"]["value"] == pytest.approx((3 * 2.2 + 4.3) / 4)
    assert rows[3]["mcd_smaller"] == pytest.approx({"value": 0.75, "se": 0.25})


def test_limits_take_the_exact_claims():
    claims = {
        e: {name: {"printed": -1.0, "exact": v} for name, v in f.items()}
        for e, f in (("mcd", MCD), ("sample", SAMPLE))
    }
    rows = limiting_bounds(claims, [1.0])
    assert rows[0] == {"reading": "norm", "constant": 1.0, "sample": 2.8, "mcd": 1.5}


def test_one_bound_is_smaller_for_every_constant_if_all_its_parts_are():
    assert smaller_for_every_constant(MCD, SAMPLE)
    assert smaller_for_every_constant(MCD, MCD)
    assert not smaller_for_every_constant(MCD, {**SAMPLE, "mean_errors": 0.5})
    assert not smaller_for_every_constant(MCD, {**SAMPLE, "terms_squared": 0.1})


def test_with_squared_norms_the_bound_holds_in_every_unit_and_with_norms_it_does_not():
    for apart in np.linspace(0.1, 8, 30):
        rows = rescaled(apart, [10.0, 1.0, 0.001])
        for row in rows:
            assert row["error"] == pytest.approx(norm.cdf(-apart / 2))
            assert row["squared"] == pytest.approx(2 * np.exp(-(apart**2) / 8))
            assert row["squared"] >= row["error"]
        assert rows[2]["norm"] < rows[2]["error"]
