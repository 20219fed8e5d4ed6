import numpy as np
import pytest

from rehead.experiments.theory.closed import truncation
from rehead.experiments.theory.population import (
    Ellipsoid,
    c_step,
    limits,
    mcd_limit,
    settle,
    whole,
)
from rehead.experiments.theory.world import Cloud, World

MIXED = [Cloud(0.6, 3.0, 1.0), Cloud(0.3, 0.0, 4.0), Cloud(0.1, 1.0, 0.04)]


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("d", [2, 5, 30])
def test_a_single_gaussian_tends_to_its_truncation(d, alpha):
    start = Ellipsoid(1.5, 3.0, 0.5)
    limit = settle([Cloud(1.0, 2.0, 4.0)], d, alpha, start)
    expected = 4.0 * truncation(d, alpha)
    np.testing.assert_allclose(limit.ellipsoid, [2.0, expected, expected], rtol=1e-7)
    assert limit.log_det == pytest.approx(d * np.log(expected))
    assert limit.shares == [1.0]


@pytest.mark.parametrize("d", [2, 4])
def test_a_c_step_has_the_moments_of_the_samples_in_the_ellipsoid(d):
    """A second implementation: half a million samples, the nearest kept."""
    rng, n = np.random.default_rng(0), 500_000
    which = rng.choice(3, size=n, p=[c.weight for c in MIXED])
    variance, position = (np.array([c[i] for c in MIXED])[which] for i in (2, 1))
    X = rng.normal(size=(n, d)) * np.sqrt(variance)[:, None]
    X[:, 0] += position
    now = Ellipsoid(2.0, 2.0, 1.3)
    distance = (X[:, 0] - now.mean) ** 2 / now.along + (X[:, 1:] ** 2).sum(axis=1) / now.across
    inside = np.argsort(distance)[: n // 2]
    kept = X[inside]
    found, shares = c_step(MIXED, d, 0.5, now)
    se = 5 * len(kept) ** -0.5
    assert abs(found.mean - kept[:, 0].mean()) < se * kept[:, 0].std()
    assert found.along == pytest.approx(kept[:, 0].var(), rel=3 * se)
    assert found.across == pytest.approx((kept[:, 1:] ** 2).mean(), rel=3 * se)
    np.testing.assert_allclose(
        shares, np.bincount(which[inside], minlength=3) / len(inside), atol=se
    )


def test_c_steps_never_raise_the_determinant():
    now, d = whole(MIXED), 5
    dets = []
    for _ in range(12):
        now, _ = c_step(MIXED, d, 0.5, now)
        dets.append(np.log(now.along) + (d - 1) * np.log(now.across))
    assert np.diff(dets).max() < 1e-12


def test_limits_are_fixed_points():
    for limit in limits(MIXED, 3, 0.5):
        again, shares = c_step(MIXED, 3, 0.5, limit.ellipsoid)
        np.testing.assert_allclose(again, limit.ellipsoid, atol=1e-9)
        np.testing.assert_allclose(shares, limit.shares, atol=1e-9)


def test_the_limit_is_the_fixed_point_with_the_smallest_determinant():
    world = World(d=4, delta_out=0.4, delta_mcd=0.5, sigma_out=3.0, spike=0.9)
    found = limits(world.clouds(0), 4, 0.5)
    assert mcd_limit(world, 0).log_det == min(limit.log_det for limit in found)
    # From the clean samples C-steps end near them, at a far larger determinant.
    assert found[0].shares[0] > 0.99
    assert found[0].log_det > found[1].log_det + 5


def test_whole_is_the_moments_of_the_mixture():
    e = whole([Cloud(0.75, 4.0, 1.0), Cloud(0.25, 0.0, 9.0)])
    assert e == pytest.approx((3.0, 3.0 + 0.75 * 0.25 * 16, 3.0))


def test_what_does_not_settle_is_an_error():
    with pytest.raises(ArithmeticError, match="2 C-steps did not settle"):
        settle(MIXED, 3, 0.5, whole(MIXED), most=2)
