"""Calibration: a planted temperature is found, by the likelihood of noisy labels."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from rehead.gaussian.calibration import calibrate
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
