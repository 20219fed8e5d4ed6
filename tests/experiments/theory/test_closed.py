import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from rehead.experiments.theory.closed import (
    bound_terms,
    lda_error,
    mean_errors,
    phi,
    truncation,
)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.75, 0.99])
@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_truncation_is_the_second_moment_of_the_central_part(d, alpha):
    q = chi2.ppf(alpha, d)
    # Substituting r^2 for the chi-square variable: no pole at 0 for d = 1.
    moment, _ = quad(lambda r: r**2 * chi2.pdf(r**2, d) * 2 * r, 0, q**0.5, epsabs=1e-12)
    assert truncation(d, alpha) == pytest.approx(moment / d / alpha, rel=1e-7)


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.9])
def test_truncation_in_two_dimensions_is_elementary(alpha):
    assert truncation(2, alpha) == pytest.approx(1 + (1 - alpha) * np.log(1 - alpha) / alpha)


def test_truncation_of_half_the_plane_is_one_minus_log_two():
    assert truncation(2, 0.5) == pytest.approx(1 - np.log(2))
    assert truncation(5, 1.0) == 1.0


@pytest.mark.parametrize("alpha", [0.0, 1.1, float("nan")])
def test_truncation_refuses_what_is_no_share(alpha):
    with pytest.raises(ValueError, match="alpha must be"):
        truncation(2, alpha)


def random_covariance(seed, d=4):
    A = np.random.default_rng(seed).normal(size=(d + 2, d))
    return A.T @ A


@pytest.mark.parametrize("seed", range(4))
def test_phi_is_as_printed_and_does_not_depend_on_the_scale(seed):
    S = random_covariance(seed)
    t = np.linalg.norm(np.linalg.inv(S), 2) * np.linalg.norm(S, 2)
    assert phi(S) == pytest.approx(4 * t / (1 + t) ** 2)
    assert phi(1e-4 * S) == pytest.approx(phi(S))
    assert phi(S) < 1 == phi(np.eye(4))


@pytest.mark.parametrize("power", [1, 2])
def test_bound_terms_are_a_double_sum(power):
    rng = np.random.default_rng(0)
    means, S = rng.normal(size=(3, 4)), random_covariance(1)
    total = 0.0
    for c in range(3):
        for other in range(3):
            if other != c:
                length = np.sqrt(((means[c] - means[other]) ** 2).sum())
                total += np.exp(-(length**power) / (8 * 0.7**2) * phi(S))
    assert bound_terms(means, S, 0.7, power) == pytest.approx(total)


def test_mean_errors_are_one_norms():
    assert mean_errors(np.array([[1.0, -2.0], [0.0, 0.0]]), np.zeros((2, 2))) == 3.0


def test_lda_error_is_that_of_scikit_learn_on_many_samples():
    rng = np.random.default_rng(0)
    true = np.array([[0.0, 0.0, 0.0], [1.5, 0.5, 0.0]])
    X = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + true[1]])
    y = np.repeat([0, 1], 40)
    lda = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True, priors=[0.5, 0.5])
    lda.fit(X, y)
    n = 200_000
    test = rng.normal(size=(2, n, 3)) + true[:, None]
    wrong = [np.mean(lda.predict(test[c]) != c) for c in (0, 1)]
    error = lda_error(list(lda.means_), lda.covariance_, true, 1.0)
    assert abs(error - np.mean(wrong)) < 5 * (0.25 / (2 * n)) ** 0.5


def test_lda_error_does_not_depend_on_the_scale_of_the_covariance():
    true = np.array([[0.0, 0.0], [2.0, 1.0]])
    off = [true[0] + 0.3, true[1] - [0.1, 0.5]]
    S = random_covariance(2, 2)
    assert lda_error(off, S, true, 1.0) == pytest.approx(lda_error(off, 0.31 * S, true, 1.0))
