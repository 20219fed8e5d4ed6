"""The default for one layer: Gaussians as "anchored" finds them, and a second opinion."""

import numpy as np
import pytest
from scipy.special import softmax

from rehead import ReheadWarning, RobustGaussianClassifier, noise
from rehead.gaussian import estimate, group_by_class
from rehead.gaussian.options import USAGE


def fit(name, X, y, **more):
    data = group_by_class(X, y, 3, **more)
    return estimate(name, data, USAGE[name].defaults, np.random.default_rng(0))


@pytest.fixture(scope="module")
def noisy(skewed):
    X, y = skewed()
    return X, noise.flip(y, 0.2, random_state=0).labels, y


def test_where_no_second_opinion_is_taken_it_is_anchored_to_the_last_bit(blobs):
    X, y = blobs(sizes=(200, 200, 200), d=5, distance=1.0)
    labels = noise.uniform(y, 0.2, random_state=0).labels
    a, b = fit("auto", X, labels), fit("anchored", X, labels)
    assert a.second is None
    assert a.alone is None
    np.testing.assert_array_equal(a.gaussians.posterior(X), b.gaussians.posterior(X))
    np.testing.assert_array_equal(a.composition.weights, b.composition.weights)
    for one, other in zip(a.noise, b.noise, strict=True):
        np.testing.assert_array_equal(one, other)


def test_with_a_second_opinion_the_gaussians_stay_what_they_are(noisy):
    X, labels, _ = noisy
    a, b = fit("auto", X, labels), fit("anchored", X, labels)
    assert a.second is not None
    np.testing.assert_array_equal(a.gaussians.means, b.gaussians.means)
    np.testing.assert_array_equal(a.gaussians.covariance, b.gaussians.covariance)
    np.testing.assert_array_equal(a.composition.weights, b.composition.weights)
    # What they say alone is kept, as "anchored" finds it.
    np.testing.assert_array_equal(a.alone.gaussians.posterior(X), b.gaussians.posterior(X))
    assert a.alone.noise.wrong == b.noise.wrong


def test_predictions_are_those_of_both(noisy):
    X, labels, _ = noisy
    fitted = fit("auto", X, labels)
    g, second = fitted.gaussians, fitted.second
    assert g.added is second.regressions.whole
    assert g.temperature == second.temperature
    plain = (X - g.centre) @ g.weights.T - 0.5 * g.norms + np.log(g.priors)
    joint = plain / g.temperature + g.offsets + second.regressions.whole.of(X)
    np.testing.assert_allclose(g.posterior(X), softmax(joint, axis=1), atol=1e-9)


def test_the_posterior_is_a_linear_softmax(noisy):
    X, labels, y = noisy
    clf = RobustGaussianClassifier(feature_map="none", random_state=0).fit(X, labels)
    assert clf.fitted_.second is not None
    p = softmax(X @ clf.coef_.T + clf.intercept_, axis=1)
    np.testing.assert_allclose(clf.predict_proba(X), p, atol=1e-8)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), p, atol=1e-8)
    assert (clf.decision_function(X).argmax(axis=1) == clf.predict(X)).all()
    alone = RobustGaussianClassifier("anchored", random_state=0).fit(X, labels)
    assert clf.score(X, y) > alone.score(X, y) + 0.05
    # Densities are those of the Gaussians.
    np.testing.assert_allclose(clf.covariance_, alone.covariance_)
    wanted = alone.fitted_.gaussians.without_priors().log_density(X)
    np.testing.assert_allclose(clf.fitted_.gaussians.without_priors().log_density(X), wanted)


@pytest.mark.parametrize("priors", ["uniform", "empirical", [0.7, 0.2, 0.1]])
def test_priors_are_those_that_were_asked_for(noisy, priors):
    X, labels, _ = noisy
    usual = RobustGaussianClassifier(feature_map="none", random_state=0).fit(X, labels)
    clf = RobustGaussianClassifier(feature_map="none", priors=priors, random_state=0)
    clf.fit(X, labels)
    shares = {"uniform": np.full(3, 1 / 3), "empirical": usual.priors_}
    np.testing.assert_allclose(clf.priors_, shares[priors] if isinstance(priors, str) else priors)
    # Bayes' rule: only the odds of the classes differ, by the same factor for each sample.
    ratio = clf.predict_log_proba(X) - usual.predict_log_proba(X)
    ratio -= ratio[:, :1]
    expected = np.log(clf.priors_ / usual.priors_)
    np.testing.assert_allclose(ratio, np.tile(expected - expected[0], (len(X), 1)), atol=1e-6)


def test_it_is_said(noisy, blobs):
    X, labels, _ = noisy
    said = RobustGaussianClassifier(feature_map="none", random_state=0).fit(X, labels).explain()
    assert said.endswith("A logistic regression that knows of the noise was a second opinion.")
    both = RobustGaussianClassifier(feature_map="kernel", random_state=0).fit(X, labels).explain()
    assert "mapped" in both
    assert both.endswith("second opinion.")
    plain = RobustGaussianClassifier(random_state=0).fit(*blobs()).explain()
    assert "opinion" not in plain


def test_rows_of_weight_zero_might_as_well_not_be_there(noisy):
    X, labels, _ = noisy
    w = np.random.default_rng(0).choice([0.0, 1.0, 1.0], size=len(labels))
    some = w > 0
    full, part = fit("auto", X, labels, weights=w), fit("auto", X[some], labels[some])
    assert full.second is not None
    assert (full.second.folds[~some] == -1).all()
    assert part.second is not None
    np.testing.assert_allclose(full.gaussians.means, part.gaussians.means, rtol=1e-6)
    np.testing.assert_array_equal(full.second.folds[some], part.second.folds)
    np.testing.assert_allclose(full.gaussians.slopes, part.gaussians.slopes, rtol=1e-4)


def test_trusted_samples_keep_their_weight(noisy):
    X, labels, y = noisy
    trusted = (labels != y) & (np.arange(len(y)) % 5 == 0)
    clf = RobustGaussianClassifier(random_state=0)
    with pytest.warns(ReheadWarning, match="of the trusted labels look wrong"):
        clf.fit(X, labels, trusted=trusted)
    assert (clf.trust_[trusted] == 1).all()
