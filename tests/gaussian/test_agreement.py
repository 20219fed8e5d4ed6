"""Agreement trimming against refitting without each sample."""

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, noise
from rehead.gaussian.agreement import FEWEST_KEPT, SETTLED


@pytest.mark.parametrize("max_steps", [1, 2, 5])
def test_agreement_equals_a_plain_reimplementation(blobs, brute, refitted, max_steps):
    X, y = blobs(sizes=(31, 24, 18), distance=2.0)
    noisy = np.where(np.random.default_rng(1).random(len(y)) < 0.3, (y + 1) % 3, y)
    keep, steps = np.ones(len(X), bool), 0
    for _ in range(max_steps):
        previous, keep = keep, refitted(X, noisy, None, keep).argmax(axis=1) == noisy
        steps += 1
        if (previous != keep).sum() <= SETTLED * len(X):
            break
    assert np.bincount(noisy[keep]).min() > FEWEST_KEPT
    clf = RobustGaussianClassifier("agreement", max_steps=max_steps).fit(X, noisy)
    np.testing.assert_array_equal(clf.support_, keep)
    assert (clf.n_iter_ == steps).all()
    means, covariance = brute.tied(X[keep], noisy[keep])
    np.testing.assert_allclose(clf.means_, means, rtol=1e-9)
    np.testing.assert_allclose(clf.covariance_, covariance, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.4])
def test_the_share_that_stays_adapts_to_the_noise(blobs, rate):
    X, y = blobs(sizes=(300, 300, 300), d=5)
    noisy = noise.uniform(y, rate, random_state=0)
    clf = RobustGaussianClassifier("agreement").fit(X, noisy.labels)
    assert clf.support_.mean() == pytest.approx(1 - rate, abs=0.02)
    assert (~noisy.changed)[clf.support_].mean() > 0.98


def test_a_class_that_is_never_predicted_keeps_its_best_samples(refitted):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 2)) + 40 * y[:, None]
    labels = np.where(np.arange(120) % 15 < 2, 2, y)  # there is no third class
    p = refitted(X, labels)
    assert (p[labels == 2].argmax(axis=1) != 2).all()
    rows = np.flatnonzero(labels == 2)
    best = rows[np.argsort(-p[rows, 2])[:FEWEST_KEPT]]
    clf = RobustGaussianClassifier("agreement", max_steps=1).fit(X, labels)
    np.testing.assert_array_equal(np.flatnonzero(clf.support_ & (labels == 2)), np.sort(best))


def test_trusted_samples_stay_and_whole_weights_are_repetitions(blobs, same_model):
    X, y = blobs(sizes=(60, 50, 40), distance=2.0)
    noisy = noise.flip(y, 0.3, random_state=0)
    trusted = noisy.changed & (np.arange(len(y)) % 3 == 0)
    clf = RobustGaussianClassifier("agreement")
    assert clf.fit(X, noisy.labels, trusted=trusted).support_[trusted].all()
    w = np.random.default_rng(0).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), w)
    same_model(
        RobustGaussianClassifier("agreement").fit(X, noisy.labels, w),
        RobustGaussianClassifier("agreement").fit(X[rows], noisy.labels[rows]),
    )


def test_rows_of_weight_0_do_not_end_it_early():
    rng = np.random.default_rng(0)
    y = np.arange(1200) % 2
    X = rng.normal(size=(1200, 3)) + 6.0 * y[:, None]
    y[:4] = 1 - y[:4]
    kept = np.arange(1200) < 400
    weighted = RobustGaussianClassifier("agreement").fit(X, y, sample_weight=kept.astype(float))
    without = RobustGaussianClassifier("agreement").fit(X[kept], y[kept])
    np.testing.assert_array_equal(weighted.n_iter_, without.n_iter_)
