"""Polynomial-margin noise against its formulas, sample by sample."""

import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.base import BaseEstimator, ClassifierMixin

from rehead import noise
from rehead.noise.margins import FORMS, margins, scale_to

from .overlapping import gaussians, tenths

X, Y, POSTERIOR = gaussians(n=4000)


class Oracle(ClassifierMixin, BaseEstimator):
    """Reads the posterior off the inputs."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return X


TAU = {
    "I": lambda eta_u, eta_s: -0.5 * (eta_u - eta_s) ** 2 + 0.5,
    "II": lambda eta_u, eta_s: 1 - (eta_u - eta_s) ** 3,
    "III": lambda eta_u, eta_s: (
        1 - ((eta_u - eta_s) ** 3 + (eta_u - eta_s) ** 2 + (eta_u - eta_s)) / 3
    ),
}


@pytest.mark.parametrize("form", ["I", "II", "III"])
def test_the_formulas_of_the_paper_times_a_constant(form):
    noisy = noise.polynomial_margin(POSTERIOR, Y, 0.15, form=form, classifier=Oracle())
    eta = noisy.chances.judges.posteriors(POSTERIOR)[0]
    np.testing.assert_allclose(eta, POSTERIOR, atol=0.02)  # it was calibrated before
    factors = []
    for p, eta_x, y in zip(noisy.probabilities, eta, Y, strict=True):
        u, s = np.argsort(eta_x)[::-1][:2]
        if u != y:
            continue
        assert np.delete(p, [u, s]).max() == 0
        tau = TAU[form](eta_x[u], eta_x[s])
        if tau > 1e-6:
            factors.append(p[s] / tau)
    assert len(factors) > 3000
    np.testing.assert_allclose(factors, noisy.chances.factor, rtol=1e-6)


def test_samples_that_look_like_another_class_have_no_margin():
    noisy = noise.polynomial_margin(POSTERIOR, Y, 0.15, classifier=Oracle(), random_state=0)
    taken = POSTERIOR.argmax(axis=1)
    mistaken = np.flatnonzero(taken != Y)
    expected = noisy.chances.factor * 0.5
    np.testing.assert_allclose(noisy.probabilities[mistaken, taken[mistaken]], expected)


@pytest.mark.parametrize("form", ["I", "II", "III"])
@pytest.mark.parametrize("rate", [0.1, 0.2, 0.4])
def test_easy_samples_are_nearly_clean(form, rate):
    noisy = noise.polynomial_margin(X, Y, rate, form=form, random_state=0)
    shares = tenths(POSTERIOR, Y, noisy.changed)
    assert shares[-2:].mean() < rate / 20
    assert shares[0] > 2 * rate


def test_the_forms_begin_and_end_where_they_should():
    ends = {form: tau(np.array([0.0, 1.0])).tolist() for form, tau in FORMS.items()}
    assert ends == {"I": [0.5, 0.0], "II": [1.0, 0.0], "III": [1.0, 0.0]}


def test_the_posterior_is_not_that_of_samples_that_were_learned_by_heart():
    """A classifier that has seen a sample is certain of it: then no label would be wrong."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(50, random_state=0)
    noisy = noise.polynomial_margin(X[:600], Y[:600], 0.1, classifier=forest, random_state=0)
    by_heart = forest.fit(X[:600], Y[:600]).predict(X[:600])
    assert (by_heart == Y[:600]).all()
    mistaken = noisy.probabilities.max(axis=1) < 0.9
    assert mistaken.mean() > 0.1


def test_margins_by_hand():
    margin, second = margins(np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]), np.array([0, 1]))
    np.testing.assert_allclose(margin, [0.2, 0.0])
    assert second.tolist() == [[False, True, False], [False, False, True]]


@pytest.mark.parametrize("n", [1, 5, 30, 55, 90, 100])
def test_the_constant_is_the_root(n):
    tau = np.random.default_rng(n).random(100) ** 3
    c = scale_to(tau, n)
    assert np.minimum(c * tau, 1).sum() == pytest.approx(n)
    if n < 100:
        root = brentq(lambda c: np.minimum(c * tau, 1).sum() - n, 0, 1e9)
        assert c == pytest.approx(root)


def test_constants_that_do_not_exist():
    assert scale_to(np.zeros(3), 0) == 0
    assert scale_to(np.array([0.3, 0.3, 0.0]), 2) == pytest.approx(1 / 0.3)
    with pytest.raises(ValueError, match="2 of 3 labels cannot be wrong"):
        scale_to(np.array([0.1, 0.0, 0.0]), 2)


def test_an_unknown_form():
    with pytest.raises(ValueError, match="form must be one of"):
        noise.polynomial_margin(X, Y, 0.2, form="IV")
