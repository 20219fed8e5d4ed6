"""Features as a value, in memory and in a store."""

import numpy as np
import pytest

from rehead.torch import Features, extract_features, open_features


@pytest.fixture
def both(network, tmp_path):
    """The same features in memory and in a store."""
    case = network("mlp", 20)
    batches = [(case.x, case.y, [f"img{i}" for i in range(20)])]
    plain = extract_features(case.net, batches)
    extract_features(case.net, batches, store=tmp_path / "store")
    return plain, open_features(tmp_path / "store")


def test_a_store_is_used_as_memory_is(both):
    plain, stored = both
    assert isinstance(stored, Features)
    assert len(stored) == len(plain) == 20
    assert stored.numbered == plain.numbered
    assert stored.n_outputs == plain.n_outputs == 3
    assert len(stored.layers) == len(plain.layers)
    assert "no such layer" not in stored.layers
    for name, layer in plain.layers.items():
        np.testing.assert_array_equal(stored.layers[name], layer)
    for name in ("labels", "ids", "outputs"):
        np.testing.assert_array_equal(getattr(stored, name), getattr(plain, name))


def test_labels_where_they_are_needed(network):
    case = network("mlp", 20)
    features = extract_features(case.net, case.x)
    with pytest.raises(ValueError, match=r"The audited loader gives no labels.*keys="):
        features.labels_for("audited")
