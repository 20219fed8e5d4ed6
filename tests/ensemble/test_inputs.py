"""What users pass to an ensemble: held to what the fit was given."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from rehead import LayerEnsemble, ReheadWarning
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
    again = LayerInputs.from_json(inputs.to_json(), ["p"], {"a": 2})
    with pytest.raises(ValueError, match=r"feature names should match"):
        again.later({"a": frame[["v", "u"]], "p": np.ones((4, 2))})


def given_logits(**kwargs):
    """An ensemble with posteriors of a network, as logits or as kwargs["form"] makes them."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 2)) + 3 * y[:, None]
    logits = rng.normal(size=(120, 3)) + 2 * np.eye(3)[y]
    form = kwargs.pop("form", lambda z: z)

    def layers(rows):
        return {"a": X[rows], "p": form(logits[rows])}

    train, held_out = np.arange(80), np.arange(80, 120)
    ensemble = LayerEnsemble(given=["p"], random_state=0, **kwargs)
    ensemble.fit(layers(train), y[train], validation=(layers(held_out), y[held_out]))
    return ensemble, X, logits


def softmax(z):
    return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kwargs", [{}, {"preset": "paper"}], ids=str)
def test_what_is_given_is_read_as_in_the_fit_and_not_by_its_looks(kwargs, tmp_path):
    ensemble, X, logits = given_logits(**kwargs)
    assert ensemble.inputs_.given_as == {"p": "logits"}
    looks = np.array([[0.2, 0.3, 0.5]])  # logits that look like probabilities
    alone = ensemble.predict_proba({"a": X[:1], "p": looks})
    among = ensemble.predict_proba({"a": X[:2], "p": np.vstack([looks, logits[1:2]])})
    np.testing.assert_allclose(alone[0], among[0], atol=1e-12)
    ensemble.save(tmp_path / "m")
    again = LayerEnsemble.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba({"a": X[:1], "p": looks}), alone)


def test_probabilities_where_the_fit_had_logits_are_an_error():
    ensemble, X, logits = given_logits()
    with pytest.raises(ValueError, match="'p' holds probabilities; the fit had logits"):
        ensemble.predict({"a": X, "p": softmax(logits)})


def test_logits_where_the_fit_had_probabilities_are_an_error():
    ensemble, X, logits = given_logits(form=softmax)
    assert ensemble.inputs_.given_as == {"p": "probabilities"}
    with pytest.raises(ValueError, match="'p' has rows that are not probabilities"):
        ensemble.predict({"a": X, "p": logits})
    with pytest.raises(ValueError, match="'p' has rows that are not probabilities"):
        ensemble.predict({"a": X[:1], "p": logits[:1]})


def test_training_and_held_out_samples_are_given_in_the_same_form():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X, z = rng.normal(size=(60, 2)) + 3 * y[:, None], rng.normal(size=(60, 2))
    train, held_out = {"a": X[:40], "p": z[:40]}, {"a": X[40:], "p": softmax(z[40:])}
    for first, second in ((train, held_out), (held_out, train)):
        ensemble = LayerEnsemble(given=["p"], random_state=0)
        labels = [y[:40], y[40:]] if first is train else [y[40:], y[:40]]
        with pytest.raises(ValueError, match=r"holds probabilities|are not probabilities"):
            ensemble.fit(first, labels[0], validation=(second, labels[1]))


def test_the_form_of_files_of_an_earlier_version_is_found_by_its_looks():
    ensemble, X, logits = given_logits()
    arrays, settings = ensemble.to_state()
    del settings["given_as"]
    again = LayerEnsemble.from_state(arrays, settings)
    for given in (logits, softmax(logits)):
        np.testing.assert_allclose(
            again.predict_proba({"a": X, "p": given}),
            ensemble.predict_proba({"a": X, "p": logits}),
            atol=1e-7,
        )


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


def test_held_out_samples_of_another_scale_are_noticed():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 3)) + 3 * y[:, None]
    layers, held_out = {"pixels": X[:80]}, {"pixels": 255 * X[80:]}
    with pytest.warns(
        ReheadWarning, match=r"another scale .* of pixels is 4\d\d there and 1\.\d+ here"
    ):
        LayerEnsemble("sample", weights="equal").fit(layers, y[:80], (held_out, y[80:]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LayerEnsemble("sample", weights="equal").fit(layers, y[:80], ({"pixels": X[80:]}, y[80:]))


def test_held_out_samples_without_labels_are_named(blobs):
    X, y = blobs(sizes=(60, 60), d=3)
    layers, two = {"a": X, "b": X[:, :2]}, {"a": X[::3], "b": X[::3, :2]}
    for wrong in (two, X, [two], (X[::3], y[::3])):
        with pytest.raises(ValueError, match=r"validation must be a pair, \(layers, labels\)"):
            LayerEnsemble().fit(layers, y, validation=wrong)
    with pytest.raises(ValueError, match="got layers without labels"):
        LayerEnsemble().fit(layers, y, validation=two)


def test_where_trusted_labels_were_is_remembered():
    inputs = LayerInputs(["a"], [])
    inputs.first({"a": np.ones((4, 2))})
    assert "known_from" not in inputs.to_json()  # an earlier version can read the file
    inputs.known_from = {"trusted": "checked"}
    again = LayerInputs.from_json(inputs.to_json(), [], {"a": 2})
    assert again.known_from == {"trusted": "checked"}
    with pytest.raises(ValueError, match="known_from"):
        LayerInputs.from_json({**inputs.to_json(), "known_from": {"trusted": 1}}, [], {"a": 2})
