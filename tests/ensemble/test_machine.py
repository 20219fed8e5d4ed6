"""Layers whose labels a machine made: held-out labels and the softmax decide nothing."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from rehead import LayerEnsemble, score_labels
from rehead.ensemble.machine import share_found
from rehead.gaussian import group_by_class


@pytest.fixture
def tilted():
    rng = np.random.default_rng(1)
    true = rng.integers(2, size=1000)
    X = rng.normal(size=(1000, 3)) + 4.5 * true[:, None] * np.array([1.0, 0.0, 0.0])
    y = (X @ [1.0, 1.0, 0.0] > 2.25).astype(int)
    return X, true, y


def test_what_is_given_counts_nothing_for_a_machine(tilted):
    X, true, y = tilted
    softmax = np.eye(2)[y] * 0.98 + 0.01
    ens = LayerEnsemble(labels_from="machine", given=["softmax"], random_state=0)
    ens.fit({"x": X, "softmax": softmax}, y)
    assert ens.weights_.tolist() == [1.0, 0.0]
    assert ens.score({"x": X, "softmax": softmax}, true) > 0.97


def test_held_out_labels_decide_nothing(tilted):
    X, _, y = tilted
    layers = {"x": X[:800], "deep": X[:800] * 2.0 + np.eye(2)[y[:800]] @ np.ones((2, 3))}
    held = {"x": X[800:], "deep": X[800:] * 2.0}
    fits = [
        LayerEnsemble(labels_from="machine", random_state=0).fit(layers, y[:800], validation=v)
        for v in (None, (held, y[800:]), (held, 1 - y[800:]))
    ]
    first, *others = (ens.predict_proba(layers) for ens in fits)
    assert all((p == first).all() for p in others)
    assert fits[0].consensus_.judges == ["x"]


def test_a_layer_that_repeats_another_counts_once(tilted):
    X, _, y = tilted
    ens = LayerEnsemble(labels_from="machine", random_state=0).fit({"x": X, "again": X.copy()}, y)
    assert ens.members_ == ["x"]


def test_a_first_layer_that_knows_nothing_does_not_judge(tilted):
    X, true, _ = tilted
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(true)) < 0.2, 1 - true, true)
    layers = {"noise": rng.normal(size=X.shape), "one": X, "two": X[:, :2] * 3.0}
    ens = LayerEnsemble(labels_from="machine", random_state=0).fit(layers, y)
    assert ens.consensus_.judges == ["one"]
    assert ens.weights_ == pytest.approx(1 / 3)
    assert roc_auc_score(y == true, score_labels(ens, layers, y).quality) > 0.95


def test_what_a_layer_finds_does_not_depend_on_the_number_of_classes():
    rng = np.random.default_rng(0)
    for n_classes in (2, 20):
        y = np.arange(2000) % n_classes
        layers = {"chance": rng.normal(size=(2000, 20)), "knows": rng.normal(size=(2000, 20))}
        layers["knows"] += 8.0 * np.eye(20)[y]
        ens = LayerEnsemble(labels_from="machine", random_state=0).fit(layers, y)
        found = [
            share_found(ens.fitted_.members[name], group_by_class(X, y, n_classes))
            for name, X in layers.items()
        ]
        assert abs(found[0]) < 0.1
        assert found[1] > 0.99
