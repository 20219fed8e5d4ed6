"""Peers as columns, on small tasks with planted wrong labels."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from rehead import RobustGaussianClassifier
from rehead.experiments.columns.peers import (
    FOLDS,
    PEERS,
    first_layer,
    margin,
    out_of_fold,
    peer_columns,
)
from rehead.experiments.peers.deep_knn import deep_knn
from rehead.experiments.peers.hoc import hoc
from rehead.experiments.peers.relation_graph import relation_graph
from rehead.experiments.task import Part, Task

NAMES = [
    "SimiFeat-V, LDA",
    "SimiFeat-R, LDA",
    "WANN",
    "FINE, LDA",
    "deep k-NN, LDA",
    "relation graph, LDA",
    "margin, LDA",
    "GCE probe",
]
WITH_HOC = {"SimiFeat-R, LDA", "margin, LDA"}


def make_part(n, rng, rate):
    true = rng.integers(4, size=n)
    wrong = rng.random(n) < rate
    y = np.where(wrong, (true + rng.integers(1, 4, size=n)) % 4, true)
    good = 6.0 * np.eye(4, 12)[true] + rng.normal(size=(n, 12))
    useless = rng.normal(size=(n, 5))
    return Part({"input": good, "hidden": useless, "last": good}, y), true, wrong


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    train, true, wrong = make_part(600, rng, 0.2)
    test = make_part(300, rng, 0.0)[0]
    return Task(train, train, test, true, wrong, ("hidden", "last"), 4)


def test_names():
    assert list(PEERS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_finds_planted_labels_and_predicts(task, name):
    found = PEERS[name](task)
    assert np.mean(found.labels == task.test.y) > 0.97
    assert roc_auc_score(~task.changed, found.quality) > 0.95
    if name in WITH_HOC:
        assert found.noise_rate == pytest.approx(0.2, abs=0.06)
    else:
        assert found.noise_rate is None
    if name.endswith("LDA"):
        assert found.details["clean_kept"]["last"] > 0.9
        assert 360 < found.details["kept"]["last"] < 570


@pytest.mark.parametrize("name", NAMES)
def test_the_layer_is_a_choice(task, name):
    useless = replace(task, taps=("hidden",))
    assert np.mean(PEERS[name](useless).labels == task.test.y) < 0.5
    first = peer_columns(first_layer, ", first")
    assert np.mean(first[name + ", first"](useless).labels == task.test.y) > 0.97


def test_what_is_flagged_is_thrown_out(task):
    X, y = task.train.layers["last"], task.train.y
    kept = ~deep_knn(X, y, 4).flagged
    model = RobustGaussianClassifier("sample", shrinkage="auto").fit(X[kept], y[kept])
    found = PEERS["deep k-NN, LDA"](task)
    np.testing.assert_array_equal(found.labels, model.predict(task.test.layers["last"]))
    assert found.details["kept"] == {"last": kept.sum()}
    assert found.details["clean_kept"]["last"] == pytest.approx(1 - task.changed[kept].mean())


def test_a_class_that_is_flagged_whole_stays(task):
    """Of five samples in the middle of another class, neighbours flag all."""
    y = np.where(task.train.y == 3, 2, task.train.y)
    y[np.flatnonzero(task.truth == 0)[:5]] = 3
    changed = replace(task, train=replace(task.train, y=y))
    assert deep_knn(task.train.layers["last"], y, 4).flagged[y == 3].all()
    found = PEERS["deep k-NN, LDA"](changed)
    assert 3 in found.labels


def test_relations_use_the_network_where_there_is_one(task):
    logits = np.random.default_rng(1).normal(size=(600, 4))
    with_network = replace(task, train=replace(task.train, outputs=logits))
    found = PEERS["relation graph, LDA"](with_network)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = relation_graph(task.train.layers["last"], task.train.y, p)
    np.testing.assert_allclose(found.quality, expected.quality)


def test_margins_flag_the_share_of_hoc(task):
    X, y = task.train.layers["last"], task.train.y
    found = margin(X, y, 4)
    assert found.flagged.sum() == round(600 * hoc(X, y, 4).rate)
    assert found.quality[found.flagged].max() <= found.quality[~found.flagged].min()


def test_posteriors_are_of_models_that_did_not_see_the_sample(task):
    X, y = task.train.layers["last"], task.train.y
    before = out_of_fold(X, y, 4)
    np.testing.assert_allclose(before.sum(axis=1), 1)
    moved = X.copy()
    moved[0] += 50
    same = np.isclose(out_of_fold(moved, y, 4), before, rtol=1e-9, atol=0).all(axis=1)
    # Models that did not see sample 0 are as before, and they judged the others of its fold.
    assert same.sum() == pytest.approx(len(y) / FOLDS - 1, abs=1)


def test_posteriors_of_classes_without_samples():
    rng = np.random.default_rng(0)
    y = np.array([0] * 30 + [1] * 30 + [4] * 3)
    posterior = out_of_fold(rng.normal(size=(63, 2)) + 5 * y[:, None], y, 5)
    assert posterior.shape == (63, 5)
    assert (posterior[:, [2, 3]] == 0).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1)
