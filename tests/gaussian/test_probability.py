"""Softmax and likelihoods against scipy and sums written out."""

import numpy as np
import pytest
from scipy import special

from rehead.gaussian.probability import (
    LEAST_PROBABILITY,
    corrected_likelihood,
    corrected_nll,
    log_probabilities,
    softmax,
)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize("scale", [1.0, 30.0, 1e6])
def test_softmax_is_that_of_scipy_and_never_zero(dtype, rtol, scale):
    scores = (scale * np.random.default_rng(0).normal(size=(50, 4))).astype(dtype)
    before = scores.copy()
    p = softmax(scores)
    assert p.dtype == dtype
    assert (p > 0).all()
    expected = special.softmax(scores, axis=1)
    np.testing.assert_allclose(p, expected, rtol=rtol, atol=2 * np.finfo(dtype).tiny)
    np.testing.assert_array_equal(scores, before)
    assert softmax(scores, overwrite=True) is scores
    np.testing.assert_array_equal(scores, p)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_class_that_is_ruled_out_has_next_to_no_probability(dtype):
    p = softmax(np.array([0.0, -np.inf], dtype))
    assert p[0] == 1
    assert 0 < p[1] < 1e-30


def test_logarithms_are_finite():
    logs = log_probabilities(np.array([0.0, 1e-30, 0.25, 1.0], np.float32))
    assert logs.dtype == np.float64
    least = np.log(LEAST_PROBABILITY)
    np.testing.assert_allclose(logs, [least, least, np.log(0.25), 0.0])


def test_the_likelihood_of_a_noisy_label_sums_over_what_it_may_have_been():
    rng = np.random.default_rng(0)
    p, T = rng.dirichlet(np.ones(3), size=20), rng.dirichlet(np.ones(3), size=3)
    codes = rng.integers(3, size=20)
    expected = [sum(p[i, c] * T[c, codes[i]] for c in range(3)) for i in range(20)]
    np.testing.assert_allclose(corrected_likelihood(p, codes, T), expected)
    np.testing.assert_allclose(corrected_nll(p, codes, T), -np.log(expected))
    impossible = corrected_nll(np.array([[1.0, 0.0]]), np.array([1]), np.eye(2))
    assert 700 < impossible[0] < np.inf
