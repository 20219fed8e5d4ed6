"""Calibration: a planted temperature is found, by the likelihood of noisy labels."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from rehead.gaussian.calibration import Calibration, calibrate, pool
from rehead.gaussian.linear import LinearScores
from rehead.gaussian.tied import tied_gaussians


def test_calibration_maximises_the_likelihood_of_noisy_labels(planted):
    some, T = slice(0, 400), planted.T
    scores, labels = 7.0 * planted.scores[some], planted.labels[some]
    found = calibrate(scores, labels, T)

    def loss(v):
        p = softmax(scores * np.exp(v[0]) + v[1:], axis=1)
        likelihood = (p * T[:, labels].T).sum(axis=1)
        return -np.log(likelihood).mean() + 5.0 / 400 * (v[1:] ** 2).sum()

    best = minimize(loss, np.zeros(4), method="Nelder-Mead", options={"maxiter": 4000})
    at = loss(np.append(-np.log(found.temperature), found.offsets))
    assert at == pytest.approx(best.fun, abs=1e-4)


@pytest.mark.parametrize("factor", [1.5, 7.0, 100.0])
def test_a_planted_temperature_and_the_shares_of_the_classes_are_recovered(planted, factor):
    found = calibrate(factor * planted.scores, planted.labels, planted.T)
    assert found.temperature == pytest.approx(factor, rel=0.12)
    log_priors = np.log(planted.priors)
    np.testing.assert_allclose(found.offsets, log_priors - log_priors.mean(), atol=0.1)
    honest = softmax(planted.scores + log_priors, axis=1)
    np.testing.assert_allclose(found.posterior(factor * planted.scores), honest, atol=0.05)


def test_scores_are_never_made_more_certain(planted):
    assert calibrate(0.3 * planted.scores, planted.labels, planted.T).temperature == 1.0


def test_what_all_classes_share_does_not_matter(planted):
    scores, labels = planted.scores[:500], planted.labels[:500]
    shared = 50.0 * np.random.default_rng(0).normal(size=(500, 1))
    plain, moved = (calibrate(s, labels, planted.T) for s in (scores, scores + shared))
    assert moved.temperature == pytest.approx(plain.temperature, rel=1e-6)
    np.testing.assert_allclose(moved.offsets, plain.offsets, atol=1e-6)


def test_whole_counts_are_repetitions(planted):
    counts = np.random.default_rng(0).integers(0, 4, size=600)
    scores, labels = 3.0 * planted.scores[:600], planted.labels[:600]
    rows = np.repeat(np.arange(600), counts)
    a = calibrate(scores, labels, planted.T, counts)
    b = calibrate(scores[rows], labels[rows], planted.T)
    assert a.temperature == pytest.approx(b.temperature, rel=1e-6)
    np.testing.assert_allclose(a.offsets, b.offsets, atol=1e-6)


def test_a_class_whose_label_does_not_occur_has_no_offset(planted):
    some = np.flatnonzero(planted.true != 2)[:300]
    scores, labels = 3.0 * planted.scores[some], planted.true[some]
    found = calibrate(scores, labels, np.eye(3))

    def loss(v):
        # What the labels do not tell, whether the absent class is rare, is not fitted.
        offsets = np.array([v[1], -v[1], 0.0])
        p = softmax(scores * np.exp(v[0]) + offsets, axis=1)[np.arange(300), labels]
        return -np.log(p).mean() + 5.0 / 300 * (offsets**2).sum()

    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-6}).x
    assert found.temperature == pytest.approx(np.exp(-best[0]), rel=0.01)
    expected = np.array([best[1], -best[1], 0.0])
    np.testing.assert_allclose(found.offsets, expected - expected.mean(), atol=0.01)


def test_however_many_labels_there_are_an_absent_class_is_not_pushed_down():
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=19_000)
    scores = 2.0 * np.eye(5)[codes] + rng.normal(size=(19_000, 5))
    T = 0.95 * np.eye(5) + 0.01
    found = calibrate(scores, codes, T)
    assert found.offsets[4] == pytest.approx(found.offsets[:4].mean(), abs=1e-9)


def test_calibrated_gaussians_have_the_calibrated_posterior(planted):
    X = np.random.default_rng(0).normal(size=(40, 3))
    g = tied_gaussians(3.0 * np.eye(3), np.eye(3))
    found = calibrate(5.0 * planted.scores[:500], planted.labels[:500], planted.T)
    np.testing.assert_allclose(
        found.applied_to(g).posterior(X), found.posterior(g.scores(X)), rtol=1e-12
    )
    np.testing.assert_array_equal(found.applied_to(g).log_density(X), g.log_density(X))


def test_a_calibration_comes_after_an_earlier_one(planted):
    """Scores were those of Gaussians that had been calibrated, and had a second opinion."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    added = LinearScores(rng.normal(size=(3, 3)), rng.normal(size=3))
    g = tied_gaussians(3.0 * np.eye(3), np.eye(3), np.array([0.2, 0.3, 0.5]))
    g = replace(g, temperature=2.0, offsets=np.array([0.1, -0.3, 0.2]), added=added)
    found = Calibration(1.7, np.array([0.5, 0.0, -0.5]))
    twice = found.applied_to(g)
    np.testing.assert_allclose(twice.posterior(X), found.posterior(g.scores(X)), rtol=1e-9)
    np.testing.assert_allclose(twice.scores(X), g.scores(X) / 1.7 + found.offsets, rtol=1e-9)
    np.testing.assert_array_equal(twice.log_density(X), g.log_density(X))
    # And a third.
    np.testing.assert_allclose(
        found.applied_to(twice).posterior(X), found.posterior(twice.scores(X)), rtol=1e-9
    )


