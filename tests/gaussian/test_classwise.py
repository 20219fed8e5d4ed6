"""The paper's estimators against plain reimplementations that are given the same start."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from rehead import RobustGaussianClassifier
from rehead.gaussian.classwise import class_seeds
from rehead.gaussian.mcd import support_size
from rehead.gaussian.rows import group_by_class
from rehead.gaussian.starts import random_start

SIZES = (50, 37, 24)


def starts(X, y, k, seed=0):
    """Rows of the random start of each class, as the classifier draws them."""
    data = group_by_class(X, y, int(y.max()) + 1)
    seeds = class_seeds(np.random.default_rng(seed), data)
    return [
        data.rows[c][random_start(np.random.default_rng((s, 0)), len(data.rows[c]), k[c]).positions]
        for c, s in enumerate(seeds)
    ]


def algorithm_1(brute, X, rows, start, steps):
    """As printed in the paper; rows of the class in, kept rows out."""
    kept, log_det = start, np.inf
    for _ in range(steps):
        covariance = np.cov(X[kept], rowvar=False, bias=True)
        distance = brute.distances(X[rows], [X[kept].mean(axis=0)], covariance)[:, 0]
        kept = rows[brute.smallest(distance, len(start))]
        log_det, before = np.linalg.slogdet(np.cov(X[kept], rowvar=False, bias=True))[1], log_det
        if log_det >= before:
            break
    return kept


@pytest.fixture
def noisy(blobs):
    X, y = blobs(sizes=SIZES, d=4, distance=2.0)
    wrong = np.random.default_rng(1).random(len(y)) < 0.25
    return X, np.where(wrong, (y + 1) % 3, y)


def assert_made_of(clf, brute, X, y, kept):
    """The model is the sample estimator of the kept rows: step (b), classes weighted by K_c."""
    np.testing.assert_array_equal(np.flatnonzero(clf.support_), np.sort(kept))
    of_class = [kept[y[kept] == c] for c in range(3)]
    K = np.array([len(rows) for rows in of_class])
    covariances = [np.cov(X[rows], rowvar=False, bias=True) for rows in of_class]
    tied = sum(k * S for k, S in zip(K, covariances, strict=True)) / K.sum()
    np.testing.assert_allclose(clf.covariance_, tied, rtol=1e-9, atol=1e-12)
    means = [X[rows].mean(axis=0) for rows in of_class]
    np.testing.assert_allclose(clf.means_, means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(clf.log_det_, np.linalg.slogdet(tied)[1], rtol=1e-9)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_mcd_is_algorithm_1_then_one_covariance_weighted_by_support(noisy, brute, steps):
    X, y = noisy
    k = [support_size((y == c).sum(), 4) for c in range(3)]
    kept = [
        algorithm_1(brute, X, np.flatnonzero(y == c), start, steps)
        for c, start in enumerate(starts(X, y, k))
    ]
    clf = RobustGaussianClassifier("mcd", max_steps=steps, random_state=0).fit(X, y)
    assert_made_of(clf, brute, X, y, np.concatenate(kept))


def test_preset_paper_is_the_default_mcd(noisy, same_model):
    X, y = noisy
    paper, default = (
        RobustGaussianClassifier(random_state=3, **kw).fit(X, y)
        for kw in ({"preset": "paper"}, {"estimator": "mcd"})
    )
    same_model(paper, default, rtol=0, atol=0)
    sizes = [int(paper.support_[y == c].sum()) for c in range(3)]
    assert sizes == [((y == c).sum() + 4 + 1) // 2 for c in range(3)]
    np.testing.assert_array_equal(paper.priors_, np.full(3, 1 / 3))


def test_preset_authors_selects_once_by_a_covariance_of_all_classes(noisy, brute):
    X, y = noisy
    k = [int(0.7 * (y == c).sum()) for c in range(3)]
    first = starts(X, y, k)
    means, covariance = brute.tied(
        X[np.concatenate(first)], np.repeat(np.arange(3), [len(rows) for rows in first])
    )
    kept = []
    for c in range(3):
        rows = np.flatnonzero(y == c)
        distance = brute.distances(X[rows], [means[c]], covariance)[:, 0]
        kept.append(rows[brute.smallest(distance, k[c])])
    clf = RobustGaussianClassifier(preset="authors", random_state=0).fit(X, y)
    assert_made_of(clf, brute, X, y, np.concatenate(kept))
    np.testing.assert_array_equal(clf.priors_, np.full(3, 1 / 3))


@pytest.mark.parametrize("kwargs", [{}, {"start": "deterministic"}, {"start": "pooled"}])
def test_all_kept_is_the_sample_estimator(noisy, brute, same_model, kwargs):
    X, y = noisy
    clf = RobustGaussianClassifier("mcd", support_fraction=1.0, **kwargs).fit(X, y)
    assert_made_of(clf, brute, X, y, np.arange(len(X)))
    same_model(clf, RobustGaussianClassifier("sample").fit(X, y))


def test_more_starts_give_the_smallest_determinant_of_each_class():
    # One sample of Student's t has many local optima.
    rng = np.random.default_rng(0)
    X, y = rng.standard_t(1, size=(120, 2)), np.repeat([0, 1], 60)

    def log_dets(n_starts):
        clf = RobustGaussianClassifier("mcd", n_starts=n_starts, random_state=0).fit(X, y)
        kept = [X[clf.support_ & (y == c)] for c in (0, 1)]
        return np.array([np.linalg.slogdet(np.cov(Z, rowvar=False))[1] for Z in kept])

    one, few, many = log_dets(1), log_dets(5), log_dets(40)
    # Starts are nested: the first of 40 is the single one.
    assert (few <= one + 1e-9).all()
    assert (many <= few + 1e-9).all()
    assert many.sum() < one.sum() - 0.01


def test_identity_is_the_nearest_sample_mean(noisy, brute):
    X, y = noisy
    clf = RobustGaussianClassifier("identity").fit(X, y)
    means, _ = brute.tied(X, y)
    np.testing.assert_allclose(clf.means_, means, rtol=1e-12)
    np.testing.assert_array_equal(clf.covariance_, np.eye(4))
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(clf.predict(X), nearest)
    assert clf.support_.all()


@pytest.mark.parametrize("steps", [1, 2, 10])
def test_lts_means_are_those_of_concentration_steps(noisy, steps):
    X, y = noisy
    k = [int(support_size((y == c).sum(), 4)) for c in range(3)]
    clf = RobustGaussianClassifier("lts", max_steps=steps, random_state=0).fit(X, y)
    for c, kept in enumerate(starts(X, y, k)):
        rows = np.flatnonzero(y == c)
        for _ in range(steps):
            distance = ((X[rows] - X[kept].mean(axis=0)) ** 2).sum(axis=1)
            kept = np.sort(rows[np.argsort(distance)[: k[c]]])
        np.testing.assert_array_equal(np.flatnonzero(clf.support_ & (y == c)), kept)
        np.testing.assert_allclose(clf.means_[c], X[kept].mean(axis=0), rtol=1e-10)
    np.testing.assert_array_equal(clf.covariance_, np.eye(4))


def test_n_iter_counts_selection_steps(noisy):
    X, y = noisy
    for steps in (1, 2):
        assert (RobustGaussianClassifier("mcd", max_steps=steps).fit(X, y).n_iter_ == steps).all()
    many = RobustGaussianClassifier("mcd", max_steps=50).fit(X, y).n_iter_
    assert (many < 50).all()
    np.testing.assert_array_equal(RobustGaussianClassifier("sample").fit(X, y).n_iter_, [0, 0, 0])


def test_shrinkage_enters_the_steps_of_mcd(brute):
    # 12 of 20 samples are kept in 15 dimensions: without shrinkage there is no inverse.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 15)) * np.linspace(1, 3, 15), np.repeat([0, 1], 20)
    clf = RobustGaussianClassifier(
        "mcd", support_fraction=0.6, max_steps=1, shrinkage=0.3, random_state=0
    ).fit(X, y)
    for c, start in enumerate(starts(X, y, [12, 12])):
        S = np.cov(X[start], rowvar=False, bias=True)
        S = 0.7 * S + 0.3 * np.trace(S) / 15 * np.eye(15)
        rows = np.flatnonzero(y == c)
        density = multivariate_normal(X[start].mean(axis=0), S).logpdf(X[rows])
        kept = rows[brute.smallest(-density, 12)]
        np.testing.assert_array_equal(np.flatnonzero(clf.support_ & (y == c)), kept)
