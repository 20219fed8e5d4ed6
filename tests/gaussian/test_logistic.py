"""Logistic regression on noisy labels: its slope, where it ends, and what it has not seen."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from rehead import noise
from rehead._typing import JoinedFeatures
from rehead.gaussian import logistic
from rehead.gaussian.logistic import NoisyRows, cross_fit, deal, fit_logistic, scaling_of
from rehead.gaussian.settings import SETTINGS


@pytest.fixture(scope="module")
def overlapping():
    """Three classes that overlap, of features with different scales."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    X = rng.normal(size=(400, 4)) + 1.2 * rng.normal(size=(3, 4))[y]
    return X * [1.0, 20.0, 0.1, 1.0] + [0.0, 5.0, 1.0, 100.0], y


def noisy_rows(X, y, T, counts=None):
    counts = np.ones(len(y)) if counts is None else counts
    return NoisyRows(X, np.arange(len(y)), T[:, y].T.astype(X.dtype), counts)


def uncorrected(X, y):
    return noisy_rows(X, y, np.eye(y.max() + 1))


def fitted(rows, ridge=1.0, alike=False):
    return fit_logistic(rows, scaling_of(rows.X, rows.rows, alike=alike), ridge)


def loss(v, X, of_label, counts, ridge):
    """Straight from the definition, of features that are standardised already."""
    weights, bias = v[:-3].reshape(3, -1), v[-3:]
    p = softmax(X @ weights.T + bias, axis=1)
    value = -np.average(np.log((p * of_label).sum(axis=1)), weights=counts)
    return value + ridge / (2 * counts.sum()) * (weights**2).sum()


@pytest.mark.parametrize("alike", [False, True])
def test_scaling_is_that_of_numpy(overlapping, alike):
    X, _ = overlapping
    X = np.column_stack([X, np.full(len(X), 7.0)])
    rows = np.arange(0, len(X), 3)
    found = scaling_of(X, rows, alike=alike)
    part = X[rows]
    np.testing.assert_allclose(found.centre, part.mean(axis=0), rtol=1e-12)
    if alike:
        np.testing.assert_allclose(found.scale, np.sqrt(part.var(axis=0).mean()), rtol=1e-10)
    else:
        expected = np.where(part.std(axis=0) > 0, part.std(axis=0), 1.0)
        np.testing.assert_allclose(found.scale, expected, rtol=1e-10)
        assert found.scale[-1] == 1.0
    covariance = np.cov(part.T, bias=True) / np.outer(found.scale, found.scale)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-10)


def test_a_feature_far_from_zero_is_scaled_as_well_as_one_about_zero(overlapping):
    X, _ = overlapping
    rows = np.arange(len(X))
    near, far = (scaling_of(Z, rows, alike=False) for Z in (X, X + 2.0**30))
    np.testing.assert_allclose(far.scale, near.scale, rtol=1e-6)
    np.testing.assert_allclose(far.covariance, near.covariance, atol=1e-6)


def test_the_slope_is_that_of_finite_differences(overlapping, monkeypatch):
    X, y = overlapping
    counts = np.random.default_rng(0).choice([0.0, 0.5, 2.0], size=len(y))
    T = np.array([[0.7, 0.2, 0.1], [0.0, 0.9, 0.1], [0.25, 0.15, 0.6]])
    seen = []

    def searched(function, start, **options):
        seen.append(function)
        return minimize(function, start, **options)

    monkeypatch.setattr(logistic, "minimize", searched)
    fitted(noisy_rows(X, y, T, counts), ridge=3.0)
    at = np.random.default_rng(1).normal(size=(4 + 1) * 3)
    value, slope = seen[0](at)
    numeric = approx_fprime(at, lambda v: seen[0](v)[0], 1e-7)
    assert value > 0
    np.testing.assert_allclose(slope, numeric, atol=2e-6)


