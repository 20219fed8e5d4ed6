"""Features that go to a store: the same as in memory, and the same after a break."""

from pathlib import Path

import numpy as np
import pytest
import torch

from rehead import store as stores
from rehead.files.store import FeatureStore, StoreError
from rehead.torch import extract_features


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    init = stores.StoreWriter.__init__
    monkeypatch.setattr(
        stores.StoreWriter, "__init__", lambda self, *a, **k: init(self, *a, **k, shard_rows=25)
    )


def batches(case, size=10, stop=None):
    for i, a in enumerate(range(0, len(case.x), size)):
        if i == stop:
            raise KeyboardInterrupt
        ids = [f"img{j}" for j in range(a, min(a + size, len(case.x)))]
        yield case.x[a : a + size], case.y[a : a + size], ids


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_store_holds_what_memory_would(network, tmp_path):
    case = network("resnet", 64)
    plain = extract_features(case.net, batches(case))
    stored = extract_features(case.net, batches(case), store=tmp_path)
    assert list(stored.layers) == list(plain.layers)
    for name, layer in plain.layers.items():
        np.testing.assert_array_equal(stored.layers[name], layer)
    assert stored.ids.tolist() == plain.ids.tolist()
    assert stored.labels.tolist() == plain.labels.tolist()
    np.testing.assert_array_equal(stored.outputs, plain.outputs)
    assert len(stored) == 64
    FeatureStore(tmp_path, verify=True)


@pytest.mark.parametrize("stop", [0, 1, 3, 4, 6])
def test_after_a_break_it_ends_bit_identical(network, tmp_path, stop):
    case = network("resnet", 64)
    extract_features(case.net, batches(case), ["layer2", "fc.input"], store=tmp_path / "whole")
    broken = batches(case, stop=stop)
    with pytest.raises(KeyboardInterrupt):
        extract_features(case.net, broken, ["layer2", "fc.input"], store=tmp_path / "broken")
    runs = []
    handle = case.net.register_forward_hook(lambda *_: runs.append(1))
    extract_features(case.net, batches(case), ["layer2", "fc.input"], store=tmp_path / "broken")
    handle.remove()
    assert content(tmp_path / "broken") == content(tmp_path / "whole")
    assert len(runs) == 7 - stop // 3 * 3  # what was on disk was not computed again


def test_other_batches_are_refused(network, tmp_path):
    case = network("mlp", 64)
    with pytest.raises(KeyboardInterrupt):
        extract_features(case.net, batches(case, stop=4), ["1"], store=tmp_path)
    with pytest.raises(StoreError, match="batch size that the store was begun with"):
        extract_features(case.net, batches(case, size=16), ["1"], store=tmp_path)


def test_a_store_of_another_network_is_refused(network, tmp_path):
    case = network("mlp", 64)
    extract_features(case.net, batches(case), ["1"], store=tmp_path)
    with torch.no_grad():
        case.net[0].bias += 1
    with pytest.raises(StoreError, match="another network"):
        extract_features(case.net, batches(case), ["1"], store=tmp_path)
