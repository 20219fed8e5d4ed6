"""Accuracy, NLL and calibration error against scikit-learn and the definitions."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss

from rehead.evaluation.metrics import Scores, calibration_error, scores


def posteriors(n=500, n_classes=4, sharpness=0.5, seed=0):
    """Random posteriors, and labels that follow them more or less."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, sharpness), size=n)
    follows = np.array([rng.choice(n_classes, p=row) for row in p])
    return p, np.where(rng.random(n) < 0.3, rng.integers(n_classes, size=n), follows)


def brute_force(confidence, right, n_bins):
    """Bin by bin: its share of the samples times how far confidence is from accuracy."""
    total = 0.0
    for b in range(n_bins):
        last = b == n_bins - 1
        there = (confidence >= b / n_bins) & ((confidence < (b + 1) / n_bins) | last)
        if there.any():
            gap = abs(confidence[there].mean() - right[there].mean())
            total += there.mean() * gap
    return total


@pytest.mark.parametrize("n_classes", [2, 4, 30])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_accuracy_and_nll_are_those_of_scikit_learn(n_classes, dtype):
    p, y = posteriors(n_classes=n_classes, sharpness=1.0)
    found = scores(p.astype(dtype), y)
    assert found.accuracy == accuracy_score(y, p.argmax(axis=1))
    expected = log_loss(y, p, labels=np.arange(n_classes))
    assert found.nll == pytest.approx(expected, rel=1e-9 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("n_bins", [1, 2, 10, 15])
@pytest.mark.parametrize("sharpness", [0.1, 0.5, 3.0])
def test_the_calibration_error_is_that_of_its_definition(n_bins, sharpness):
    p, y = posteriors(sharpness=sharpness)
    right = p.argmax(axis=1) == y
    expected = brute_force(p.max(axis=1), right, n_bins)
    assert expected > 0.02
    assert calibration_error(p.max(axis=1), right, n_bins) == pytest.approx(expected)
    assert scores(p, y, n_bins=n_bins).calibration_error == pytest.approx(expected)


def test_scores_use_fifteen_bins():
    p, y = posteriors()
    right = p.argmax(axis=1) == y
    assert scores(p, y).calibration_error == pytest.approx(brute_force(p.max(axis=1), right, 15))


def test_honest_confidence_has_no_error_and_boasting_has_the_difference():
    right = np.arange(100) < 70
    assert calibration_error(np.full(100, 0.7), right) == pytest.approx(0.0)
    assert calibration_error(np.full(100, 1.0), right) == pytest.approx(0.3)
    assert calibration_error(np.full(100, 0.4), right) == pytest.approx(0.3)


def test_gaps_of_different_bins_do_not_cancel():
    confidence = np.repeat([0.9, 0.5], 50)
    right = np.concatenate([np.arange(50) < 40, np.arange(50) < 30])  # 0.8 and 0.6
    assert calibration_error(confidence, right) == pytest.approx(0.1)
    assert calibration_error(confidence, right, n_bins=1) == pytest.approx(0.0)


def test_certainty_belongs_to_the_last_bin():
    confidence = np.repeat([0.94, 1.0], 50)
    right = np.concatenate([np.ones(50, bool), np.arange(50) < 45])  # 0.97 on average, and 0.95
    assert calibration_error(confidence, right) == pytest.approx(0.02)


def test_of_no_samples_there_is_no_error():
    assert calibration_error(np.empty(0), np.empty(0, bool)) == 0.0


def test_a_label_that_was_impossible_is_very_unlikely_but_not_infinitely():
    found = scores(np.eye(2), np.array([0, 0]))
    assert found == Scores(0.5, pytest.approx(-np.log(np.finfo(float).tiny) / 2), 0.5)


def test_perfect_predictions():
    y = np.arange(30) % 3
    assert scores(np.eye(3)[y], y) == (1.0, 0.0, 0.0)
