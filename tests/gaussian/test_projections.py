"""Rows on class means: the plain products, and rows that are absurdly far away."""

import numpy as np
import pytest

from rehead.gaussian import tied_gaussians
from rehead.gaussian.projections import FARTHEST


@pytest.fixture
def gaussians():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3))
    return tied_gaussians(rng.normal(size=(4, 3)) + 5.0, A @ A.T + np.eye(3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_the_means_and_norms(gaussians, dtype):
    X = np.random.default_rng(1).normal(size=(700, 3)).astype(dtype) + dtype(5)
    P, m = np.linalg.inv(gaussians.covariance), gaussians.means - gaussians.centre
    x = X - gaussians.centre
    (first, second) = gaussians.projector(X).both(slice(0, 700))
    assert (first.where, second.where) == (slice(0, 512), slice(512, 700))
    linear = np.concatenate([first.linear, second.linear])
    norms = np.concatenate([first.norms, second.norms])
    rtol = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(linear, x @ P @ m.T, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(norms, np.einsum("ij,jk,ik->i", x, P, x), rtol=rtol)


@pytest.mark.parametrize("size", [1e90, 1e160, 1e308])
def test_far_rows_keep_their_direction(gaussians, size):
    direction = np.array([[1.0, -0.5, 0.25], [-1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    (found,) = gaussians.projector(direction * size).both(slice(0, 3))
    np.testing.assert_allclose(found.norms, FARTHEST["d"])
    expected = gaussians.scores(1e60 * direction).argmax(axis=1)
    np.testing.assert_array_equal(found.linear.argmax(axis=1), expected)
    np.testing.assert_array_equal(gaussians.posterior(size * direction).argmax(axis=1), expected)
    assert np.isfinite(gaussians.distances(size * direction)).all()


def test_the_farther_the_less_dense(gaussians):
    X = np.outer([1e3, 1e30, 1e60, 1e100], np.ones(3))
    density = gaussians.log_density(X)
    assert (np.diff(density) < 0).all()


def test_classes_that_are_absurdly_far_apart_are_refused():
    means = np.array([[0.0, 0.0], [0.0, 1e100]])
    with pytest.raises(ValueError, match=r"In feature 1 the classes are 5e.99 standard deviations"):
        tied_gaussians(means, np.eye(2))


def test_other_rows_need_nothing_anew(gaussians):
    X = np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32)
    every = gaussians.projector(X)
    some = every.on(X[5:9])
    assert some._whitened is every._whitened
    (_, linear, norms), (_, linear_of_all, norms_of_all) = (
        next(each.both(slice(0, len(each.X)))) for each in (some, every)
    )
    np.testing.assert_allclose(linear, linear_of_all[5:9], rtol=1e-5)
    np.testing.assert_allclose(norms, norms_of_all[5:9], rtol=1e-5)
