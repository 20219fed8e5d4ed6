"""The probe: its losses by finite differences, its training against scikit-learn."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from rehead.experiments.peers.probe import (
    CROSS_ENTROPY,
    GENERALISED,
    Training,
    label_margins,
    loss_and_slope,
    train_probe,
)


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    return 2 * rng.normal(size=(9, 4)), rng.integers(4, size=9)


@pytest.mark.parametrize("q", [0.0, 0.3, 0.7, 1.0])
def test_slope_against_finite_differences(scored, q):
    scores, y = scored
    slope = loss_and_slope(scores, y, q)[1]
    for cell in np.ndindex(scores.shape):
        change = np.zeros(scores.shape)
        change[cell] = 1e-6
        above, below = (loss_and_slope(scores + s * change, y, q)[0].sum() for s in (1, -1))
        assert slope[cell] == pytest.approx((above - below) / 2e-6, abs=1e-8)


@pytest.mark.parametrize("q", [0.0, 0.7])
def test_loss_by_its_formula(scored, q):
    scores, y = scored
    logs = log_softmax(scores, axis=1)[np.arange(9), y]
    expected = -logs if q == 0 else (1 - np.exp(logs) ** q) / q
    np.testing.assert_allclose(loss_and_slope(scores, y, q)[0], expected)


def test_cross_entropy_is_the_limit(scored):
    for a, b in zip(loss_and_slope(*scored, 0.0), loss_and_slope(*scored, 1e-7), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_margins_against_a_loop(scored):
    scores, y = scored
    expected = [s[c] - max(np.delete(s, c)) for s, c in zip(scores, y, strict=True)]
    np.testing.assert_allclose(label_margins(scores, y), expected)


def test_training_ends_at_the_maximum_likelihood():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    X = rng.normal(size=(400, 4)) * [1, 3, 2, 1] + np.eye(3, 4)[y] + 5
    whole = Training(epochs=1500, batch=400, rate=0.02, decay=0.0)
    scores = train_probe(X, y, 3, whole).scores(X)
    expected = LogisticRegression(C=np.inf, tol=1e-8, max_iter=2000).fit(X, y).decision_function(X)
    centred = [s - s.mean(axis=1, keepdims=True) for s in (scores, expected)]
    np.testing.assert_allclose(*centred, atol=0.02)


def test_the_first_step_of_adam_is_as_long_as_the_rate(planted):
    """Its averages begin at zero, and are corrected for that."""
    X, y = planted.X, planted.y
    once = Training(epochs=1, batch=600, rate=0.01)
    steps = train_probe(X, y, planted.C, once).weights * X.std(axis=0)[:, None]
    np.testing.assert_allclose(np.abs(steps), 0.01, rtol=1e-3)
    slope = (X - X.mean(axis=0)).T @ (1 / planted.C - np.eye(planted.C)[y])
    np.testing.assert_array_equal(np.sign(steps), -np.sign(slope))


@pytest.mark.parametrize("training", [CROSS_ENTROPY, GENERALISED])
def test_margins_are_averaged_over_epochs(planted, training):
    """The first epochs of a longer training are a shorter training."""
    X, y = planted.X, planted.y
    each = [
        label_margins(train_probe(X, y, planted.C, training._replace(epochs=e)).scores(X), y)
        for e in (1, 2, 3)
    ]
    found = train_probe(X, y, planted.C, training._replace(epochs=3)).margins
    np.testing.assert_allclose(found, np.mean(each, axis=0), atol=1e-5)


def test_units_of_features_do_not_matter(planted):
    X, y = planted.X, planted.y
    other = X * np.geomspace(1e-3, 1e3, X.shape[1]) + 100
    probes = [train_probe(features, y, planted.C) for features in (X, other)]
    np.testing.assert_allclose(probes[0].scores(X), probes[1].scores(other), atol=1e-3)


def test_a_constant_feature_is_harmless(planted):
    X = np.column_stack([planted.X, np.full(600, 7.0)])
    probe = train_probe(X, planted.y, planted.C)
    assert np.isfinite(probe.scores(X)).all()
    assert np.isfinite(probe.margins).all()


@pytest.mark.parametrize("training", [CROSS_ENTROPY, GENERALISED])
def test_finds_planted_labels_and_predicts(planted, auroc, training):
    probe = train_probe(planted.X, planted.y, planted.C, training)
    assert auroc(probe.margins) > 0.95
    assert np.mean(probe.scores(planted.X).argmax(axis=1) == planted.true) > 0.97


def test_the_seed_decides(planted):
    first, again, other = (
        train_probe(planted.X, planted.y, planted.C, Training(seed=s)).weights for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_no_epochs(planted):
    with pytest.raises(ValueError, match="epochs must be at least 1, got 0"):
        train_probe(planted.X, planted.y, planted.C, Training(epochs=0))
