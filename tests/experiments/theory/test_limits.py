from dataclasses import replace

import numpy as np
import pytest

from rehead.experiments.theory.closed import phi, truncation
from rehead.experiments.theory.estimates import algorithm_1, sample_estimate
from rehead.experiments.theory.limits import (
    algorithm_1_claims,
    algorithm_1_limit,
    exact_limit,
    kept_of_clean,
    mcd_claims,
    printed_limit,
    repaired_limit,
    sample_claims,
    sample_limit,
)
from rehead.experiments.theory.world import World, draw

WORLD = World(d=3, delta_out=0.3, delta_mcd=0.5, sigma=1.0, sigma_out=3.0)


def test_the_sample_limit_is_that_of_lemma_1():
    limit = sample_limit(WORLD)
    np.testing.assert_allclose(limit.means, 0.7 * WORLD.means)
    between = sum(np.outer(m, m) for m in WORLD.means) / 2
    np.testing.assert_allclose(limit.covariance, 3.4 * np.eye(3) + 0.21 * between)


def test_many_samples_come_close_to_the_sample_limit():
    drawn = draw(WORLD, 200_000, np.random.default_rng(0))
    found, limit = sample_estimate(drawn), sample_limit(WORLD)
    np.testing.assert_allclose(found.means, limit.means, atol=5 * 2.3 / 200_000**0.5)
    np.testing.assert_allclose(found.covariance, limit.covariance, atol=0.06)


def test_many_samples_come_close_to_the_limit_of_algorithm_1():
    n = 100_000
    rng = np.random.default_rng(1)
    found = algorithm_1(draw(WORLD, n, rng), WORLD.delta_mcd, rng)
    limit = algorithm_1_limit(WORLD)
    np.testing.assert_allclose(found.means, limit.means, atol=5 * n**-0.5)
    np.testing.assert_allclose(found.covariance, limit.covariance, atol=10 * n**-0.5)
    assert found.outliers_kept == pytest.approx(limit.outliers_kept, abs=5e-3)
    # It is not what the MCD tends to: the difference is many times that tolerance.
    assert np.abs(limit.means - exact_limit(WORLD).means).max() > 15 * n**-0.5


def test_outliers_out_of_reach_leave_the_factor():
    far = replace(WORLD, d=6, sigma_out=300.0)
    exact, repaired = exact_limit(far), repaired_limit(far)
    np.testing.assert_allclose(exact.means, repaired.means, atol=1e-8)
    np.testing.assert_allclose(exact.covariance, repaired.covariance, atol=1e-8)
    assert repaired.covariance[0, 0] == pytest.approx(truncation(6, 0.5 / 0.7))


def test_the_factor_is_one_where_all_clean_samples_are_kept():
    world = replace(WORLD, delta_mcd=0.7)
    assert kept_of_clean(world) == pytest.approx(1.0)
    np.testing.assert_allclose(repaired_limit(world).covariance, printed_limit(world).covariance)


def test_printed_claims_of_equation_4():
    claims = mcd_claims(WORLD)
    base = phi(sample_limit(WORLD).covariance)
    for name in ("ratio", "ratio_squared"):
        assert claims[name]["printed"] == pytest.approx(1 / (0.49 * base))
    assert claims["ratio"]["repaired"] == pytest.approx(1 / (0.7 * base))
    assert claims["ratio_squared"]["repaired"] == pytest.approx(1 / (0.49 * base))
    assert claims["pull_1"]["printed"] == 0.0
    assert claims["phi"]["printed"] == 1.0


def test_printed_claims_of_the_sample_means():
    claims = sample_claims(WORLD)
    assert claims["distance"]["printed"] == pytest.approx(0.49)
    assert claims["distance"]["exact"] == pytest.approx(0.7)
    assert claims["distance_squared"]["printed"] == pytest.approx(0.49)
    assert claims["pull_2"]["printed"] == pytest.approx(0.3)


def test_without_outliers_all_but_the_scale_is_as_printed():
    claims = mcd_claims(replace(WORLD, delta_out=0.0))
    for name in ("pull_1", "phi", "ratio", "ratio_squared", "outliers_kept"):
        assert claims[name]["exact"] == pytest.approx(claims[name]["printed"], abs=1e-8)
    assert claims["scale"]["exact"] == pytest.approx(truncation(3, 0.5))


def test_algorithm_1_is_measured_by_the_same_printed_limits():
    assert algorithm_1_claims(WORLD)["pull_1"]["printed"] == 0.0
    assert algorithm_1_claims(WORLD)["pull_1"]["exact"] > mcd_claims(WORLD)["pull_1"]["exact"]
