"""The likelihood of noisy labels in one pass, and the search for a temperature, by brute force."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from rehead.gaussian.labelnoise import fit_noise
from rehead.gaussian.likelihood import LabelLikelihood, best_temperature
from rehead.gaussian.settings import SETTINGS

BOUNDS = (-1.0, 6.0)


@pytest.fixture(params=[None, 12])
def kept(request, monkeypatch):
    """All classes, or those near each row: with 12 of 15 classes next to nothing is missing."""
    if request.param:
        few = dataclasses.replace(SETTINGS, near_classes=request.param)
        monkeypatch.setattr("rehead.gaussian.likelihood.SETTINGS", few)
        monkeypatch.setattr("rehead.gaussian.likelihood.WORTH_IT", 1)
    return request.param


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    true = rng.integers(15, size=700)
    scores = 12.0 * np.eye(15)[true] + 5.0 * rng.normal(size=(700, 15))
    labels = np.where(rng.random(700) < 0.3, rng.integers(15, size=700), true)
    T = 0.7 * np.eye(15) + 0.3 * rng.dirichlet(np.ones(15), size=15)
    counts, weights = rng.integers(0, 3, size=700).astype(float), rng.dirichlet(5 * np.ones(15))
    return scores, labels, T, counts, weights


def brute(task, log_slope, weights):
    scores, labels, T, counts, _ = task
    p = softmax(np.exp(log_slope) * scores + np.log(weights), axis=1)
    joint = p * T[:, labels].T
    total = joint.sum(axis=1)
    nll = -(counts * np.log(total)).sum() / counts.sum()
    return nll, joint / total[:, None]


@pytest.mark.parametrize("log_slope", [-1.0, 0.0, 0.7])
def test_value_trust_and_shares_are_those_of_bayes_rule(task, kept, log_slope):
    scores, labels, T, counts, weights = task
    found = LabelLikelihood.of(scores, labels, T, counts)
    assert (found.classes is None) == (kept is None)
    nll, joint = brute(task, log_slope, weights)
    close = {"rtol": 1e-9} if kept is None else {"atol": 0.02}
    np.testing.assert_allclose(found.value(log_slope, weights), nll, **close)
    np.testing.assert_allclose(found.at(log_slope, weights).value, nll, **close)
    own = joint[np.arange(700), labels]
    np.testing.assert_allclose(found.trust(log_slope, weights), own, **close)
    shares = counts @ joint / counts.sum()
    np.testing.assert_allclose(found.shares(log_slope, weights), shares, **close)


def test_derivatives_are_those_of_differences(task, kept):
    scores, labels, T, counts, weights = task
    found, at, h = LabelLikelihood.of(scores, labels, T, counts), -0.5, 1e-4
    here, low, high = (found.at(x, weights, of_classes=True) for x in (at, at - h, at + h))
    assert here.slope == pytest.approx((high.value - low.value) / (2 * h), rel=1e-5)
    assert here.curvature == pytest.approx((high.slope - low.slope) / (2 * h), rel=1e-5)
    for c in (0, 7):
        up, down = (np.where(np.arange(15) == c, weights * np.exp(x), weights) for x in (h, -h))
        slope = (found.value(at, up) - found.value(at, down)) / (2 * h)
        assert here.of_classes[c] == pytest.approx(slope, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("factor", [0.02, 0.3, 1.0, 10.0, 200.0, 1e6])
@pytest.mark.parametrize("start", [None, -1.0, 0.0, 5.0])
def test_the_temperature_is_the_best_of_a_fine_grid(task, factor, start):
    scores, labels, T, counts, weights = task
    found = LabelLikelihood.of(factor * scores, labels, T, counts)
    if start is not None and factor > 1.0:
        start = np.log(factor)  # far from it the likelihood is flat
    best = best_temperature(found, weights, BOUNDS, start)
    grid = np.linspace(*BOUNDS, 141)
    values = [found.value(-x, weights) for x in grid]
    near = grid[int(np.argmin(values))]
    around = (max(near - 0.05, BOUNDS[0]), min(near + 0.05, BOUNDS[1]))
    least = minimize_scalar(
        lambda x: found.value(-x, weights), bounds=around, method="bounded", options={"xatol": 1e-8}
    )
    assert BOUNDS[0] <= best <= BOUNDS[1]
    assert found.value(-best, weights) <= least.fun + 1e-9
    assert best == pytest.approx(least.x, abs=1e-4)


def test_what_all_classes_share_and_the_order_of_rows_do_not_matter(task, kept):
    scores, labels, T, counts, weights = task
    shift = 100.0 * np.random.default_rng(1).normal(size=(700, 1))
    order = np.random.default_rng(2).permutation(700)
    one = LabelLikelihood.of(scores, labels, T, counts)
    other = LabelLikelihood.of((scores + shift)[order], labels[order], T, counts[order])
    assert one.value(0.0, weights) == pytest.approx(other.value(0.0, weights), rel=1e-10)
    a, b = (best_temperature(found, weights, BOUNDS, 0.0) for found in (one, other))
    assert a == pytest.approx(b, abs=1e-6)


def test_a_class_that_is_impossible_is_no_problem(task):
    scores, labels, T, counts, weights = task
    scores[:, 3] = -np.inf
    found = LabelLikelihood.of(scores, labels, T, counts).at(0.0, weights, of_classes=True)
    assert np.isfinite([found.value, found.slope, found.curvature, *found.of_classes]).all()


def test_single_precision_is_enough(task):
    scores, labels, *_ = task
    double, single = (fit_noise(scores.astype(t), labels) for t in (np.float64, np.float32))
    assert single.temperature == pytest.approx(double.temperature, rel=1e-4)
    assert single.nll == pytest.approx(double.nll, abs=1e-6)


def test_a_label_that_is_known_is_as_likely_as_its_class(task, kept):
    scores, labels, T, counts, weights = task
    known = np.arange(700) % 3 == 0
    found = LabelLikelihood.of(scores, np.where(known, labels + 15, labels), T, counts)
    p, every = softmax(scores + np.log(weights), axis=1), np.arange(700)
    each = np.where(known, p[every, labels], (p @ T)[every, labels])
    nll = -(counts * np.log(each)).sum() / counts.sum()
    close = {"rtol": 1e-9} if kept is None else {"atol": 0.02}
    np.testing.assert_allclose(found.value(0.0, weights), nll, **close)
    trust = found.trust(0.0, weights)
    assert (trust[known] == 1.0).all()
    assert (trust[~known] < 1.0).all()
