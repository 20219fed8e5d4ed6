"""Regularised covariances against scikit-learn and the formula."""

import numpy as np
import pytest
from sklearn.covariance import oas, shrunk_covariance

from rehead.gaussian.kernels import cholesky
from rehead.gaussian.shrinkage import invertible, oas_intensity, shrink


def sample_covariance(n, d, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d)) @ np.diag(np.arange(1.0, d + 1))
    X -= X.mean(axis=0)
    return X, X.T @ X / n


@pytest.mark.parametrize(("n", "d"), [(5, 3), (20, 3), (10, 30), (1000, 4), (2, 2)])
def test_oas_is_that_of_scikit_learn(n, d):
    X, S = sample_covariance(n, d)
    expected, intensity = oas(X, assume_centered=True)
    assert oas_intensity(np.tril(S), n) == pytest.approx(intensity, rel=1e-12)
    np.testing.assert_allclose(
        np.tril(shrink(S, "auto", n)), np.tril(expected), rtol=1e-12, atol=1e-14
    )


def test_oas_of_a_multiple_of_the_identity_is_all_shrinkage():
    assert oas_intensity(3.0 * np.eye(4), 100) == 1.0


@pytest.mark.parametrize("a", [0.0, 0.3, 1.0])
def test_shrink_is_the_formula(a):
    _, S = sample_covariance(30, 4)
    np.testing.assert_allclose(shrink(S, a, 30), shrunk_covariance(S, shrinkage=a), atol=1e-14)


def test_a_good_covariance_is_left_alone():
    _, S = sample_covariance(50, 4)
    result = invertible(S, 0.0, 50)
    assert result.added == 0.0
    np.testing.assert_array_equal(result.covariance, S)


def singular_cases():
    rng = np.random.default_rng(0)
    few, duplicate = rng.normal(size=(3, 8)), rng.normal(size=(100, 4))
    duplicate[:, 3] = duplicate[:, 0]
    cases = {"few samples": few, "duplicate feature": duplicate, "one sample": np.ones((1, 3))}
    cases["scales"] = duplicate * [1e-9, 1.0, 1e6, 1e-9]
    return [pytest.param(X, id=name) for name, X in cases.items()]


@pytest.mark.parametrize("X", singular_cases())
def test_a_singular_covariance_becomes_invertible(X):
    S = np.cov(X, rowvar=False, bias=True) if len(X) > 1 else np.zeros((X.shape[1],) * 2)
    covariance, factor, added, estimated = invertible(S, 0.0, len(X))
    assert 0.0 <= added <= 1.0
    assert estimated == 1.0 - added
    assert np.isfinite(factor.log_det)
    np.testing.assert_array_equal(np.tril(cholesky(covariance).lower), np.tril(factor.lower))
    np.testing.assert_allclose(covariance, shrink(S, added, len(X)), rtol=1e-12)
