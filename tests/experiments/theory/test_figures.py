import numpy as np
import pytest

from rehead.experiments.theory.estimates import Gaussians
from rehead.experiments.theory.figures import figures
from rehead.experiments.theory.world import World

WORLD = World(d=4, delta_out=0.25, delta_mcd=0.5, positions=(4.0, -2.0))
U = WORLD.axis


def gaussians(shrink, along, across, kept=0.0):
    covariance = across * np.eye(4) + (along - across) * np.outer(U, U)
    return Gaussians(shrink * WORLD.means, covariance, kept, [])


def test_figures_are_those_of_the_definitions():
    sample, g = gaussians(0.75, 6.0, 2.0), gaussians(0.9, 1.0, 0.5, kept=0.1)
    f = figures(WORLD, g, sample)
    assert f["pull_1"] == pytest.approx(0.1)
    assert f["pull_2"] == pytest.approx(0.1)
    assert f["l1_error"] == pytest.approx(0.1 * np.abs(WORLD.means).sum() / 2)
    assert f["mean_errors"] == pytest.approx(0.1 * np.abs(WORLD.means).sum())
    assert (f["along"], f["across"]) == pytest.approx((1.0, 0.5))
    assert f["scale"] == pytest.approx((1.0 + 3 * 0.5) / 4)
    assert f["phi"] == pytest.approx(8 / 9)  # condition 2
    assert f["distance"] == pytest.approx(0.9)
    assert f["distance_squared"] == pytest.approx(0.81)
    # phi of the sample covariance: condition 3.
    assert f["ratio"] == pytest.approx((8 / 9) / 0.75 * 0.9 / 0.75)
    assert f["ratio_squared"] == pytest.approx((8 / 9) / 0.75 * (0.9 / 0.75) ** 2)
    assert f["outliers_kept"] == 0.1
    assert f["terms"] == pytest.approx(2 * np.exp(-5.4 / 8 * 8 / 9))
    assert f["terms_squared"] == pytest.approx(2 * np.exp(-(5.4**2) / 8 * 8 / 9))


def test_the_sample_estimator_has_ratio_one_to_itself():
    sample = gaussians(0.75, 6.0, 2.0)
    f = figures(WORLD, sample, sample)
    assert f["ratio"] == pytest.approx(1.0)
    assert f["ratio_squared"] == pytest.approx(1.0)


def test_exact_estimates_have_no_error_but_that_of_the_classes():
    g = Gaussians(WORLD.means, np.eye(4), 0.0, [])
    f = figures(WORLD, g, g)
    assert f["pull_1"] == f["mean_errors"] == 0.0
    assert f["error"] == pytest.approx(0.0013498980316300933)  # Phi(-3)
