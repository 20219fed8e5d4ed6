"""What is wrong with a sample: the rules one by one, and on data with known strange samples."""

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, score_labels
from rehead.audit.kinds import (
    KINDS,
    false_share,
    kinds_of,
    ordinary_share,
    p_of_distances,
    quality_of_strange,
)


def test_what_the_rules_say(report):
    assert set(report.kind.tolist()) <= set(KINDS)
    clear = report.suggested_probability >= 2 / 3
    inside = report.kind != "out of distribution"
    np.testing.assert_array_equal(report.kind == "ok", clear & ~report.suspect & inside)
    np.testing.assert_array_equal(report.kind == "wrong label", clear & report.suspect & inside)
    np.testing.assert_array_equal(report.kind == "ambiguous", ~clear & inside)


def test_an_outlier_is_nothing_else():
    ordinary = ordinary_share(np.array([0.9, 1e-6, 0.5]), np.ones(3), np.ones(3))
    found = kinds_of(np.zeros(3), np.ones(3), np.array([0.9, 0.9, 0.5]), ordinary)
    assert found.tolist() == ["wrong label", "out of distribution", "ambiguous"]


def test_without_p_values_only_what_is_far_is_strange():
    distance = np.random.default_rng(0).chisquare(4, size=100)
    distance[7] = 500.0
    ordinary = ordinary_share(np.full(100, np.nan), distance, np.zeros(100))
    found = kinds_of(np.zeros(100), np.zeros(100), np.ones(100), ordinary)
    assert np.flatnonzero(found != "ok").tolist() == [7]


def test_labels_of_strange_samples_are_not_right(blobs):
    """Of samples from elsewhere none has a right label, and they are counted as wrong ones."""
    X, y = blobs(sizes=(200,) * 3, d=5, distance=8.0)
    X[:30] = 60.0 + np.random.default_rng(1).normal(size=(30, 5))
    report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
    assert (report.kind[:30] == "out of distribution").all()
    assert report.quality[:30].max() <= 0.1
    assert (report.quality[30:] < 0.5).sum() <= 3  # one in ten that is called so may be ordinary
    assert report.noise_rate == pytest.approx(0.05, abs=0.01)
    assert set(range(30)) <= set(report.order[:33].tolist())


def test_samples_that_are_not_called_strange_keep_their_quality():
    rng = np.random.default_rng(0)
    quality = rng.random(500)
    ordinary = ordinary_share(rng.random(500), rng.chisquare(5, size=500), np.zeros(500))
    np.testing.assert_array_equal(quality_of_strange(quality, ordinary), quality)


class TestDistances:
    @pytest.mark.parametrize("d", [1, 3, 30, 1000])
    def test_those_of_gaussians_are_not_strange(self, d):
        rng = np.random.default_rng(d)
        for _ in range(20):
            p = p_of_distances(rng.chisquare(d, size=2000), np.arange(2000) % 4)
            assert false_share(p).min() > 0.05

    @pytest.mark.parametrize("squared", [np.zeros(60), np.ones(60), np.append(np.ones(59), 9.0)])
    def test_without_spread_nothing_is_strange(self, squared):
        np.testing.assert_array_equal(p_of_distances(squared, np.zeros(60)), 1.0)

    def test_few_samples_do_not_tell_what_is_usual(self):
        squared = np.append(np.random.default_rng(0).chisquare(5, size=48), 1e6)
        np.testing.assert_array_equal(p_of_distances(squared, np.zeros(49)), 1.0)

    def test_a_small_class_is_given_the_spread_of_all(self):
        squared = np.random.default_rng(0).chisquare(5, size=210)
        squared[-1] = 1e4
        nearest = np.repeat([0, 1], [200, 10])
        alone = p_of_distances(squared, np.zeros(210))[-1]
        assert p_of_distances(squared, nearest)[-1] == pytest.approx(alone)
        assert alone < 1e-9

    @pytest.mark.parametrize("d", [3, 50])
    def test_a_class_may_be_wider_than_others(self, blobs, d):
        X, y = blobs(sizes=(300,) * 4, d=d, distance=8.0)
        X[y == 0] += 2 * np.random.default_rng(1).normal(size=(300, d))
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        assert (report.kind == "out of distribution").mean() < 0.01


class TestFalseShare:
    def test_the_rule_word_for_word(self):
        rng = np.random.default_rng(0)
        for _ in range(50):
            p = rng.random(40) ** 3
            ks = [k for k in range(1, 41) if (p <= 0.2 * k / 40).sum() >= k]
            limit = 0.2 * max(ks) / 40 if ks else -1.0
            np.testing.assert_array_equal(false_share(p) <= 0.2, p <= limit)

    def test_nan_is_never_small(self):
        p = np.array([np.nan, 1e-9, np.nan, 0.9])
        assert (false_share(p) <= 0.1).tolist() == [False, True, False, False]
        assert np.isnan(false_share(np.full(3, np.nan))).all()

    def test_ordinary_ones_are_seldom_called_small(self):
        rng = np.random.default_rng(0)
        calls = [(false_share(rng.random(1000)) <= 0.1).sum() for _ in range(300)]
        assert np.mean(np.array(calls) > 0) < 0.16  # 0.1 in expectation
        assert np.mean(calls) < 1

    def test_the_share_of_false_calls_is_kept(self):
        rng = np.random.default_rng(0)
        shares = []
        for _ in range(200):
            p = rng.random(1000)
            p[:100] *= 1e-3
            called = false_share(p) <= 0.1
            shares.append(called[100:].sum() / max(called.sum(), 1))
            assert called[:100].mean() > 0.9
        assert np.mean(shares) < 0.11


class TestStrangeSamples:
    @pytest.mark.parametrize("share", [0.01, 0.1])
    def test_are_found_among_the_training_samples(self, blobs, share):
        X, y = blobs(sizes=(400, 400, 400), d=8, distance=3.0)
        strange = np.random.default_rng(0).random(len(y)) < share
        X[strange] = 8 * np.random.default_rng(1).normal(size=(strange.sum(), 8))
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        called = report.kind == "out of distribution"
        assert called[strange].mean() > 0.8
        assert called[~strange].mean() < 0.01

    def test_are_found_among_new_samples(self, blobs):
        X, y = blobs(sizes=(400, 400, 400), d=6, distance=3.0)
        model = RobustGaussianClassifier(random_state=0).fit(X[:900], y[:900])
        rng = np.random.default_rng(0)
        strange = 12 * rng.normal(size=(30, 6))
        new = np.vstack([X[900:], strange])
        report = score_labels(model, new, np.append(y[900:], rng.integers(3, size=30)))
        called = report.kind == "out of distribution"
        assert called[300:].mean() > 0.9
        assert called[:300].mean() < 0.04

    def test_a_single_one_is_found(self, blobs):
        X, y = blobs(sizes=(200, 200), d=5)
        X[17] = 1e3
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        assert np.flatnonzero(report.kind == "out of distribution").tolist() == [17]
