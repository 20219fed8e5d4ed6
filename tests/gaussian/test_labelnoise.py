"""The noise model: transition matrix, temperature and trust from scores and labels."""

import numpy as np
import pytest
from scipy.optimize import minimize

from rehead.gaussian.labelnoise import (
    _clearly_purer,
    anchor_transition,
    calibrate,
    fit_noise,
    softmax,
)

T = np.array([[0.7, 0.2, 0.1], [0.0, 0.9, 0.1], [0.25, 0.15, 0.6]])


N = 24_000


@pytest.fixture(scope="module")
def planted():
    """Scores of Gaussians three apart, true classes of unequal shares, labels drawn with T."""
    rng = np.random.default_rng(0)
    true = rng.choice(3, size=N, p=[0.5, 0.3, 0.2])
    means = 3.0 * np.eye(3)
    x = rng.normal(size=(N, 3)) + means[true]
    scores = -0.5 * ((x[:, None] - means) ** 2).sum(axis=2)
    labels = np.array([rng.choice(3, p=T[c]) for c in true])
    return scores, true, labels


def test_a_planted_transition_matrix_is_recovered(planted):
    scores, _, labels = planted
    noise = fit_noise(scores, labels)
    np.testing.assert_allclose(noise.transition, T, atol=0.05)
    np.testing.assert_allclose(noise.priors, [0.5, 0.3, 0.2], atol=0.02)
    assert noise.temperature == pytest.approx(1.0, abs=0.15)
    assert noise.rate == pytest.approx(0.5 * 0.3 + 0.3 * 0.1 + 0.2 * 0.4, abs=0.02)


def test_the_standard_error_is_that_of_repeated_draws():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        true = rng.integers(2, size=600)
        labels = np.where(rng.random(600) < 0.3, 1 - true, true)
        found.append(fit_noise(9.0 * np.eye(2)[true] + 0.01 * rng.random((600, 2)), labels))
    spread = np.std([noise.rate for noise in found])
    assert np.mean([noise.rate_error for noise in found]) == pytest.approx(spread, rel=0.3)


def test_clean_labels_give_the_identity_and_no_noise(planted):
    scores, true, _ = planted
    noise = fit_noise(scores, true)
    assert noise.rate < 0.005 + 2 * noise.rate_error
    assert noise.trust(scores, true).mean() > 0.99
    # Hard samples, which the scores get wrong, are trusted all the same.
    wrong = scores.argmax(axis=1) != true
    assert wrong.sum() > 50
    assert noise.trust(scores, true)[wrong].mean() > 0.5


def test_trust_is_calibrated(planted):
    scores, true, labels = planted
    trust = fit_noise(scores, labels).trust(scores, labels)
    for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.0)):
        chosen = (trust >= low) & (trust <= high)
        assert (labels == true)[chosen].mean() == pytest.approx(trust[chosen].mean(), abs=0.06)


@pytest.mark.parametrize("factor", [0.2, 5.0, 40.0])
def test_the_temperature_undoes_a_scale_of_the_scores(planted, factor):
    scores, _, labels = planted
    plain, scaled = fit_noise(scores, labels), fit_noise(factor * scores, labels)
    low, high = np.exp([-1.0, 6.0])
    assert scaled.temperature == pytest.approx(
        np.clip(factor * plain.temperature, low, high), rel=0.02
    )


def test_trust_is_bayes_rule(planted):
    scores, _, labels = planted
    noise = fit_noise(scores, labels)
    i = 17
    p = np.exp(scores[i] / noise.temperature) * noise.priors
    joint = p / p.sum() * noise.transition[:, labels[i]]
    np.testing.assert_allclose(noise.judged(scores, labels)[i], joint / joint.sum())


def test_a_class_that_is_never_predicted_is_taken_to_be_like_the_others():
    scores = np.tile([1.0, 0.0, -5.0], (50, 1))
    transition, anchors = anchor_transition(scores, np.zeros(50, int))
    assert anchors[2] == 0 < anchors[0]
    assert transition[2, 2] > 0.95
    np.testing.assert_allclose(transition.sum(axis=1), 1)
    assert (transition > 0).all()


def test_no_wrong_label_is_more_frequent_than_the_right_one():
    # Most anchors of class 0 carry the label 1: by chance, or because the classes are swapped.
    scores = np.repeat(9.0 * np.eye(3), 20, axis=0)
    labels = np.repeat([0, 1, 2], 20)
    labels[:14] = 1
    transition, _ = anchor_transition(scores, labels)
    assert (transition.max(axis=1) == np.diag(transition)).all()


def test_calibration_maximises_the_likelihood_of_noisy_labels(planted):
    scores, _, labels = planted
    some = slice(0, 400)
    found = calibrate(7.0 * scores[some], labels[some], T)

    def loss(v):
        p = softmax(7.0 * scores[some] * np.exp(v[0]) + v[1:])
        likelihood = (p * T[:, labels[some]].T).sum(axis=1)
        return -np.log(likelihood).mean() + 5.0 / 400 * (v[1:] ** 2).sum()

    best = minimize(loss, np.zeros(4), method="Nelder-Mead", options={"maxiter": 4000})
    at = loss(np.append(-np.log(found.temperature), found.offsets))
    assert at == pytest.approx(best.fun, abs=1e-4)


def test_fewer_anchors_are_taken_where_the_others_are_of_other_classes():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=N)
    labels = np.array([rng.choice(3, p=np.full(3, 0.1) + 0.7 * np.eye(3)[c]) for c in true])
    sides = np.eye(3)[true]
    for distance, most in ((1.2, 0.1), (6.0, 0.3)):
        x = rng.normal(size=(N, 3)) + distance * sides
        transition, anchors = anchor_transition(distance * x, labels)
        assert anchors.sum() == pytest.approx(most * N, rel=0.01)
    assert 1 - np.diag(transition).mean() == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(
    ("few", "many"),
    [
        (np.diag([30.0, 30.0]), np.array([[90.0, 0.0], [1.0, 89.0]])),
        # The same purity in each class, in another mix of classes.
        (
            np.block([[np.diag([60.0]), 40 * np.eye(1, 5)], [np.zeros((5, 1)), 30 * np.eye(5)]]),
            np.block([[np.diag([180.0]), 120 * np.eye(1, 5)], [np.zeros((5, 1)), 30 * np.eye(5)]]),
        ),
    ],
)
def test_what_may_be_chance_is_not_purer(few, many):
    assert not _clearly_purer(few, many)


def test_the_share_of_wrong_labels_is_the_mean_doubt(planted):
    scores, true, labels = planted
    noise = fit_noise(scores, labels)
    assert noise.wrong == pytest.approx(1 - noise.trust(scores, labels).mean())
    assert noise.wrong == pytest.approx((true != labels).mean(), abs=0.02)
