"""Trusted labels that are said to be drawn at random, and are not; and those that look wrong."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from rehead import LayerEnsemble, ReheadWarning, RobustGaussianClassifier, noise, score_labels
from rehead._validation import check_known


def drawn_of(n, k):
    return np.isin(np.arange(n), np.random.default_rng(0).choice(n, k, replace=False))


@pytest.fixture
def digits():
    X, true = load_digits(return_X_y=True)
    y = noise.uniform(true, 0.3, random_state=0).labels
    first = RobustGaussianClassifier("anchored", random_state=0).fit(X, y)
    return X, true, y, score_labels(first, X, y).order


@pytest.mark.parametrize("several_layers", [False, True])
def test_rows_that_looked_wrong_say_nothing_about_others(digits, several_layers):
    X, true, y, order = digits
    worst = np.isin(np.arange(len(y)), order[:300:3])
    rows = slice(300, None)
    told = {"trusted": worst[rows], "uncorrected": y[rows]}
    model, features = RobustGaussianClassifier(random_state=0), X[rows]
    if several_layers:
        model, features = LayerEnsemble(random_state=0), {"x": X[rows], "part": X[rows, :32]}
        told["validation"] = {"x": X[:300], "part": X[:300, :32]}, y[:300]
    with pytest.warns(ReheadWarning, match="do not look drawn at random.*looked wrong far"):
        model.fit(features, np.where(worst, true, y)[rows], **told)
    assert model.noise_.checked == 0
    assert model.noise_.most < 0.4


def test_a_fair_sample_passes(digits):
    X, true, y, _ = digits
    drawn = drawn_of(len(y), 300)
    clf = RobustGaussianClassifier(random_state=0)
    clf.fit(X, np.where(drawn, true, y), trusted=drawn, uncorrected=y)  # no warning
    assert clf.fitted_.told == clf.noise_.checked == 300


@pytest.mark.parametrize("n", [20, 40, 100])
def test_one_class_is_no_fair_sample(digits, n):
    _, true, y, _ = digits
    of_one = np.zeros(len(y), bool)
    of_one[np.flatnonzero(true == 0)[:n]] = True
    with pytest.warns(ReheadWarning, match="none of them is 1, 2, 3, 4, 5 and 4 more, as"):
        known = check_known(of_one, None, np.where(of_one, true, y), np.arange(10))
    assert not known.drawn.any()


def test_few_draws_of_many_classes_miss_some():
    rng = np.random.default_rng(0)
    y = rng.integers(100, size=5000)
    known = check_known(drawn_of(5000, 50), None, y, np.arange(100))  # no warning
    assert known.drawn.sum() == 50


def test_trusted_labels_that_look_wrong_are_named(digits):
    X, true, y, _ = digits
    wrong = np.isin(np.arange(len(y)), np.flatnonzero(y != true)[:300])
    with pytest.warns(ReheadWarning, match="9.% of the trusted labels look wrong"):
        RobustGaussianClassifier(random_state=0).fit(X, y, trusted=wrong)