class TestPool:
    """Two opinions as one, with an equal voice."""

    @pytest.fixture
    def opinions(self, planted):
        rng = np.random.default_rng(1)
        some = slice(0, 3000)
        scores, labels = planted.scores[some], planted.labels[some]
        others = 2.0 * np.eye(3)[planted.true[some]] + rng.normal(size=(3000, 3))
        return scores, others, labels, planted.T, planted.true[some]

    def test_the_posterior_is_the_product_of_both(self, opinions):
        scores, others, labels, T, _ = opinions
        found = pool(scores, others, labels, T)
        joint = scores / found.temperature + found.factor * others
        np.testing.assert_allclose(found.joint(scores, others), joint)
        expected = softmax(joint + found.offsets, axis=1)
        np.testing.assert_allclose(found.posterior(scores, others), expected)
        assert found.offsets.mean() == pytest.approx(0.0, abs=1e-12)

    def test_each_is_calibrated_alone_before_both_are(self, opinions):
        scores, others, labels, T, _ = opinions
        found = pool(scores, others, labels, T)
        alone = calibrate(scores, labels, T)
        share = alone.temperature / found.temperature

        def nats(factor, offsets):
            p = softmax(factor * others + offsets, axis=1)
            likelihood = (p * T[:, labels].T).sum(axis=1)
            return -np.log(likelihood).mean() + 5.0 / 3000 * (offsets**2).sum()

        best = minimize(lambda v: nats(np.exp(v[0]), v[1:]), np.zeros(4), method="Nelder-Mead").x
        assert found.factor / share == pytest.approx(np.exp(best[0]), rel=0.02)

    def test_what_they_share_is_not_counted_twice(self, opinions):
        """The same opinion twice is that opinion: half of each."""
        scores, _, labels, T, _ = opinions
        found, alone = pool(scores, scores, labels, T), calibrate(scores, labels, T)
        p, q = found.posterior(scores, scores), alone.posterior(scores)
        np.testing.assert_allclose(p, q, atol=0.02)

    def test_two_that_know_different_things_know_more_than_each(self, opinions):
        scores, others, labels, T, true = opinions
        p = pool(scores, others, labels, T).posterior(scores, others)
        right = (p.argmax(axis=1) == true).mean()
        assert right > (scores.argmax(axis=1) == true).mean() + 0.01
        assert right > (others.argmax(axis=1) == true).mean() + 0.01

    def test_one_that_knows_nothing_does_little_harm(self, opinions):
        scores, others, labels, T, _ = opinions
        guesses = np.random.default_rng(2).normal(size=others.shape)
        p = pool(scores, guesses, labels, T).posterior(scores, guesses)
        q = calibrate(scores, labels, T).posterior(scores)
        assert np.abs(p - q).mean() < 0.02

    def test_whole_counts_are_repetitions(self, opinions):
        scores, others, labels, T, _ = (o[:400] if len(o) == 3000 else o for o in opinions)
        counts = np.random.default_rng(0).integers(0, 4, size=400)
        rows = np.repeat(np.arange(400), counts)
        a = pool(scores, others, labels, T, counts)
        b = pool(scores[rows], others[rows], labels[rows], T)
        assert a.temperature == pytest.approx(b.temperature, rel=1e-5)
        assert a.factor == pytest.approx(b.factor, rel=1e-5)
        np.testing.assert_allclose(a.offsets, b.offsets, atol=1e-5)

    @pytest.mark.parametrize("size", [1e-8, 1e8])
    def test_scores_of_any_size(self, opinions, size):
        scores, others, labels, T, _ = opinions
        found = pool(scores, size * others, labels, T)
        assert np.isfinite(found.posterior(scores, size * others)).all()
