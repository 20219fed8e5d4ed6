"""Trusted labels are asked about whole ensembles, and weigh members of a machine's labels."""

import warnings

import numpy as np
import pytest

from rehead import LayerEnsemble, ReheadWarning

N, C = 1500, 4


def one_hot(codes, sure=0.97):
    return np.where(np.eye(C)[codes] > 0, sure, (1.0 - sure) / (C - 1))


@pytest.fixture(scope="module")
def copied():
    """Clusters, a machine that is wrong in a tilted way, and a network that knows it by heart."""
    rng = np.random.default_rng(0)
    true = rng.integers(C, size=N)
    centres = 4.5 * np.eye(C, 6)
    X = rng.normal(size=(N, 6)) + centres[true]
    made = (X @ centres.T + np.array([14.0, 0.0, 8.0, 0.0])).argmax(axis=1)
    memory = X + np.eye(C, 6)[made]
    layers = {"input": X, "deep": memory, "softmax": one_hot(made)}
    drawn = np.zeros(N, bool)
    drawn[rng.choice(1000, 100, replace=False)] = True
    return layers, true, np.where(drawn, true, made), made, drawn


def part(layers, rows):
    return {name: X[rows] for name, X in layers.items()}


def fit(copied, **options):
    layers, _, y, made, drawn = copied
    train, held = slice(0, 1000), slice(1000, 1250)
    model = LayerEnsemble(random_state=0, given=["softmax"], **options)
    trusted = drawn[train]
    return model.fit(
        part(layers, train), y[train], validation=(part(layers, held), made[held]), trusted=trusted
    )


def test_a_softmax_that_copies_the_machine_does_not_speak_for_itself(copied):
    layers, true, _, made, _ = copied
    new = slice(1250, N)
    assert (made != true)[new].mean() > 0.05
    told = fit(copied)
    assert told.estimators_["input"].fitted_.way != ""
    assert "100 trusted labels chose" in told.explain()
    machine = (made == true)[new].mean()
    assert told.score(part(layers, new), true[new]) > machine + 0.03


def test_they_weigh_the_members_but_not_who_has_no_voice(copied):
    told = fit(copied)
    weights = dict(zip(told.members_, told.weights_, strict=True))
    assert weights["softmax"] == 0.0
    assert weights["input"] > 0.5  # what it has without them
    assert told.weights_.sum() == pytest.approx(1.0)


def test_only_the_way_that_is_kept_has_something_to_say(copied):
    layers, _, y, _, drawn = copied
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ReheadWarning)
        # A consensus would hold out samples of its own, and say so.
        LayerEnsemble(random_state=0, labels_from="machine", given=["softmax"]).fit(
            layers, y, trusted=drawn
        )
    assert not [w for w in caught if "held out" in str(w.message)]


def test_random_noise_is_no_worse_for_being_asked():
    rng = np.random.default_rng(1)
    true = rng.integers(C, size=N)
    X = rng.normal(size=(N, 6)) + 3.0 * np.eye(C, 6)[true]
    noisy = np.where(rng.random(N) < 0.3, rng.integers(C, size=N), true)
    drawn = np.arange(N) < 100
    layers = {"input": X, "deep": X + 2.0 * np.eye(C, 6)[noisy]}  # which knows its labels by heart
    train, held, new = slice(0, 1000), slice(1000, 1200), slice(1200, N)
    layers["deep"][new] = X[new] + 2.0 * np.eye(C, 6)[true[new]]

    def score(y, **trusted):
        model = LayerEnsemble(random_state=0)
        validation = part(layers, held), noisy[held]
        model.fit(part(layers, train), y[train], validation=validation, **trusted)
        return model.score(part(layers, new), true[new])

    plain, told = score(noisy), score(np.where(drawn, true, noisy), trusted=drawn[train])
    assert told > plain - 0.02
