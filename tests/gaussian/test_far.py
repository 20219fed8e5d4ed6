"""Rows that are far from everything, whatever the features are like."""

import dataclasses

import numpy as np
import pytest

from rehead import RobustGaussianClassifier
from rehead.gaussian import far
from rehead.gaussian.far import COLUMNS, _medians, far_rows
from rehead.gaussian.kernels import evenly_spaced
from rehead.gaussian.settings import SETTINGS


def brute_far(X):
    """Straight from the definition."""
    deviation = np.abs(X - np.median(X, axis=0))
    scale = np.maximum(np.median(deviation, axis=0), deviation.mean(axis=0) / 2)
    used = np.median(deviation, axis=0) > 0
    squares = ((deviation[:, used] / scale[used]) ** 2).sum(axis=1)
    return squares > 100 * np.median(squares)


@pytest.fixture
def heavy():
    """Features of many scales and middles, some with tails that reach far, the last constant."""
    rng = np.random.default_rng(0)
    d = COLUMNS + 3
    heavy = rng.standard_t(1.5, (900, d)) * np.exp(1.5 * rng.normal(size=(900, 1)))
    X = np.where(np.arange(d) % 2, heavy, rng.normal(size=(900, d)))
    X = (X + 5.0) * 10.0 ** rng.integers(-3, 4, d)
    X[:, -1] = 7.0
    return X


def test_far_rows_are_those_of_the_definition(heavy):
    found = far_rows(heavy)
    np.testing.assert_array_equal(found, brute_far(heavy))
    assert 20 < found.sum() < 400
    assert (far_rows(heavy.astype(np.float32)) == found).mean() > 0.99


def test_whole_weights_are_repetitions(heavy):
    counts = np.random.default_rng(1).integers(0, 4, size=len(heavy))
    rows = np.repeat(np.arange(len(heavy)), counts)
    np.testing.assert_allclose(_medians(heavy, counts), np.median(heavy[rows], axis=0))
    np.testing.assert_array_equal(far_rows(heavy, counts)[rows], far_rows(heavy[rows]))
    np.testing.assert_array_equal(far_rows(heavy, counts / 8), far_rows(heavy, counts))


def test_rows_that_are_all_the_same_are_not_far():
    assert not far_rows(np.full((20, 3), 4.0)).any()


def test_features_that_are_mostly_zero_have_no_outliers():
    rng = np.random.default_rng(0)
    assert not far_rows((rng.random((500, 40)) < 0.05).astype(float)).any()


def test_features_that_are_often_silent_make_no_outliers():
    rng = np.random.default_rng(0)
    active = rng.random((2000, 50)) < 0.55
    X = np.where(active, rng.exponential(size=(2000, 50)), 1e-4 * rng.random((2000, 50)))
    assert not far_rows(X).any()
    X[:600] += 1e4
    assert far_rows(X)[:600].all()
    assert not far_rows(X)[600:].any()


def test_rows_of_weight_0_are_not_looked_at(heavy, monkeypatch):
    monkeypatch.setattr(far, "SETTINGS", dataclasses.replace(SETTINGS, noise_sample=300))
    counts = np.ones(len(heavy))
    counts[evenly_spaced(len(heavy), 300)] = 0.0
    kept = counts > 0
    np.testing.assert_array_equal(far_rows(heavy, counts)[kept], far_rows(heavy[kept]))


def test_a_fit_without_the_rows_that_a_sample_would_be_of():
    rng, n = np.random.default_rng(0), 45_000
    X, y, weights = rng.normal(size=(n, 2)), np.arange(n) % 2, np.ones(n)
    weights[evenly_spaced(n, SETTINGS.noise_sample)] = 0.0
    clf = RobustGaussianClassifier("anchored", random_state=0)
    assert np.isfinite(clf.fit(X, y, sample_weight=weights).means_).all()
