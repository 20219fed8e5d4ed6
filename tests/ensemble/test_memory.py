"""Layers are large: what an ensemble holds beside them is little."""

import tracemalloc

import numpy as np
import pytest

from rehead import LayerEnsemble, score_labels

N, D, N_LAYERS = 52_000, 64, 3


@pytest.fixture(scope="module")
def layers():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=N)
    means = rng.normal(size=(N_LAYERS, 3, D)).astype(np.float32)
    X = {
        f"layer{i}": rng.normal(size=(N, D)).astype(np.float32) + means[i][y]
        for i in range(N_LAYERS)
    }
    return X, np.where(rng.random(N) < 0.3, rng.integers(3, size=N), y)


def rows(layers, part):
    return {name: X[part] for name, X in layers.items()}


def peak_share(work, layers):
    """Peak of what is allocated, as a share of the layers; and what the work gave."""
    tracemalloc.start()
    try:
        found = work()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return peak / sum(X.nbytes for X in layers.values()), found


def linear():
    """Trying maps takes a number of bytes that does not depend on the layers."""
    return LayerEnsemble(random_state=0, feature_map="none")


def test_what_a_map_takes_grows_by_less_than_half_of_what_the_layers_do(layers, monkeypatch):
    monkeypatch.setattr("rehead.gaussian.at_hand.IN_MEMORY", 0)
    X, y = layers
    peaks, sizes = [], []
    for n in (6_000, 12_000):
        train = rows(X, slice(0, n))
        validation = rows(X, slice(N - 2000, N)), y[N - 2000 :]
        fit = lambda: LayerEnsemble(random_state=0).fit(train, y[:n], validation)  # noqa: B023, E731
        sizes.append(sum(Z.nbytes for Z in train.values()))
        peaks.append(peak_share(fit, train)[0] * sizes[-1])
    assert peaks[1] - peaks[0] < 0.5 * (sizes[1] - sizes[0])


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
@pytest.mark.parametrize("held_out", [True, False])
def test_a_consensus_holds_less_than_half_of_its_layers(layers, held_out, monkeypatch):
    """Beside a fixed number of bytes, which would be all of layers as small as these."""
    monkeypatch.setattr("rehead.gaussian.at_hand.IN_MEMORY", 0)
    X, y = layers
    train, last = rows(X, slice(0, N - 2000)), slice(N - 2000, N)
    validation = (rows(X, last), y[last]) if held_out else None
    share, model = peak_share(lambda: linear().fit(train, y[: N - 2000], validation), train)
    assert share < 0.5
    assert ("stack" in model.members_) == held_out  # joined layers are in it
    assert peak_share(lambda: model.predict_proba(train), train)[0] < 0.5
    assert peak_share(lambda: score_labels(model, train, y[: N - 2000]), train)[0] < 0.5
