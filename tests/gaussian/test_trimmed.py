"""Trimmed k-means against a plain reimplementation."""

import numpy as np
import pytest

from rehead import RobustGaussianClassifier
from rehead.gaussian import Options, estimate, trimmed
from rehead.gaussian.mcd import support_size
from rehead.gaussian.rows import group_by_class
from rehead.gaussian.trimmed import _majority


def trimmed_kmeans(brute, X, y, k, steps):
    """Kept rows, cluster of each row, means, covariance; clusters start as the classes."""
    means, covariance = brute.tied(X, y)
    for _ in range(steps):
        D = brute.distances(X, means, covariance)
        cluster, keep = D.argmin(axis=1), brute.smallest(D.min(axis=1), k)
        means, covariance = brute.tied(X[keep], cluster[keep])
    return keep, cluster, means, covariance


@pytest.mark.parametrize("steps", [1, 2, 4])
@pytest.mark.parametrize("fraction", [None, 0.8])
def test_trimmed_kmeans_equals_a_plain_reimplementation(blobs, brute, steps, fraction):
    X, y = blobs(sizes=(40, 33, 21), distance=3.0)
    noisy = np.where(np.random.default_rng(1).random(len(y)) < 0.2, (y + 1) % 3, y)
    k = sum(support_size((noisy == c).sum(), 3, fraction) for c in range(3))
    keep, cluster, means, covariance = trimmed_kmeans(brute, X, noisy, k, steps)
    clf = RobustGaussianClassifier(
        "trimmed-kmeans", max_steps=steps, support_fraction=fraction
    ).fit(X, noisy)
    np.testing.assert_array_equal(np.flatnonzero(clf.support_), keep)
    np.testing.assert_allclose(clf.covariance_, covariance, rtol=1e-9, atol=1e-11)
    # Here every cluster's majority label is the class it started from.
    counts = np.array([np.bincount(noisy[keep][cluster[keep] == c], minlength=3) for c in range(3)])
    assert counts.argmax(axis=1).tolist() == [0, 1, 2]
    np.testing.assert_allclose(clf.means_, means, rtol=1e-9)


def test_clusters_forget_the_labels_in_between(blobs):
    # Wrong labels are many, clusters are clear: every kept sample ends up in its true cluster.
    X, y = blobs(sizes=(80, 80, 80), distance=8.0)
    noisy = np.where(np.random.default_rng(1).random(len(y)) < 0.3, (y + 1) % 3, y)
    clf = RobustGaussianClassifier("trimmed-kmeans", max_steps=10).fit(X, noisy)
    assert clf.score(X, y) == 1.0


def test_a_trusted_sample_counts_for_its_label_wherever_it_is(blobs):
    X, y = blobs(sizes=(40, 40), distance=8.0)
    odd = int(np.flatnonzero(y == 0)[0])
    X[odd] = X[y == 1].mean(axis=0)
    clf = RobustGaussianClassifier("trimmed-kmeans", support_fraction=1.0)
    np.testing.assert_allclose(
        clf.fit(X, y).means_[1], X[(y == 1) | (np.arange(80) == odd)].mean(0)
    )
    clf.fit(X, y, trusted=np.arange(80) == odd)
    np.testing.assert_allclose(clf.means_, [X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])


def majority(clusters, labels):
    clusters, labels = np.array(clusters), np.array(labels)
    data = group_by_class(np.zeros((len(labels), 1)), clusters, 3)
    return _majority(data, [data.whole(c) for c in range(3)], labels).tolist()


def test_a_cluster_takes_the_label_most_of_its_members_have():
    # Clusters 0, 1, 2 hold mostly labels 2, 0, 1: class 0 is cluster 1, and so on.
    assert majority([0, 0, 0, 1, 1, 2, 2, 2], [2, 2, 1, 0, 0, 1, 1, 0]) == [1, 2, 0]


def test_where_two_clusters_have_the_same_majority_the_larger_count_wins():
    # Clusters 0 and 1 are both mostly label 0 (3 and 2 members); cluster 1 has one of label 1.
    assert majority([0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 0, 0, 1, 2, 2]) == [0, 1, 2]


def test_rows_count_for_the_class_that_their_cluster_stands_for(brute):
    # Cluster 1 starts right of cluster 0 by a hair, and ends with the samples labelled 0, mostly.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 0, 1, 1], [10, 12, 100, 90])
    X = rng.normal(size=(212, 1)) + np.repeat([0.0, 10.0, 0.0, 12.0], [10, 12, 100, 90])[:, None]
    options = Options(support_fraction=0.9, max_steps=5)
    found = estimate("trimmed-kmeans", group_by_class(X, y, 2), options, rng)
    weights, counted_as, totals, _ = found.composition
    assert found.gaussians.means[:, 0] == pytest.approx([11.8, 0.0], abs=0.5)
    np.testing.assert_allclose(found.gaussians.means, brute.tied(X, counted_as, weights)[0])
    np.testing.assert_array_equal(totals, np.bincount(counted_as, weights=weights))
    assert totals[0] < totals[1]


def test_an_empty_cluster_keeps_its_mean_and_nothing_is_nan():
    # Class 2 has only outliers, all of which are trimmed; they lie across the line between the
    # other two classes, so that these can still be told apart.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 8, [[8e3, 0], [0, 8e3]]])
    y = np.repeat([0, 1, 2], [60, 60, 2])
    clf = RobustGaussianClassifier(
        "trimmed-kmeans", support_fraction=0.7, priors="empirical", max_steps=3
    ).fit(X, y)
    assert np.isfinite(clf.predict_proba(X)).all()
    assert not clf.support_[-2:].any()
    np.testing.assert_allclose(clf.means_[2], [4e3, 4e3])
    assert clf.score(X[:120], y[:120]) > 0.95


def three_classes():
    """Three clear classes of different sizes."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [40, 60, 80])
    X = rng.normal(size=(180, 2)) + np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[y]
    return X, y


def test_given_priors_stay_with_their_classes(monkeypatch):
    # Clusters take the labels of their majorities: here they are all another one's.
    X, y = three_classes()
    order = np.array([1, 2, 0])
    monkeypatch.setattr(trimmed, "_majority", lambda *_: order)
    priors = np.array([0.7, 0.2, 0.1])
    given = RobustGaussianClassifier("trimmed-kmeans", priors=priors).fit(X, y)
    np.testing.assert_allclose(given.priors_, priors)
    counted = RobustGaussianClassifier("trimmed-kmeans", priors="empirical").fit(X, y)
    known = counted.fitted_.known_rows
    sizes = np.bincount(known.counted_as[known.weights > 0])
    np.testing.assert_allclose(counted.priors_, sizes / sizes.sum())


def test_what_was_shrunk_is_known():
    X, y = three_classes()
    model = RobustGaussianClassifier("trimmed-kmeans", shrinkage=0.3).fit(X, y)
    assert model.fitted_.gaussians.estimated == pytest.approx(0.7)
