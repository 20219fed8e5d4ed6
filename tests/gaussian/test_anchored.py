"""Weights by trust: rounds, outliers, trusted samples, and that clean labels cost nothing."""

import dataclasses
import warnings

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal

from rehead import RobustGaussianClassifier, find_mislabelled, noise, score_labels
from rehead.gaussian import group_by_class
from rehead.gaussian.anchored import REGULARISATIONS, trusted_gaussians, unless_all_are_better
from rehead.gaussian.options import resolve_options
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.training import Regularisation, training_rows


def fit(X, y, **kwargs):
    return RobustGaussianClassifier("anchored", random_state=0, **kwargs).fit(X, y)


@pytest.fixture
def task(blobs):
    return blobs(sizes=(400, 300, 300), d=10, distance=1.2)


@pytest.mark.parametrize(
    ("kind", "rate"), [("uniform", 0.2), ("uniform", 0.5), ("flip", 0.2), ("flip", 0.4)]
)
def test_noise_is_measured_and_does_little_harm(task, kind, rate):
    X, y = task
    noisy = noise.NOISES[kind](y, rate, random_state=0)
    clf, clean = fit(X, noisy.labels), fit(X, y)
    assert clf.noise_.rate == pytest.approx(noisy.rate, abs=0.06)
    assert 1 - clf.trust_.mean() == pytest.approx(noisy.rate, abs=0.05)
    assert clf.score(X, y) > clean.score(X, y) - 0.02
    assert (~noisy.changed)[clf.support_].mean() > 0.95


def test_clean_labels_are_all_trusted_and_next_to_none_is_flagged(task):
    X, y = task
    clf = fit(X, y)
    assert clf.noise_.rate <= 2 * clf.noise_.rate_error
    assert clf.trust_.mean() > 0.98
    assert len(find_mislabelled(clf, X, y)) < 0.02 * len(y)
    sample = RobustGaussianClassifier("sample").fit(X, y)
    assert clf.score(X, y) >= sample.score(X, y) - 0.005


def test_the_posterior_is_a_linear_softmax_and_the_density_is_not_calibrated(task):
    X, y = task
    clf = fit(X, noise.flip(y, 0.3, random_state=0).labels)
    p = clf.predict_proba(X)
    np.testing.assert_allclose(p, softmax(X @ clf.coef_.T + clf.intercept_, axis=1), rtol=1e-8)
    densities = [multivariate_normal(mu, clf.covariance_).logpdf(X) for mu in clf.means_]
    expected = logsumexp(np.transpose(densities) + np.log(clf.priors_), axis=1)
    np.testing.assert_allclose(clf.score_samples(X), expected, rtol=1e-9)
    plain = RobustGaussianClassifier("sample", shrinkage=0.1)
    plain.fit(X, y, sample_weight=np.maximum(clf.trust_, 1e-9))
    assert np.corrcoef(clf.score_samples(X), plain.score_samples(X))[0, 1] > 0.95


def test_trusted_samples_keep_their_weight(task):
    X, y = task
    noisy = noise.flip(y, 0.4, random_state=0)
    trusted = noisy.changed & (np.arange(len(y)) % 5 == 0)
    clf = RobustGaussianClassifier("anchored", random_state=0).fit(X, noisy.labels, trusted=trusted)
    assert (clf.trust_[trusted] == 1).all()


@pytest.mark.parametrize("max_steps", [1, 4])
def test_whole_weights_are_repetitions(task, max_steps):
    X, y = task
    labels = noise.uniform(y, 0.3, random_state=0).labels
    w = np.random.default_rng(0).integers(1, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), w)
    a, b = (RobustGaussianClassifier("anchored", shrinkage=0.1, max_steps=max_steps) for _ in "ab")
    a.fit(X, labels, w)
    b.fit(X[rows], labels[rows])
    np.testing.assert_allclose(a.means_, b.means_, atol=1e-6)
    np.testing.assert_allclose(a.covariance_, b.covariance_, atol=1e-6)
    assert a.noise_.wrong == pytest.approx(b.noise_.wrong, abs=1e-6)


@pytest.mark.parametrize("size", [30.0, 1e4, 1e8])
def test_far_outliers_of_no_class_are_left_out(task, size):
    X, y = task
    clean = fit(X, y)
    outside = np.arange(len(y)) % 10 == 0
    Z = np.where(outside[:, None], size * np.random.default_rng(0).normal(size=X.shape), X)
    clf = fit(Z, y)
    assert (clf.trust_[outside] < 1e-6).mean() > 0.95
    assert clf.score(X, y) > clean.score(X, y) - 0.02