@pytest.mark.parametrize("ridge", [1.0, 30.0])
def test_where_no_label_is_wrong_it_is_the_regression_of_scikit_learn(
    overlapping, monkeypatch, ridge
):
    monkeypatch.setattr(logistic, "SETTINGS", with_steps(2000))
    X, y = overlapping
    found = fitted(uncorrected(X, y), ridge)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    # A sum of losses with |W|^2 / (2 C); ours is a mean, with ridge |W|^2 / (2 n).
    other = LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=10_000).fit(Z, y)
    np.testing.assert_allclose(
        log_softmax(found.of(X), axis=1), other.predict_log_proba(Z), atol=0.02
    )


def with_steps(n):
    return dataclasses.replace(SETTINGS, logistic_steps=n)


def test_few_steps_are_enough(overlapping):
    """The loss after the steps that the default takes is the least one, to three digits."""
    X, y = overlapping
    labels = noise.flip(y, 0.3, random_state=0).labels
    T = 0.7 * np.eye(3) + 0.3 * np.roll(np.eye(3), 1, axis=1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = noisy_rows(Z, labels, T)
    found = fitted(rows, ridge=10.0)
    arguments = (Z, rows.of_label, rows.counts, 10.0)
    at = loss(np.append(found.weights.ravel(), found.bias), *arguments)
    best = minimize(loss, np.zeros(15), arguments, method="BFGS").fun
    assert at == pytest.approx(best, abs=1e-4)


def test_told_of_the_noise_it_finds_the_boundary_of_clean_labels():
    """Labels of class 0 flip to 1 by 45 % in one half of the plane only: they bend the boundary."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    p = softmax(3.0 * X @ [[1.0, -1.0], [0.5, -0.5]], axis=1)
    true = (rng.random(6000) < p[:, 1]).astype(int)
    T = np.array([[0.55, 0.45], [0.0, 1.0]])
    labels = np.where((true == 0) & (rng.random(6000) < 0.45), 1, true)
    clean = fitted(uncorrected(X, true)).of(X).argmax(axis=1)
    told = fitted(noisy_rows(X, labels, T)).of(X).argmax(axis=1)
    plain = fitted(uncorrected(X, labels)).of(X).argmax(axis=1)
    assert (told == clean).mean() > 0.97
    assert (plain == clean).mean() < 0.92


def test_a_label_that_is_known_counts_as_it_is(overlapping):
    """Of a row with of_label 1 and 0, the loss is the plain one, whatever T is."""
    X, y = overlapping
    T = np.full((3, 3), 1 / 3)
    rows = noisy_rows(X, y, T)
    known = np.arange(len(y)) < 200
    rows.of_label[known] = np.eye(3)[y[known]]
    # The others say nothing under this T: they are as likely whatever they are.
    half = uncorrected(X[known], y[known])
    scaling = scaling_of(X, np.arange(len(y)), alike=False)
    both, alone = fit_logistic(rows, scaling, 1.0), fit_logistic(half, scaling, 1.0)
    agree = both.of(X).argmax(axis=1) == alone.of(X).argmax(axis=1)
    assert agree.mean() > 0.99


def test_whole_counts_are_repetitions(overlapping):
    X, y = overlapping
    counts = np.random.default_rng(0).integers(0, 4, size=len(y))
    again = np.repeat(np.arange(len(y)), counts)
    T = 0.8 * np.eye(3) + 0.2 / 3
    scaling = scaling_of(X, np.arange(len(y)), alike=False)
    a = fit_logistic(noisy_rows(X, y, T, counts.astype(float)), scaling, 3.0)
    b = fit_logistic(noisy_rows(X[again], y[again], T), scaling, 3.0)
    np.testing.assert_allclose(a.of(X), b.of(X), atol=1e-6)


@pytest.mark.parametrize("power", [-450, -20, 20, 450])
def test_powers_of_two_change_nothing(overlapping, power):
    X, y = overlapping
    one, other = (fitted(uncorrected(Z, y)).of(Z) for Z in (X, np.ldexp(X, power)))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_do_not_count_do_no_harm_however_far_they_are(overlapping, dtype):
    X, y = overlapping[0].astype(dtype), overlapping[1]
    Z, most = X.copy(), np.finfo(dtype).max
    Z[5] = [most, -most, most, 0.0]
    counts = np.ones(len(y))
    counts[5] = 0.0
    scaling = scaling_of(X, np.flatnonzero(counts), alike=False)
    found = [fit_logistic(noisy_rows(A, y, np.eye(3), counts), scaling, 1.0) for A in (X, Z)]
    np.testing.assert_array_equal(found[0].weights, found[1].weights)


def test_single_precision_is_close_to_double(overlapping):
    X, y = overlapping
    a, b = (fitted(uncorrected(Z, y), 10.0) for Z in (X, X.astype(np.float32)))
    p, q = (log_softmax(found.of(X), axis=1) for found in (a, b))
    assert np.abs(p - q).max() < 0.02


def test_more_features_than_rows_and_constant_ones():
    rng = np.random.default_rng(0)
    y = np.arange(12) % 3
    X = np.column_stack([rng.normal(size=(12, 40)) + 3 * y[:, None], np.full(12, 3.0)])
    found = fitted(uncorrected(X, y))
    assert (found.of(X).argmax(axis=1) == y).all()
    assert not found.weights[:, -1].any()


def test_joined_rows_give_what_an_array_gives(overlapping):
    X, y = overlapping
    joined = uncorrected(X, y)._replace(X=JoinedFeatures([X[:, :2], X[:, 2:]]))
    a, b = fitted(uncorrected(X, y)), fitted(joined)
    np.testing.assert_array_equal(a.weights, b.weights)


def test_folds_are_dealt_evenly():
    rng = np.random.default_rng(0)
    codes = rng.choice(4, size=1003, p=[0.6, 0.3, 0.098, 0.002])
    folds, k = deal(codes, rng), SETTINGS.logistic_folds
    of_fold = np.bincount(folds, minlength=k)
    assert of_fold.max() - of_fold.min() <= 1
    for c in range(4):
        of_class = np.bincount(folds[codes == c], minlength=k)
        assert of_class.max() - of_class.min() <= 1
    np.testing.assert_array_equal(
        deal(codes, np.random.default_rng(1)), deal(codes, np.random.default_rng(1))
    )
    assert (deal(codes, np.random.default_rng(1)) != deal(codes, np.random.default_rng(2))).any()


def test_rows_that_are_the_same_are_dealt_to_one_fold():
    rng = np.random.default_rng(0)
    codes, same = rng.integers(3, size=400), rng.integers(150, size=400)
    folds = deal(codes, rng, same)
    for number in range(150):
        assert len(set(folds[same == number])) <= 1
    assert np.bincount(folds).min() > 60
    alone = np.arange(400)
    one, other = (deal(codes, np.random.default_rng(1), s) for s in (None, alone))
    np.testing.assert_array_equal(one, other)


def test_the_score_of_a_row_does_not_depend_on_its_own_label(overlapping):
    X, y = overlapping
    T = 0.8 * np.eye(3) + 0.2 / 3
    folds = deal(y, np.random.default_rng(0))
    scaling = scaling_of(X, np.arange(len(y)), alike=False)
    before = cross_fit(noisy_rows(X, y, T), scaling, 3.0, folds).scores(X, folds)
    for i in (0, 17, 399):
        other = y.copy()
        other[i] = (y[i] + 1) % 3
        after = cross_fit(noisy_rows(X, other, T), scaling, 3.0, folds)
        now = after.scores(X, folds)
        same = folds == folds[i]
        np.testing.assert_array_equal(now[same], before[same])
        assert (now[~same] != before[~same]).any()


def test_regressions_of_folds_are_those_of_the_other_rows(overlapping):
    X, y = overlapping
    folds = deal(y, np.random.default_rng(0))
    scaling = scaling_of(X, np.arange(len(y)), alike=False)
    found = cross_fit(uncorrected(X, y), scaling, 3.0, folds)
    assert len(found.without) == SETTINGS.logistic_folds
    for fold, regression in enumerate(found.without):
        others = folds != fold
        expected = fit_logistic(uncorrected(X[others], y[others]), scaling, 3.0)
        np.testing.assert_allclose(regression.weights, expected.weights, rtol=1e-9)
    whole = fit_logistic(uncorrected(X, y), scaling, 3.0)
    np.testing.assert_array_equal(found.whole.weights, whole.weights)
