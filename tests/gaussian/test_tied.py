"""The tied Gaussians against Bayes' rule with scipy's densities."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal

from rehead.gaussian.moments import PooledMoments
from rehead.gaussian.tied import from_moments, tied_gaussians


@pytest.fixture(params=[0.0, 1e3], ids=["centred", "offset"])
def case(request):
    """Means, covariance, unequal priors and some points; also far from the origin."""
    rng = np.random.default_rng(0)
    means = 2 * rng.normal(size=(4, 3)) + request.param
    A = rng.normal(size=(3, 3))
    X = 3 * rng.normal(size=(50, 3)) + request.param
    return means, A @ A.T + np.eye(3), np.array([0.1, 0.2, 0.3, 0.4]), X


def test_posterior_is_bayes_rule(case, brute):
    means, covariance, priors, X = case
    g = tied_gaussians(means, covariance, priors)
    expected = brute.posterior(X, means, covariance, priors)
    np.testing.assert_allclose(g.posterior(X), expected, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(g.log_posterior(X), np.log(expected), rtol=1e-9, atol=1e-9)


def test_posterior_is_a_linear_softmax(case):
    means, covariance, priors, X = case
    g = tied_gaussians(means, covariance, priors)
    linear = X @ g.weights.T + (g.bias - g.weights @ g.centre)
    np.testing.assert_allclose(g.posterior(X), softmax(linear, axis=1), rtol=1e-7, atol=1e-12)


def test_log_density_is_that_of_the_mixture(case):
    means, covariance, priors, X = case
    joint = [multivariate_normal(mu, covariance).logpdf(X) for mu in means] + np.log(priors)[
        :, None
    ]
    g = tied_gaussians(means, covariance, priors)
    np.testing.assert_allclose(g.log_density(X), logsumexp(joint, axis=0), rtol=1e-9)


def test_distances_are_quadratic_forms(case, brute):
    means, covariance, priors, X = case
    expected = brute.distances(X, means, covariance)
    g = tied_gaussians(means, covariance, priors)
    np.testing.assert_allclose(g.distances(X), expected, rtol=1e-7, atol=1e-9)


def test_only_the_lower_triangle_is_read(case):
    means, covariance, _, X = case
    lower = np.tril(covariance) + np.triu(np.full((3, 3), 99.0), 1)
    g = tied_gaussians(means, lower)
    np.testing.assert_array_equal(g.covariance, covariance)
    np.testing.assert_array_equal(g.posterior(X), tied_gaussians(means, covariance).posterior(X))


def test_an_affine_map_of_the_features_leaves_the_posterior(case):
    means, covariance, priors, X = case
    A = np.array([[2.0, 0.5, 0.0], [0.0, 1.0, -3.0], [1.0, 0.0, 1.0]])
    here = tied_gaussians(means, covariance, priors).posterior(X)
    there = tied_gaussians(means @ A.T, A @ covariance @ A.T, priors).posterior(X @ A.T)
    np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_certain_posterior_is_never_exactly_zero(dtype):
    g = tied_gaussians(np.array([[0.0], [1e4]]), np.eye(1))
    p = g.posterior(np.array([[-1e4], [0.0], [5e3], [2e4]], dtype))
    assert p.dtype == dtype
    assert (p > 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.isfinite(g.log_posterior(np.array([[2e4]], dtype))).all()


def test_a_class_of_prior_zero_gets_no_posterior():
    g = tied_gaussians(np.array([[0.0], [1.0]]), np.eye(1), np.array([1.0, 0.0]))
    np.testing.assert_allclose(g.posterior(np.array([[0.9]])), [[1.0, 0.0]], atol=1e-300)


@pytest.mark.parametrize(
    ("priors", "expected"),
    [
        ("uniform", [0.5, 0.5]),
        ("empirical", [0.75, 0.25]),
        (np.array([0.9, 0.1]), [0.9, 0.1]),
    ],
)
def test_priors(priors, expected):
    m = PooledMoments(np.array([30.0, 10.0]), np.eye(2), 40 * np.eye(2))
    g = from_moments(m, priors=priors)
    np.testing.assert_array_equal(g.priors, expected)
    np.testing.assert_array_equal(g.covariance, np.eye(2))