def test_features_of_different_scale_are_no_problem(task):
    X, y = task
    scales = 10.0 ** np.arange(-5, 5)
    assert fit(X * scales, y).score(X * scales, y) > fit(X, y).score(X, y) - 0.02


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "auto"])
def test_the_gaussians_are_those_of_the_trusted_samples_shrunk(task, brute, shrinkage):
    X, y = task
    clf = fit(X, noise.flip(y, 0.2, random_state=0).labels, shrinkage=shrinkage)
    means, S = brute.tied(X, noise.flip(y, 0.2, random_state=0).labels, clf.trust_)
    np.testing.assert_allclose(clf.means_, means, rtol=1e-9)
    diagonals = {False: np.trace(S) / 10 * np.eye(10), True: np.diag(S.diagonal())}
    candidates = REGULARISATIONS if shrinkage == "auto" else [Regularisation(shrinkage)]
    possible = [(1 - a) * S + a * diagonals[to_diagonal] for a, to_diagonal in candidates]
    assert min(np.abs(clf.covariance_ - shrunk).max() for shrunk in possible) < 1e-9
    assert clf.score(X, y) > 0.97


def test_quality_is_calibrated(blobs):
    X, y = blobs(sizes=(1500, 1500, 1500), d=10, distance=0.9)
    noisy = noise.uniform(y, 0.4, random_state=0)
    report = score_labels(fit(X, noisy.labels), X, noisy.labels)
    edges = np.quantile(report.quality, np.linspace(0, 1, 11))
    which = np.clip(np.searchsorted(edges, report.quality) - 1, 0, 9)
    gaps = [
        abs(report.quality[which == b].mean() - (~noisy.changed)[which == b].mean())
        for b in range(10)
    ]
    assert np.mean(gaps) < 0.05
    assert report.noise_rate == pytest.approx(0.4, abs=0.03)
    assert report.noise_rate_error < 0.05


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")  # tests/gaussian/test_doubts.py
@pytest.mark.parametrize("rate", [0.6, 0.7])
def test_most_labels_may_be_wrong_while_the_right_one_is_the_most_frequent(blobs, rate):
    X, y = blobs(sizes=(150,) * 6, d=10, distance=2.0)
    noisy = noise.uniform(y, rate, random_state=0)
    clf, sample = fit(X, noisy.labels), RobustGaussianClassifier("sample").fit(X, noisy.labels)
    assert clf.score(X, y) > max(0.97, sample.score(X, y))
    assert clf.noise_.rate == pytest.approx(rate, abs=2 * clf.noise_.rate_error)
    assert clf.noise_.wrong == pytest.approx(rate, abs=0.03)
    assert (~noisy.changed)[clf.support_].mean() > 0.95


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")  # not every draw looks as bad as it is
@pytest.mark.parametrize("rate", [0.7, 0.9])
def test_where_another_label_is_more_frequent_labels_are_not_called_clean(task, rate):
    # Of three labels the right one is the rarest, so nothing can tell the truth.
    X, y = task
    clf = fit(X, noise.uniform(y, rate, random_state=0).labels)
    p = clf.predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert 0.4 < clf.noise_.wrong < 0.7
    assert clf.trust_.mean() == pytest.approx(1 - clf.noise_.wrong, abs=0.1)
    assert (np.diag(clf.noise_.transition) == clf.noise_.transition.max(axis=1)).all()


def test_weights_below_one_do_not_make_samples_doubtful(task):
    X, y = task
    plain = fit(X, y)
    halves = RobustGaussianClassifier("anchored", random_state=0)
    halves.fit(X, y, sample_weight=np.full(len(y), 0.5))
    assert halves.support_.mean() == pytest.approx(plain.support_.mean(), abs=0.02)


def test_the_unit_of_weights_does_not_matter(task):
    X, y = task
    X[:2] = 1e5
    labels = noise.uniform(y, 0.4, random_state=0).labels
    plain, small = fit(X, labels), RobustGaussianClassifier("anchored", random_state=0)
    small.fit(X, labels, sample_weight=np.full(len(y), 2.0**-10))
    np.testing.assert_allclose(small.trust_ * 2**10, plain.trust_, atol=1e-6)
    np.testing.assert_allclose(small.means_, plain.means_, atol=1e-6)
    assert small.noise_.wrong == pytest.approx(plain.noise_.wrong)


