"""Features of all samples in one pass: what is extracted, in memory and to a store."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from rehead.files.store import FeatureStore, StoreError, StoreWriter
from rehead.torch import extract_features, open_features
from tests.torch.conftest import KINDS


def test_layers_in_evaluation_mode_without_the_last_partial_batch_lost(network, twin):
    case = network("mlp", 23)
    case.net.train()
    loader = DataLoader(TensorDataset(case.x, case.y), batch_size=5, drop_last=True)
    features = extract_features(case.net, loader, ["1", "4"])
    case.net.eval()
    with torch.no_grad():
        hidden = case.net[:2](case.x)
    twin(features.layers["1"], hidden)
    twin(features.outputs, case.net(case.x).detach())
    assert features.layers["4"].shape == (23, 7)
    assert features.labels.tolist() == case.y.tolist()
    assert len(features) == 23


@pytest.mark.parametrize("kind", KINDS)
def test_auto_takes_layers_of_any_network(network, kind):
    case = network(kind)
    features = extract_features(case.net, case.x)
    assert 2 <= len(features.layers) <= 6
    assert list(features.layers)[-1].endswith(".input")
    assert all(f.shape[0] == 60 and f.ndim == 2 for f in features.layers.values())


@pytest.mark.parametrize(
    ("kind", "witness", "width"),
    [
        ("mlp", ["input"], None),
        ("resnet", ["input"], 48),
        ("transformer", ["input"], 512),
    ],
)
def test_auto_is_the_hidden_layers_and_a_witness(network, twin, kind, witness, width):
    case = network(kind)
    hidden = extract_features(case.net, case.x, "hidden").layers
    auto = extract_features(case.net, case.x).layers
    assert list(auto) == [*witness, *hidden]
    assert list(extract_features(case.net, case.x, "auto+input").layers) == list(auto)
    if width is None:
        twin(auto["input"], case.x)
    else:
        assert auto["input"].shape == (60, width)
    for name, features in hidden.items():
        np.testing.assert_array_equal(auto[name], features)


def test_each_layer_can_be_pooled_its_own_way(network):
    case = network("transformer")
    layers = ["encoder.layers.0", "encoder.layers.1"]
    features = extract_features(case.net, case.x, layers, pool={layers[0]: "flatten"}).layers
    assert [features[name].shape for name in layers] == [(60, 84), (60, 12)]
    with pytest.raises(ValueError, match=r"layer in pool must be one of .*Did you mean"):
        extract_features(case.net, case.x, layers, pool={"encoder.layers.2": "first"})


def test_the_name_of_a_layer_is_enough(network):
    case = network("mlp", 4)
    assert list(extract_features(case.net, case.x, "4").layers) == ["4"]


class TestErrors:
    def test_a_layer_with_another_batch_size(self, network):
        case = network("conv1d")
        with pytest.raises(ValueError, match=r"'3' gives 30 rows for a batch of 60"):
            extract_features(case.net, case.x, ["3"], pool=lambda t: t[::2].mean(2))

    def test_nan_features_name_layer_and_id(self, network):
        case = network("mlp", 4)
        case.x[2] = torch.nan
        batches = [(case.x, case.y, ["a", "b", "c", "d"])]
        with pytest.raises(ValueError, match=r"'1' gives NaN.* id .*'c'"):
            extract_features(case.net, batches, ["1"])

    @pytest.mark.parametrize("net", [lambda x: x, torch.nn.Linear, None])
    def test_what_is_no_network(self, net):
        with pytest.raises(TypeError, match=r"net must be an nn.Module, got"):
            extract_features(net, torch.zeros(2, 3))

    def test_a_word_that_is_neither_a_layer_nor_a_choice(self, network):
        case = network("mlp", 4)
        with pytest.raises(ValueError, match=r"no layer 'atuo'. Did you mean 'auto'"):
            extract_features(case.net, case.x, "atuo")

    @pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
    def test_whole_numbers_for_a_network_that_wants_others(self, network, dtype):
        case = network("resnet", 4)
        with pytest.raises(TypeError, match=rf"of type {str(dtype)[6:]};.*x.float\(\) / 255"):
            extract_features(case.net, (case.x * 99).to(dtype), ["fc.input"])


class TestOutputs:
    """What the network itself returns, of whatever kind."""

    @pytest.mark.parametrize("order", ["tuple", "reversed", "dict", "dataclass", "fourth axis"])
    def test_the_logits_are_found(self, network, twin, order):
        case = network("mlp")
        net = Returns(case.net, order)
        found = extract_features(net, (case.x, case.y), ["net.4"])
        twin(found.outputs, case.net(case.x).detach())

    def test_an_encoder_of_tokens_has_none(self, network):
        case = network("transformer")
        net = torch.nn.Sequential(case.net.embedding, case.net.encoder)
        batches = [case.x[:30], case.x[30:, :5]]  # tokens padded to different lengths
        found = extract_features(net, batches, ["1"])
        assert found.outputs.shape == (60, 0)
        assert found.layers["1"].shape == (60, 12)

    def test_double_precision_and_a_half_network(self, network, twin):
        case = network("mlp")
        plain = extract_features(case.net, case.x, ["input", "4"]).layers
        double = extract_features(case.net, case.x.double().numpy(), ["input", "4"]).layers
        encoder = torch.nn.Linear(5, 2)
        half = extract_features(
            case.net.half(), case.x, {"input": "input", "4": "4", "other": encoder}
        ).layers
        for name in plain:
            twin(double[name], plain[name])
            twin(half[name], plain[name], atol=0.01)
        twin(half["input"], case.x)  # the raw input is not rounded
        twin(half["other"], encoder(case.x).detach())


@dataclass
class Output:
    embedding: torch.Tensor
    logits: torch.Tensor


class Returns(torch.nn.Module):
    """Returns features and logits in several ways."""

    def __init__(self, net, order):
        super().__init__()
        self.net, self.order = net, order

    def forward(self, x):
        logits = self.net(x)
        features = torch.zeros(len(x), 16)
        return {
            "tuple": lambda: (logits, features),
            "reversed": lambda: (features, logits),
            "dict": lambda: {"embedding": features[:, :2], "logits": logits},
            "dataclass": lambda: Output(features[:, :2], logits),
            "fourth axis": lambda: logits[:, :, None, None],
        }[self.order]()


def batches(case, size=10, stop=None):
    for i, a in enumerate(range(0, len(case.x), size)):
        if i == stop:
            raise KeyboardInterrupt
        ids = [f"img{j}" for j in range(a, min(a + size, len(case.x)))]
        yield case.x[a : a + size], case.y[a : a + size], ids


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


class TestStore:
    """Features that go to a store: the same as in memory, and the same after a break."""

    @pytest.fixture(autouse=True)
    def small_shards(self, monkeypatch):
        init = StoreWriter.__init__
        monkeypatch.setattr(
            StoreWriter, "__init__", lambda self, *a, **k: init(self, *a, **k, shard_rows=25)
        )

    def test_the_store_holds_what_memory_would(self, network, tmp_path):
        case = network("resnet", 64)
        plain = extract_features(case.net, batches(case))
        stored = extract_features(case.net, batches(case), store=tmp_path)
        for found in (stored, open_features(tmp_path)):
            assert list(found.layers) == list(plain.layers)
            assert "no such layer" not in found.layers
            for name, layer in plain.layers.items():
                np.testing.assert_array_equal(found.layers[name], layer)
            assert found.ids.tolist() == plain.ids.tolist()
            assert found.labels.tolist() == plain.labels.tolist()
            np.testing.assert_array_equal(found.outputs, plain.outputs)
            assert found.numbered == plain.numbered
            assert len(found) == 64
        FeatureStore(tmp_path, verify=True)

    @pytest.mark.parametrize("stop", [0, 1, 3, 4, 6])
    def test_after_a_break_it_ends_bit_identical(self, network, tmp_path, stop):
        case = network("resnet", 64)
        layers = ["layer2", "fc.input"]
        extract_features(case.net, batches(case), layers, store=tmp_path / "whole")
        broken = batches(case, stop=stop)
        with pytest.raises(KeyboardInterrupt):
            extract_features(case.net, broken, layers, store=tmp_path / "broken")
        runs = []
        handle = case.net.register_forward_hook(lambda *_: runs.append(1))
        extract_features(case.net, batches(case), layers, store=tmp_path / "broken")
        handle.remove()
        assert content(tmp_path / "broken") == content(tmp_path / "whole")
        on_disk = stop // 3 * 3  # batches, of which the first alone is run again, to be compared
        assert len(runs) == 7 - on_disk + (on_disk > 0)

    def test_other_batches_are_refused(self, network, tmp_path):
        case = network("mlp", 64)
        with pytest.raises(KeyboardInterrupt):
            extract_features(case.net, batches(case, stop=4), ["1"], store=tmp_path)
        with pytest.raises(StoreError, match="batch size that the store was begun with"):
            extract_features(case.net, batches(case, size=16), ["1"], store=tmp_path)

    def test_a_store_of_another_network_is_refused(self, network, tmp_path):
        case = network("mlp", 64)
        extract_features(case.net, batches(case), ["1"], store=tmp_path)
        with torch.no_grad():
            case.net[0].bias += 1
        with pytest.raises(StoreError, match="another network"):
            extract_features(case.net, batches(case), ["1"], store=tmp_path)
