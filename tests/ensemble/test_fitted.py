"""FittedEnsemble: what judges, mixes and is saved, whichever way it was fitted."""

import numpy as np
import pytest

from rehead import LayerEnsemble, noise
from rehead.ensemble import FittedEnsemble


@pytest.fixture(scope="module")
def layers():
    """Two layers and a softmax of 600 samples, a third of them held out."""
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=600)
    y = noise.flip(true, 0.3, random_state=0).labels
    early = rng.normal(size=(600, 5)) + 2.5 * np.eye(3, 5)[true]
    deep = rng.normal(size=(600, 4)) + 6 * np.eye(3, 4)[np.where(np.arange(600) < 400, y, true)]
    softmax = rng.dirichlet(np.ones(3), size=600) + 0.5 * np.eye(3)[true]
    layers = {"early": early, "deep": deep, "softmax": softmax / 1.5}
    return {n: X[:400] for n, X in layers.items()}, y[:400], layers, y


def fit(layers, **kwargs):
    train, y, every, labels = layers
    held = {n: X[400:] for n, X in every.items()}
    model = LayerEnsemble(random_state=0, given=["softmax"], **kwargs)
    return model.fit(train, y, validation=(held, labels[400:])).fitted_


WAYS = [{}, {"preset": "paper"}, {"weights": "corrected"}, {"estimator": "mcd", "stack": True}]


@pytest.mark.parametrize("kwargs", WAYS, ids=str)
def test_the_state_holds_everything(layers, kwargs):
    fitted = fit(layers, **kwargs)
    again = FittedEnsemble.from_state(*fitted.to_state())
    every, codes = layers[2], layers[3]
    np.testing.assert_array_equal(fitted.posterior(every), again.posterior(every))
    np.testing.assert_array_equal(fitted.log_density(every), again.log_density(every))
    np.testing.assert_array_equal(fitted.typicality(every), again.typicality(every))
    np.testing.assert_array_equal(fitted.whitened(every), again.whitened(every))
    leave_out = np.ones(600, bool)
    for a, b in zip(
        fitted.verdicts(every, codes, leave_out),
        again.verdicts(every, codes, leave_out),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    assert fitted.explain() == again.explain()
    assert (fitted.names, fitted.judging_member, fitted.density_member) == (
        again.names,
        again.judging_member,
        again.density_member,
    )


@pytest.mark.parametrize("kwargs", WAYS, ids=str)
def test_the_posterior_is_the_weighted_mean_of_the_members(layers, kwargs):
    fitted = fit(layers, **kwargs)
    parts = fitted.member_posteriors(layers[2])
    assert len(parts) == len(fitted.names) == len(fitted.weights)
    np.testing.assert_allclose(
        fitted.posterior(layers[2]), np.tensordot(fitted.weights, parts, axes=1), rtol=1e-6
    )


@pytest.mark.parametrize("kwargs", WAYS, ids=str)
def test_rows_of_the_fit_are_known_with_their_labels_only(layers, kwargs):
    fitted = fit(layers, **kwargs)
    _, _, every, codes = layers
    everything = np.ones(600, bool)
    known = fitted.verdicts(every, codes, everything).known
    np.testing.assert_array_equal(known, np.arange(600) < 400)
    assert not fitted.verdicts(every, (codes + 1) % 3, everything).known.any()


def test_a_consensus_is_judged_by_its_judge_with_the_noise_it_found(layers):
    fitted = fit(layers)
    assert fitted.judging_member == "early"  # the other one has memorised its labels
    _, _, every, codes = layers
    leave_out = np.ones(600, bool)
    judge = fitted.members["early"]
    expected = judge.verdicts(every["early"], codes, leave_out, fitted.noise)
    found = fitted.verdicts(every, codes, leave_out)
    np.testing.assert_array_equal(found.quality, expected.quality)
    np.testing.assert_array_equal(fitted.whitened(every), judge.whitened(every["early"]))


def test_typicality_of_layers_that_are_alone_is_their_harmonic_mean(layers):
    fitted = fit(layers, preset="paper")
    every = layers[2]
    p = np.stack([m.typicality(every[n]) for n, m in fitted.members.items()])
    w = fitted.weights[: len(p)]
    np.testing.assert_allclose(fitted.typicality(every), w.sum() / (w @ (1 / p)))