def test_labels_that_are_known_say_nothing_about_the_noise(task):
    X, y = task
    noisy = noise.uniform(y, 0.4, random_state=0)
    trusted = np.arange(len(y)) % 2 == 0
    labels = np.where(trusted, y, noisy.labels)
    clf = RobustGaussianClassifier("anchored", random_state=0).fit(X, labels, trusted=trusted)
    assert clf.noise_.rate == pytest.approx(noisy.changed[~trusted].mean(), abs=0.06)
    assert clf.noise_.wrong == pytest.approx((labels != y).mean(), abs=0.03)


def test_a_far_row_that_alone_is_doubtful(task):
    X, y = task
    X[0] = 1e6
    clf = RobustGaussianClassifier("anchored", random_state=0)
    assert clf.fit(X, y, trusted=np.arange(len(y)) > 0).score(X[1:], y[1:]) > 0.9


def test_doubtful_samples_count_for_less_where_that_makes_the_labels_more_likely(
    blobs, monkeypatch
):
    X, y = blobs(sizes=(300, 300, 300), d=5, distance=0.8, seed=1)
    labels = noise.flip(y, 0.2, random_state=0).labels
    both = fit(X, labels, shrinkage=0.1)
    one = dataclasses.replace(SETTINGS, trust_powers=SETTINGS.trust_powers[:1])
    monkeypatch.setattr("rehead.gaussian.anchored.SETTINGS", one)
    first = fit(X, labels, shrinkage=0.1)
    assert both.noise_.nll < first.noise_.nll
    assert (both.n_iter_ > first.n_iter_).all()


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_measured_with_as_many_features_as_samples(seed):
    """Counts of 300 words in 500 texts of two topics, which share half of their words."""
    rng = np.random.default_rng(seed)
    y = np.arange(700) % 2
    shared = rng.random((700, 20)) < 0.5
    own = rng.integers(100, 200, (700, 20)) + 100 * y[:, None]
    words = np.where(shared, rng.integers(100, size=(700, 20)), own)
    X = np.stack([np.bincount(of_text, minlength=300) for of_text in words]).astype(float)
    noisy = noise.uniform(y[:500], 0.3, random_state=seed)
    clf = fit(X[:500], noisy.labels)
    assert clf.noise_.wrong == pytest.approx(noisy.rate, abs=0.05)
    assert clf.score(X[500:], y[500:]) > 0.95


def test_samples_that_are_alone_in_their_class_may_all_be_wrong():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 40
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = RobustGaussianClassifier("anchored", random_state=0).fit(X, y).noise_
    assert found.most >= 20 / 60


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
@pytest.mark.parametrize("rate", [0.0, 0.4])
def test_many_overlapping_classes_of_few_samples_are_not_worse_than_shrunk_lda(rate):
    """Next to no sample is easy there: rounds of trust would feed on themselves."""
    rng = np.random.default_rng(0)
    C, n, d = 60, 20, 300
    means = 3.2 * rng.normal(size=(C, d)) / np.sqrt(d)
    true = np.repeat(np.arange(C), 2 * n)
    X = means[true] + rng.normal(size=(len(true), d)) * np.exp(0.5 * rng.normal(size=d))
    y = true[::2] if rate == 0 else noise.uniform(true[::2], rate, random_state=0).labels
    plain = RobustGaussianClassifier("sample", shrinkage="auto").fit(X[::2], y)
    found = fit(X[::2], y)
    assert plain.score(X[1::2], true[1::2]) < 0.8  # they do overlap
    assert found.score(X[1::2], true[1::2]) > plain.score(X[1::2], true[1::2]) - 0.01


def test_all_samples_count_where_labels_are_likelier_so(task):
    """What knows nothing of the labels is given up; what is as good stays."""
    X, y = task
    rows = training_rows(group_by_class(X, y, 3), np.random.default_rng(0))
    found = trusted_gaussians(rows, resolve_options(None, None, {}).options)
    ignorant = found._replace(scores=np.zeros_like(found.scores), trust=np.full(len(y), 0.5))
    kept = unless_all_are_better(rows, ignorant, Regularisation(0.1))
    assert (kept.trust == 1.0).all()
    assert unless_all_are_better(rows, found, Regularisation(0.1)) is found


def test_rows_of_weight_0_do_not_make_samples_enough(blobs, monkeypatch):
    X, y = blobs(sizes=(120, 120, 120), d=5)
    asked = []

    def noted(rows, found, at_first):
        asked.append(rows.n_samples)
        return found

    monkeypatch.setattr("rehead.gaussian.anchored.unless_all_are_better", noted)
    for weights in (np.ones(360), (np.arange(360) < 200).astype(float)):
        fit_weighted = RobustGaussianClassifier("anchored", random_state=0)
        fit_weighted.fit(X, y, sample_weight=weights)
    assert asked == [200]
