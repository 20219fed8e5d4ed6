import numpy as np
import pytest

from rehead.experiments.theory.world import World, draw

SPIKE = World(d=3, delta_out=0.4, delta_mcd=0.5, sigma_out=3.0, spike=0.9, spike_width=0.1)
PLAIN = World(d=3, delta_out=0.3, delta_mcd=0.5, sigma=0.5, sigma_out=2.0)


@pytest.mark.parametrize("world", [SPIKE, PLAIN])
def test_clean_samples_and_outliers_have_the_moments_of_a1(world):
    n = 60_000
    drawn = draw(world, n, np.random.default_rng(0))
    first = drawn.codes == 0
    assert drawn.outlier[first].sum() == round(world.delta_out * n)
    clean, out = drawn.X[first & ~drawn.outlier], drawn.X[first & drawn.outlier]
    np.testing.assert_allclose(clean.mean(axis=0), world.means[0], atol=5 * world.sigma / 170)
    np.testing.assert_allclose(np.cov(clean.T), world.sigma**2 * np.eye(3), atol=0.05)
    # The far outliers of the spike have heavy tails: compare with their own standard error.
    squares = out**2
    se = squares.std(axis=0) / len(out) ** 0.5
    assert (np.abs(squares.mean(axis=0) - world.sigma_out**2) < 5 * se).all()


@pytest.mark.parametrize("world", [SPIKE, PLAIN])
def test_clouds_have_weight_one_and_the_variance_of_the_outliers(world):
    clouds = world.clouds(1)
    assert sum(c.weight for c in clouds) == pytest.approx(1.0)
    assert clouds[0] == (1 - world.delta_out, world.positions[1], world.sigma**2)
    out = sum(c.weight * c.variance for c in clouds[1:]) / world.delta_out
    assert out == pytest.approx(world.sigma_out**2)


def test_without_outliers_there_is_one_cloud():
    assert len(World(d=2, delta_out=0.0, delta_mcd=0.5).clouds(0)) == 1


def test_means_lie_on_the_axis():
    np.testing.assert_allclose(np.linalg.norm(PLAIN.means, axis=1), np.abs(PLAIN.positions))
    np.testing.assert_allclose(PLAIN.means @ PLAIN.axis, PLAIN.positions)
    # In the 1-norm they are longer by sqrt(d), and so are errors along the axis.
    np.testing.assert_allclose(np.abs(PLAIN.means).sum(axis=1), 3**0.5 * np.abs(PLAIN.positions))


@pytest.mark.parametrize(
    ("change", "violated"),
    [
        ({}, set()),
        ({"delta_mcd": 1.0}, {"A2", "A4"}),
        ({"sigma_out": 0.4}, {"A3"}),
        ({"delta_out": 0.5}, {"A4"}),
        ({"delta_mcd": 0.02}, {"A4"}),
    ],
)
def test_assumptions_are_checked(change, violated):
    world = World(**{**vars(PLAIN), **change})
    assert {a for a, holds in world.assumptions(100).items() if not holds} == violated


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d": 1}, "d must be 2 or more"),
        ({"delta_out": 1.0}, "delta_out must be"),
        ({"spike": -0.1}, "spike must be"),
        ({"delta_mcd": 0.0}, "delta_mcd must be"),
        ({"sigma": 0.0}, "must be positive"),
        ({"spike_width": 5.0}, "narrower"),
    ],
)
def test_bad_worlds_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        World(**{**vars(PLAIN), **change})
