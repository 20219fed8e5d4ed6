"""A fit that fails changes nothing: neither a new estimator nor one that was fitted before."""

import warnings

import numpy as np
import pandas as pd
import pytest

from rehead import LayerEnsemble, ReheadWarning, RobustGaussianClassifier
from rehead import classifier as classifier_module
from rehead.ensemble import estimator as ensemble_module


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return pd.DataFrame(rng.normal(size=(90, 3)) + 3 * y[:, None], columns=["a", "b", "c"]), y


def other(X):
    """As many samples with another width and other names of columns."""
    return pd.DataFrame(np.hstack([X, X]), columns=list("uvwxyz"))


def fail(*arguments, **options):
    raise ArithmeticError("in the middle")


def break_down(monkeypatch, samples):
    monkeypatch.setattr(classifier_module, "fit_with_trusted", fail)
    monkeypatch.setattr(ensemble_module, "fit_default", fail)
    return other(samples[0]), samples[1]


def with_nan(monkeypatch, samples):
    X = other(samples[0])
    X.iloc[5, 2] = np.nan
    return X, samples[1]


def of_one_class(monkeypatch, samples):
    return other(samples[0]), np.zeros(90)


def too_few_labels(monkeypatch, samples):
    return other(samples[0]), samples[1][:-1]


def warned_of(monkeypatch, samples):
    """Classes of one sample, and warnings that are errors."""
    monkeypatch.setattr(warnings, "filters", [("error", None, ReheadWarning, None, 0)])
    return other(samples[0]), np.append(np.zeros(88), [1, 2])


FAILURES = [break_down, with_nan, of_one_class, too_few_labels, warned_of]


class Single:
    """The classifier."""

    def new(self):
        return RobustGaussianClassifier(random_state=0)

    def fit(self, model, X, y):
        return model.fit(X, y)

    def use(self, model, X):
        return model.predict_proba(X)


class Several:
    """The ensemble, of one layer."""

    def new(self):
        return LayerEnsemble(random_state=0)

    def fit(self, model, X, y):
        return model.fit({"layer": X}, y)

    def use(self, model, X):
        return model.predict_proba({"layer": X})


@pytest.mark.parametrize("kind", [Single(), Several()], ids=["classifier", "ensemble"])
@pytest.mark.parametrize("failure", FAILURES, ids=lambda f: f.__name__)
class TestAFitThatFails:
    def test_leaves_a_fitted_model_as_it_was(self, kind, failure, samples, monkeypatch):
        model = kind.fit(kind.new(), *samples)
        before, posterior = dict(vars(model)), kind.use(model, samples[0])
        with monkeypatch.context() as patch:
            X, y = failure(patch, samples)
            with pytest.raises((ValueError, ArithmeticError, ReheadWarning)):
                kind.fit(model, X, y)
        assert vars(model).keys() == before.keys()
        for name, value in vars(model).items():
            assert value is before[name], name
        np.testing.assert_array_equal(kind.use(model, samples[0]), posterior)

    def test_leaves_a_new_model_unfitted(self, kind, failure, samples, monkeypatch):
        model = kind.new()
        before = dict(vars(model))
        with monkeypatch.context() as patch:
            X, y = failure(patch, samples)
            with pytest.raises((ValueError, ArithmeticError, ReheadWarning)):
                kind.fit(model, X, y)
        assert vars(model) == before


def test_a_fit_that_succeeds_forgets_the_columns_of_the_one_before(samples):
    X, y = samples
    model = RobustGaussianClassifier(random_state=0).fit(X, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.fit(np.hstack([X, X]) + np.random.default_rng(1).normal(size=(90, 6)), y)
    assert model.n_features_in_ == 6
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("name", [1, None, ("a", 1), 2.5])
def test_names_of_layers_that_are_no_text_are_refused_in_the_fit(samples, name):
    X, y = samples
    with pytest.raises(ValueError, match="Names of layers must be text"):
        LayerEnsemble().fit({name: X}, y)
