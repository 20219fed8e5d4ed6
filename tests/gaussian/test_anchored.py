"""Weights by trust: rounds, outliers, trusted samples, and that clean labels cost nothing."""

import warnings

import numpy as np
import pytest
from scipy.special import softmax

from rehead import ReheadWarning, RobustGaussianClassifier, find_mislabelled, noise, score_labels


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
    plain = RobustGaussianClassifier("sample", shrinkage=0.1)
    plain.fit(X, y, sample_weight=np.maximum(clf.trust_, 1e-9))
    assert np.corrcoef(clf.score_samples(X), plain.score_samples(X))[0, 1] > 0.95


def test_trusted_samples_keep_their_weight(task):
    X, y = task
    noisy = noise.flip(y, 0.4, random_state=0)
    trusted = noisy.changed & (np.arange(len(y)) % 5 == 0)
    clf = RobustGaussianClassifier("anchored", random_state=0).fit(X, noisy.labels, trusted=trusted)
    assert (clf.trust_[trusted] == 1).all()


def test_whole_weights_are_repetitions(task):
    X, y = task
    w = np.random.default_rng(0).integers(1, 3, size=len(y))
    a = RobustGaussianClassifier("anchored", shrinkage=0.1, max_steps=1).fit(X, y, w)
    rows = np.repeat(np.arange(len(y)), w)
    b = RobustGaussianClassifier("anchored", shrinkage=0.1, max_steps=1).fit(X[rows], y[rows])
    np.testing.assert_allclose(a.means_, b.means_, atol=0.02)


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
def test_shrinkage_is_used(task, shrinkage):
    X, y = task
    assert fit(X, y, shrinkage=shrinkage).score(X, y) > 0.8


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


@pytest.mark.parametrize("rate", [0.7, 0.9])
def test_with_so_much_noise_there_is_a_result(task, rate):
    X, y = task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReheadWarning)  # not every draw looks as bad as it is
        clf = fit(X, noise.uniform(y, rate, random_state=0).labels)
    assert np.isfinite(clf.predict_proba(X)).all()


def test_labels_that_are_mostly_wrong_are_warned_of(blobs):
    X, y = blobs(sizes=(300,) * 6, d=10, distance=2.0)
    with pytest.warns(ReheadWarning, match=r"About \d\d% of the labels .* trusted="):
        clf = fit(X, noise.uniform(y, 0.7, random_state=0).labels)
    assert clf.score(X, y) > 0.9


def test_a_class_of_mostly_wrong_labels_is_named(blobs):
    X, y = blobs(sizes=(900, 300, 60), d=6, distance=3.0)
    names = np.array(["cat", "dog", "yak"])
    # A fifth of the cats are called yaks: three of four yaks are cats.
    noisy = names[np.where((y == 0) & (np.arange(len(y)) % 5 == 0), 2, y)]
    with pytest.warns(ReheadWarning, match="Most samples labelled 'yak' seem to belong to other"):
        clf = fit(X, noisy)
    assert clf.score(X, names[y]) > 0.97


def test_a_class_without_a_trusted_label_is_named(blobs):
    X, y = blobs(sizes=(400, 400), d=4, distance=3.0)
    noisy = np.where(np.arange(len(y)) % 40 == 0, 2, y)  # there is no third class
    with pytest.warns(ReheadWarning, match=r"(Next to no label|labelled) 2"):
        clf = fit(X, noisy)
    assert clf.score(X, y) > 0.97


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
