"""Part-dependent noise against algorithm 2 of its paper, sample by sample."""

import numpy as np
import pytest
from scipy.stats import kstest, truncnorm
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from rehead import noise
from rehead.noise.parts import flip_rates

from .overlapping import gaussians, tenths

X, Y, POSTERIOR = gaussians(n=3000)


def by_the_paper(x, y, q, W):
    """Steps of the algorithm, for one sample that is standardised."""
    p = x @ W[y]
    p[y] = -np.inf
    p = q * np.exp(p - p.max()) / np.exp(p - p.max()).sum()
    p[y] = 1 - q
    return p


def test_each_label_has_the_probability_of_the_paper():
    made = noise.part_dependent(X, Y, 0.3, random_state=0)
    q = 1 - made.probabilities[np.arange(len(Y)), Y]
    W = np.stack([made.chances.matrix(c) for c in range(4)])
    standard = StandardScaler().fit_transform(X)
    expected = [by_the_paper(x, y, r, W) for x, y, r in zip(standard, Y, q, strict=True)]
    np.testing.assert_allclose(made.probabilities, expected, atol=1e-10)


def test_matrices_are_standard_normal_one_for_each_class():
    features = np.random.default_rng(0).normal(size=(40, 500))
    chances = noise.part_dependent(features, np.arange(40) % 4, 0.3, random_state=0).chances
    W = np.stack([chances.matrix(c) for c in range(4)])
    assert W.shape == (4, 500, 4)
    assert kstest(W.ravel(), "norm").pvalue > 0.01
    assert abs(np.corrcoef(W.reshape(4, -1))[~np.eye(4, dtype=bool)]).max() < 0.1
    other = noise.part_dependent(features, np.arange(40) % 4, 0.3, random_state=1).chances
    assert abs(np.corrcoef(other.matrix(0).ravel(), W[0].ravel())[0, 1]) < 0.1


@pytest.mark.parametrize("rate", [0.3, 0.4, 0.6])
def test_rates_of_samples_are_normal(rate):
    q = flip_rates(5000, rate, np.random.default_rng(0))
    cut = truncnorm(-rate / 0.1, (1 - rate) / 0.1, loc=rate, scale=0.1)
    assert kstest(q, cut.cdf).pvalue > 0.01


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_rates_of_samples_sum_to_the_rate(rate, n):
    q = flip_rates(n, rate, np.random.default_rng(0))
    assert q.sum() == pytest.approx(int(rate * n + 1e-9))
    assert q.min() >= 0
    assert q.max() <= 1


def test_any_rate_can_be_met():
    assert noise.part_dependent(X, Y, 1.0, random_state=0).rate == 1.0


def test_samples_that_are_alike_get_the_same_wrong_label_hard_or_not():
    features, y, posterior = gaussians(n=3000, C=8)
    noisy = noise.part_dependent(features, y, 0.4, random_state=0)
    same = []
    for c in range(8):
        rows = np.flatnonzero(noisy.changed & (y == c))
        _, near = NearestNeighbors(n_neighbors=2).fit(features[rows]).kneighbors()
        same.append((noisy.labels[rows][near[:, 0]] == noisy.labels[rows]).mean())
    assert np.mean(same) > 0.4  # of 7, by chance 0.14
    shares = tenths(posterior, y, noisy.changed)
    assert shares.max() - shares.min() < 0.15


def test_many_features_point_all_the_way():
    """Scores differ by a thousand then: the true class must not outshine all others."""
    features, y = np.random.default_rng(0).normal(size=(30, 200_000)), np.arange(30) % 3
    noisy = noise.part_dependent(features, y, 0.5, random_state=0)
    right = noisy.probabilities[np.arange(30), y]
    assert right.min() > 0.1
    assert right.max() < 0.9
    assert noisy.rate == 0.5


def test_constant_features_count_for_nothing():
    padded = np.hstack([X, np.full((len(X), 1), 0.1)])
    made = noise.part_dependent(padded, Y, 0.3, random_state=0)
    assert np.isfinite(made.probabilities).all()
    assert made.chances.scale[-1] == 1.0


def test_scale_and_place_of_features_make_no_difference():
    a = noise.part_dependent(X, Y, 0.3, random_state=0)
    b = noise.part_dependent(1000 * X + 77, Y, 0.3, random_state=0)
    np.testing.assert_allclose(a.probabilities, b.probabilities, atol=1e-8)
