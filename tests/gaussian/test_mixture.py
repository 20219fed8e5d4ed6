"""The label-noise mixture: EM's promises, recovered parameters, and what holds it back."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from rehead import RobustGaussianClassifier, noise
from rehead.gaussian import estimate, group_by_class
from rehead.gaussian.anchored import training_rows
from rehead.gaussian.calibration import calibrate
from rehead.gaussian.labelnoise import fit_noise
from rehead.gaussian.mixture import Mixture, expectation, maximisation
from rehead.gaussian.moments import Total, pooled_moments
from rehead.gaussian.options import USAGE
from rehead.gaussian.tied import from_moments
from rehead.gaussian.training import Regularisation


def rng():
    return np.random.default_rng(0)


def planted(n=1500, d=3, distance=2.0, rate=0.3, kind="flip", seed=0):
    """Three Gaussian classes whose labels are noisy."""
    rng = np.random.default_rng(seed)
    true = rng.integers(3, size=n)
    means = distance * np.eye(3, d)
    X = rng.normal(size=(n, d)) @ np.diag([1.0, 0.7, 1.3][:d]) + means[true]
    return X, getattr(noise, kind)(true, rate, random_state=seed).labels, true


def start(X, y):
    data = group_by_class(X, y, 3)
    rows = training_rows(data, rng())
    pooled = pooled_moments(data, [data.whole(c) for c in range(3)], np.float64)
    now = Mixture(from_moments(pooled), np.full(3, 1 / 3), np.full((3, 3), 0.2) + 0.4 * np.eye(3))
    return rows, Total.from_pooled(pooled), now


def likelihood(X, y, now):
    """Brute force, sample by sample."""
    densities = np.stack(
        [multivariate_normal(m, now.gaussians.covariance).pdf(X) for m in now.gaussians.means],
        axis=1,
    )
    return float(np.log((densities * now.priors * now.transition[:, y].T).sum(axis=1)).sum())


@pytest.mark.parametrize("tau", [1.0, 1.3])
@pytest.mark.parametrize("distance", [2.0, 4.0])
def test_the_objective_never_falls(tau, distance):
    X, y, _ = planted(distance=distance)
    rows, total, now = start(X, y)
    expected = expectation(rows, total, now, tau)
    first = expected.objective
    for _ in range(30):
        # T is free: it is pulled towards what it is anyway.
        free = expected.labels / expected.weights[:, None]
        now = maximisation(total, expected, Regularisation(0.0), free)
        following = expectation(rows, total, now, tau)
        assert following.objective >= expected.objective - 1e-7 * abs(expected.objective)
        expected = following
    assert expected.objective > first + 1.0


def test_without_temperature_the_objective_is_the_likelihood():
    X, y, _ = planted()
    rows, total, now = start(X, y)
    objective = expectation(rows, total, now, 1.0).objective
    assert objective == pytest.approx(likelihood(X, y, now), rel=1e-9)


@pytest.mark.parametrize("kind", ["flip", "uniform"])
def test_a_planted_transition_matrix_is_found(kind):
    X, y, true = planted(n=4000, distance=5.0, rate=0.3, kind=kind)
    T = np.zeros((3, 3))
    np.add.at(T, (true, y), 1.0)
    T /= T.sum(axis=1, keepdims=True)
    model = RobustGaussianClassifier("mixture").fit(X, y)
    np.testing.assert_allclose(model.noise_.transition, T, atol=0.03)
    assert model.score(X, true) > 0.98


def test_labels_of_clean_overlapping_classes_are_not_explained_away():
    X, y, _ = planted(n=3000, distance=1.5, rate=0.0)
    model = RobustGaussianClassifier("mixture").fit(X, y)
    plain = RobustGaussianClassifier("sample").fit(X, y)
    assert model.score(X, y) > plain.score(X, y) - 0.02


def test_a_known_label_stays_what_it_is():
    X, y, true = planted(n=600, distance=2.0, rate=0.4)
    trusted = np.arange(600) < 300
    y = np.where(trusted, true, y)
    fit = RobustGaussianClassifier("mixture").fit(X, y, trusted=trusted)
    rows, total, now = start(X, y)
    assert fit.score(X, true) > 0.75
    known = training_rows(group_by_class(X, y, 3, trusted=trusted), rng())
    counted = expectation(known, total, now, 1.0).labels
    assert counted.sum() == pytest.approx(600)
    free = expectation(rows, total, now, 1.0).labels
    assert np.trace(counted) > np.trace(free)
    # Each known sample counts to the class of its label, and to no other.
    everything = training_rows(group_by_class(X, y, 3, trusted=trusted | True), rng())
    labels = expectation(everything, total, now, 1.0).labels
    np.testing.assert_allclose(labels, np.diag(np.bincount(y)), atol=1e-9)


def test_its_temperature_is_the_one_that_makes_the_first_estimates_honest():
    X, y, _ = planted(n=800, d=3)
    model = RobustGaussianClassifier("mixture").fit(X, y)
    assert model.noise_.temperature >= 1.0
    rows, everything = training_rows(group_by_class(X, y, 3), rng()), np.ones(800)
    gaussians = from_moments(rows.moments(everything), shrinkage="auto")
    first = fit_noise(rows.sampled_scores(everything, gaussians), y)
    assert model.noise_.temperature == max(first.temperature, 1.0)
    scores = np.log(np.maximum(model.predict_proba(X), 1e-12))
    assert fit_noise(scores, y).rate == pytest.approx(0.3, abs=0.12)


def test_every_sample_counts_and_to_the_class_that_it_most_likely_is():
    X, y, true = planted(n=900, distance=4.0, rate=0.3)
    w = np.random.default_rng(1).choice([0.0, 0.1, 0.4], size=900)
    data = group_by_class(X, y, 3, weights=w)
    found = estimate("mixture", data, USAGE["mixture"].defaults, rng())
    inside = found.composition
    assert inside.class_totals.sum() == pytest.approx(w.sum())
    assert (inside.weights <= w + 1e-12).all()
    assert inside.weights.sum() > 0.9 * w.sum()
    counted = w > 0
    assert (inside.counted_as == true)[counted].mean() > 0.95
    assert (inside.counted_as != y)[counted].mean() == pytest.approx(0.3, abs=0.05)


def test_the_posterior_is_calibrated_by_samples_judged_without_themselves(blobs):
    X, y = blobs((60, 60, 60), d=30, distance=1.5)
    labels = noise.uniform(y, 0.2, random_state=0).labels
    clf = RobustGaussianClassifier("mixture", random_state=0).fit(X, labels)
    everything = np.ones(180, bool)
    scores, known = clf.fitted_.without_themselves(X, labels, everything, lambda s, *_: s)
    assert known.all()
    without = calibrate(scores, labels, clf.noise_.transition)
    inside = clf.fitted_.gaussians.without_priors()
    with_itself = calibrate(inside.distances(X) / -2.0, labels, clf.noise_.transition)
    temperature = clf.fitted_.gaussians.temperature
    assert temperature == pytest.approx(without.temperature, rel=1e-4)
    assert temperature != pytest.approx(with_itself.temperature, rel=0.01)
