"""Trimming by the posterior of the label, against refitting without each sample."""

import numpy as np
import pytest
from scipy.special import logit, softmax

from rehead import RobustGaussianClassifier
from rehead.gaussian.posterior import log_odds


def test_log_odds_are_the_logit_of_the_posterior():
    scores = np.random.default_rng(0).normal(size=(20, 4))
    codes = np.arange(20) % 4
    p = softmax(scores, axis=1)[np.arange(20), codes]
    np.testing.assert_allclose(log_odds(scores.copy(), codes), logit(p), rtol=1e-10)


def test_log_odds_rank_where_posteriors_saturate():
    scores = np.array([[0.0, -800.0], [0.0, -900.0], [0.0, -40.0]])
    assert np.argsort(log_odds(scores, np.zeros(3, int))).tolist() == [2, 0, 1]


def noisy_blobs(blobs, rate, seed=0, **kwargs):
    X, y = blobs(seed=seed, **kwargs)
    wrong = np.random.default_rng(seed + 1).random(len(y)) < rate
    return X, y, np.where(wrong, (y + 1) % (y.max() + 1), y)


@pytest.mark.parametrize("max_steps", [1, 2, 3])
def test_posterior_estimator_equals_a_plain_reimplementation(blobs, brute, refitted, max_steps):
    X, _, noisy = noisy_blobs(blobs, 0.3, sizes=(31, 24, 18), distance=2.0)
    keep = np.ones(len(X), bool)
    for _ in range(max_steps):
        own = refitted(X, noisy, None, keep)[np.arange(len(X)), noisy]
        keep[:] = False
        for c in range(3):
            rows = np.flatnonzero(noisy == c)
            keep[rows[np.argsort(-logit(own[rows]))[: len(rows) // 2]]] = True
    clf = RobustGaussianClassifier("posterior", max_steps=max_steps).fit(X, noisy)
    np.testing.assert_array_equal(clf.support_, keep)
    means, covariance = brute.tied(X[keep], noisy[keep])
    np.testing.assert_allclose(clf.means_, means, rtol=1e-9)
    np.testing.assert_allclose(clf.covariance_, covariance, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_wrong_labels_that_form_a_cluster_are_left_out(blobs, seed):
    # Flip noise of 40 %: the wrong samples of a class are all of one other class.
    X, y, noisy = noisy_blobs(blobs, 0.4, seed=seed, sizes=(200, 200, 200), d=5)
    clf = RobustGaussianClassifier("posterior").fit(X, noisy)
    assert (y == noisy)[clf.support_].mean() > 0.97
    assert clf.score(X, y) > 0.97


def test_a_prior_of_zero_ranks_without_nan(blobs):
    # With two classes no other class has a posterior: the odds are infinite, not undefined.
    X, y = blobs(sizes=(30, 30))
    with np.errstate(invalid="raise"):
        clf = RobustGaussianClassifier("posterior", priors=[1.0, 0.0]).fit(X, y)
    assert (clf.predict(X) == 0).all()
