"""What users pass to an ensemble: held to what the fit was given."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from rehead import LayerEnsemble
from rehead.ensemble.inputs import LayerInputs, as_posterior


def test_layer_inputs_hold_later_layers_to_the_first_ones():
    inputs = LayerInputs(["a", "p"], ["p"])
    frame = pd.DataFrame(np.ones((4, 2)), columns=["u", "v"])
    inputs.first({"a": frame, "p": np.ones((4, 2))})
    assert list(inputs.later({"p": np.ones((4, 2)), "a": frame})) == ["a", "p"]
    with pytest.raises(ValueError, match="Layer a has 3 features, and had 2 in training"):
        inputs.later({"a": np.ones((4, 3)), "p": np.ones((4, 2))})
    with pytest.raises(ValueError, match=r"Layer a: The feature names should match"):
        inputs.later({"a": frame[["v", "u"]], "p": np.ones((4, 2))})
    with pytest.raises(ValueError, match=r"Layer a: Input X contains NaN"):
        inputs.later({"a": frame * np.nan, "p": np.ones((4, 2))})
    again = LayerInputs.from_json(["a", "p"], ["p"], inputs.to_json())
    with pytest.raises(ValueError, match=r"feature names should match"):
        again.later({"a": frame[["v", "u"]], "p": np.ones((4, 2))})


def test_columns_in_another_order_are_an_error_not_another_answer():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    frame = pd.DataFrame(rng.normal(size=(80, 2)) + 3 * y[:, None] * [1, -1], columns=["u", "v"])
    ensemble = LayerEnsemble(random_state=0).fit({"a": frame}, y)
    assert ensemble.score({"a": frame}, y) > 0.9
    with pytest.raises(ValueError, match="feature names should match"):
        ensemble.predict({"a": frame[["v", "u"]]})


def test_logits_and_probabilities_are_told_apart():
    p = np.array([[0.2, 0.8], [0.5, 0.5]])
    np.testing.assert_array_equal(as_posterior(p, 2, "softmax"), p)
    np.testing.assert_allclose(as_posterior(np.log(p) + 3.0, 2, "softmax"), p)
    with pytest.raises(ValueError, match="one column for each of the 3 classes"):
        as_posterior(p, 3, "softmax")


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=120)
    X = rng.normal(size=(120, 2)) + 3 * y[:, None] * [1, -1]
    return pd.DataFrame(X, columns=["u", "v"]), y


@pytest.mark.parametrize("kwargs", [{}, {"preset": "paper"}], ids=str)
def test_members_and_copies_know_the_columns(frames, kwargs, tmp_path):
    frame, y = frames
    ensemble = LayerEnsemble(random_state=0, **kwargs).fit({"a": frame}, y)
    ensemble.save(tmp_path / "m")
    copies = [ensemble, LayerEnsemble.load(tmp_path / "m"), pickle.loads(pickle.dumps(ensemble))]
    for model in copies:
        expected = ensemble.predict_proba({"a": frame})
        np.testing.assert_array_equal(model.predict_proba({"a": frame}), expected)
        np.testing.assert_array_equal(model.estimators_["a"].predict_proba(frame), expected)
        with pytest.raises(ValueError, match="feature names should match"):
            model.estimators_["a"].predict(frame[["v", "u"]])
        with pytest.raises(ValueError, match="Layer a: The feature names should match"):
            model.predict({"a": frame[["v", "u"]]})


def test_column_names_of_files_of_an_earlier_version(frames, tmp_path):
    """They were kept with the members, where each is a layer."""
    frame, y = frames
    ensemble = LayerEnsemble(preset="paper", random_state=0).fit({"a": frame}, y)
    arrays, settings = ensemble.to_state()
    del settings["features"]
    settings["members"]["a"]["feature_names"] = ["u", "v"]
    again = LayerEnsemble.from_state(arrays, settings)
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict({"a": frame[["v", "u"]]})


def test_given_posteriors_are_checked_when_they_are_given(frames):
    frame, y = frames
    layers = {"a": frame, "softmax": np.full((120, 5), 0.2)}
    with pytest.raises(ValueError, match="one column for each of the 2 classes"):
        LayerEnsemble("sample", given=["softmax"]).fit(layers, y)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        LayerEnsemble().count_samples({"a": np.ones((2, 2))})


def test_names_are_text(frames):
    frame, y = frames
    with pytest.raises(ValueError, match=r"must be text, got 1\. Use '1'"):
        LayerEnsemble().fit({1: frame}, y)
    with pytest.raises(ValueError, match="given must be a list of names, got 'softmax'"):
        LayerEnsemble(given="softmax").fit({"a": frame, "softmax": np.ones((120, 2)) / 2}, y)
