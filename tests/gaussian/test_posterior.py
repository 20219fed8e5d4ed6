"""Leave-one-out scores in closed form against refitting without each sample."""

import numpy as np
import pytest
from scipy.special import logit

from rehead import RobustGaussianClassifier
from rehead.gaussian.kernels import Subset
from rehead.gaussian.posterior import kept, label_scores, log_odds
from rehead.gaussian.rows import group_by_class, pooled_moments
from rehead.gaussian.tied import from_moments


def scores_as_posterior(scores, codes):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


def closed_form(X, y, weights, keep, priors="uniform"):
    """Our leave-one-out posterior; rows of ``keep`` False are outside of the estimates."""
    data = group_by_class(X, y, int(y.max()) + 1, weights=weights)
    subsets = []
    for c, rows in enumerate(data.rows):
        at = np.flatnonzero(keep[rows])
        w = data.class_weights(c)
        subsets.append(Subset(at, None if w is None else w[at]))
    g = from_moments(pooled_moments(data, subsets), priors=priors)
    return label_scores(g, X, y, kept(data, subsets), scores_as_posterior)


def refitted(brute, X, y, weights, keep, priors=None):
    """Fit without one copy of each sample, one after another, and judge the sample."""
    full = np.where(keep, 1.0 if weights is None else weights, 0.0)
    out = []
    for i in range(len(X)):
        w = full.copy()
        w[i] = max(w[i] - 1.0, 0.0)
        out.append(brute.posterior(X[i : i + 1], *brute.tied(X, y, w), priors)[0])
    return np.array(out)


@pytest.mark.parametrize("trimmed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_label_scores_equal_refitting(blobs, brute, trimmed, weighted, offset):
    X, y = blobs(sizes=(25, 18, 12), d=4, distance=1.0)
    X += offset
    rng = np.random.default_rng(1)
    keep = rng.random(len(X)) < 0.7 if trimmed else np.ones(len(X), bool)
    w = rng.integers(1, 4, size=len(X)).astype(float) if weighted else None
    expected = refitted(brute, X, y, w, keep)
    got = closed_form(X, y, w, keep)
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-10)
    # A test that could not fail would prove nothing: plain scores differ visibly.
    plain = brute.posterior(X, *brute.tied(X, y, None if w is None else w))
    assert np.abs(plain - got).max() > 1e-2


def test_label_scores_use_the_priors_that_were_given(blobs, brute):
    X, y = blobs(sizes=(20, 15), distance=1.0)
    priors, keep = np.array([0.9, 0.1]), np.ones(35, bool)
    expected = refitted(brute, X, y, None, keep, priors)
    np.testing.assert_allclose(closed_form(X, y, None, keep, priors), expected, rtol=1e-8)


def test_the_only_sample_of_a_class_is_judged_plainly(blobs, brute):
    X, y = blobs(sizes=(20, 15), distance=1.0)
    X, y = np.vstack([X, [[1.0, 2.0, 3.0]]]), np.append(y, 2)
    keep = np.ones(36, bool)
    plain = brute.posterior(X, *brute.tied(X, y))
    np.testing.assert_allclose(closed_form(X, y, None, keep)[-1], plain[-1], rtol=1e-8)


def test_a_sample_of_which_a_part_counts_is_left_out_in_part(blobs, brute):
    X, y = blobs(sizes=(20, 15), distance=1.0)
    w = np.ones(35)
    w[4] = 0.4
    without = np.where(np.arange(35) == 4, 0.0, w)
    expected = brute.posterior(X[4:5], *brute.tied(X, y, without))[0]
    np.testing.assert_allclose(closed_form(X, y, w, np.ones(35, bool))[4], expected, rtol=1e-8)


def test_float32_scores_are_those_of_float64(blobs):
    X, y = blobs(sizes=(40, 40), distance=1.0)
    X = X.astype(np.float32)
    keep = np.ones(80, bool)
    single, double = (closed_form(Z, y, None, keep) for Z in (X, X.astype(float)))
    np.testing.assert_allclose(single, double, atol=1e-4)


def test_log_odds_are_the_logit_of_the_posterior():
    scores = np.random.default_rng(0).normal(size=(20, 4))
    codes = np.arange(20) % 4
    p = scores_as_posterior(scores, codes)[np.arange(20), codes]
    np.testing.assert_allclose(log_odds(scores.copy(), codes), logit(p), rtol=1e-10)


def test_log_odds_rank_where_posteriors_saturate():
    scores = np.array([[0.0, -800.0], [0.0, -900.0], [0.0, -40.0]])
    assert np.argsort(log_odds(scores, np.zeros(3, int))).tolist() == [2, 0, 1]


def noisy_blobs(blobs, rate, seed=0, **kwargs):
    X, y = blobs(seed=seed, **kwargs)
    wrong = np.random.default_rng(seed + 1).random(len(y)) < rate
    return X, y, np.where(wrong, (y + 1) % (y.max() + 1), y)


@pytest.mark.parametrize("max_steps", [1, 2, 3])
def test_posterior_estimator_equals_a_plain_reimplementation(blobs, brute, max_steps):
    X, _, noisy = noisy_blobs(blobs, 0.3, sizes=(31, 24, 18), distance=2.0)
    keep = np.ones(len(X), bool)
    for _ in range(max_steps):
        own = refitted(brute, X, noisy, None, keep)[np.arange(len(X)), noisy]
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


@pytest.mark.parametrize("shrinkage", [0.1, 0.6, 0.9])
def test_with_shrinkage_only_the_estimated_share_is_left_out(blobs, brute, shrinkage):
    X, y = blobs(sizes=(80, 60, 60), d=60, distance=0.15)
    data = group_by_class(X, y, 3)
    subsets = [data.whole(c) for c in range(3)]
    g = from_moments(pooled_moments(data, subsets), shrinkage=shrinkage)
    assert g.estimated == 1 - shrinkage
    got = label_scores(g, X, y, kept(data, subsets), scores_as_posterior)
    # Refit without each sample, shrunk towards what the whole is shrunk towards.
    target = np.trace(brute.tied(X, y)[1]) / 60 * np.eye(60)
    expected = []
    for i in range(len(X)):
        means, S = brute.tied(X, y, np.arange(len(X)) != i)
        S = (1 - shrinkage) * S + shrinkage * target
        expected.append(brute.posterior(X[i : i + 1], means, S, None)[0])
    # All that differs is that dividing by n - 1 instead of n does not concern the target.
    assert np.abs(got - expected).max() < 0.01
    plain = scores_as_posterior(g.scores(X), y)
    assert np.abs(plain - expected).max() > 0.3
