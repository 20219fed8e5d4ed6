import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

from rehead import ReheadWarning
from rehead.torch import extract_features
from tests.torch.conftest import KINDS


class TestWhatIsExtracted:
    def test_layers_in_evaluation_mode_without_the_last_partial_batch_lost(self, network, twin):
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

    def test_maps_are_averaged_over_space(self, network, twin):
        case = network("resnet")
        features = extract_features(case.net, case.x, ["layer3", "fc.input"])
        twin(features.layers["layer3"], features.layers["fc.input"])
        assert features.layers["layer3"].dtype == np.float32

    def test_1d_maps_have_features_second_and_tokens_last(self, network):
        case = network("conv1d")
        assert extract_features(case.net, case.x, ["3"]).layers["3"].shape == (60, 9)
        case = network("transformer")
        layer = "encoder.layers.1"
        assert extract_features(case.net, case.x, [layer]).layers[layer].shape == (60, 12)

    def test_3d_maps_are_averaged_too(self, twin):
        net = nn.Sequential(nn.Conv3d(2, 4, 1), nn.Flatten(), nn.Linear(32, 2))
        x = torch.randn(6, 2, 2, 2, 2)
        twin(extract_features(net, x, ["0"]).layers["0"], net[0](x).mean((2, 3, 4)).detach())

    def test_first_token_flatten_and_functions(self, network, twin):
        case = network("transformer")
        layer = "encoder.layers.0"
        states = extract_features(case.net, case.x, [layer], pool="flatten").layers[layer]
        first = extract_features(case.net, case.x, [layer], pool="first").layers[layer]
        twin(first, states.reshape(60, 7, 12)[:, 0])
        largest = extract_features(case.net, case.x, [layer], pool=lambda t: t.amax(1)).layers[
            layer
        ]
        twin(largest, states.reshape(60, 7, 12).max(1))

    def test_attention_mask(self, twin):
        class Masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding, self.out = nn.Embedding(9, 4), nn.Linear(4, 2)

            def forward(self, input_ids, attention_mask):
                return self.out(self.embedding(input_ids).mean(1))

        net = Masked()
        tokens = torch.randint(0, 9, (3, 5))
        mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]])
        batch = {"input_ids": tokens, "attention_mask": mask, "labels": ["a", "b", "a"]}
        features = extract_features(net, [batch], ["embedding"])
        expected = [
            net.embedding(t[: m.sum()]).mean(0).tolist() for t, m in zip(tokens, mask, strict=True)
        ]
        twin(features.layers["embedding"], expected)
        assert features.labels.tolist() == ["a", "b", "a"]

    def test_tuple_outputs(self, network, twin):
        case = network("tuple")
        features = extract_features(case.net, case.x, ["rnn"])
        with torch.no_grad():
            logits, states = case.net(case.x)
        twin(features.layers["rnn"], states.mean(1))
        twin(features.outputs, logits)

    def test_input_functions_and_other_encoders_are_taps(self, network, twin):
        case = network("resnet", 12)
        encoder = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(192, 5)).train()
        layers = {"pixels": "input", "colour": lambda x: x.mean((2, 3)), "other": encoder}
        features = extract_features(case.net, case.x, layers)
        twin(features.layers["pixels"], case.x.flatten(1))
        twin(features.layers["colour"], case.x.mean((2, 3)))
        twin(features.layers["other"], encoder.eval()(case.x).detach())


class TestTheNetworkIsLeftAsItWas:
    @pytest.mark.parametrize("fails", [False, True])
    def test_flags_hooks_weights_and_random_state(self, network, fails):
        case = network("mlp")
        case.net.train()
        case.net[2].eval()
        weights = {name: t.clone() for name, t in case.net.state_dict().items()}
        states = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
        x = torch.randn(4, 99) if fails else case.x
        torch.set_rng_state(states[0])
        loader = DataLoader(TensorDataset(x, case.y[: len(x)]), batch_size=16, shuffle=True)
        if fails:
            with pytest.raises(RuntimeError):
                extract_features(case.net, loader, ["1"])
        else:
            extract_features(case.net, loader)
        assert [m.training for m in case.net] == [True, True, False, True, True, True]
        assert not any(m._forward_hooks or m._forward_pre_hooks for m in case.net.modules())
        assert all(torch.equal(t, weights[name]) for name, t in case.net.state_dict().items())
        assert torch.equal(torch.get_rng_state(), states[0])
        assert (np.random.get_state()[1] == states[1]).all()
        assert random.getstate() == states[2]
        assert all(p.grad is None for p in case.net.parameters())


class TestLoaders:
    def test_all_forms_give_the_same_features(self, network):
        case = network("mlp", 30)
        x, y = case.x, case.y
        dataset = TensorDataset(x, y)
        loaders = [
            (x, y),
            (x.numpy(), y.numpy()),
            DataLoader(dataset, batch_size=7),
            DataLoader(dataset, batch_size=7, shuffle=True),
            [(x[:11], y[:11]), (x[11:], y[11:])],
            ((x[i : i + 4], y[i : i + 4]) for i in range(0, 30, 4)),
            [{"input": x[:20], "label": y[:20]}, {"input": x[20:], "label": y[20:]}],
        ]
        for loader in loaders:
            features = extract_features(case.net, loader, ["4"])
            np.testing.assert_allclose(
                features.layers["4"], extract_features(case.net, x, ["4"]).layers["4"], atol=1e-6
            )
            assert features.labels.tolist() == y.tolist()
            assert features.ids.tolist() == list(range(30))
            assert features.numbered

    def test_ids_of_the_loader_are_kept_through_shuffling_batches(self, network):
        case = network("mlp", 6)
        order = [3, 1, 5, 0, 4, 2]
        batches = [(case.x[[i]], [f"class {case.y[i]}"], [f"img{i}.png"]) for i in order]
        features = extract_features(case.net, batches, ["4"])
        assert features.ids.tolist() == [f"img{i}.png" for i in order]
        assert features.labels.tolist() == [f"class {case.y[i]}" for i in order]
        assert not features.numbered

    def test_an_unusual_sampler_is_read_as_it_comes_with_a_warning(self, network):
        case = network("mlp", 8)
        sampler = WeightedRandomSampler([1.0] * 8, 8)
        loader = DataLoader(TensorDataset(case.x, case.y), batch_size=4, sampler=sampler)
        with pytest.warns(ReheadWarning, match=r"WeightedRandomSampler.*\(x, y, id\)"):
            extract_features(case.net, loader, ["4"])


class TestWrappedAndReduced:
    def test_compiled_and_parallel_networks_are_looked_through(self, network, twin):
        case = network("mlp")
        plain = extract_features(case.net, case.x, ["4"]).layers["4"]
        compiled = torch.compile(case.net)
        twin(extract_features(compiled, case.x, ["4"]).layers["4"], plain)
        parallel = nn.DataParallel(case.net)
        twin(extract_features(parallel, case.x, {"4": "module.4"}).layers["4"], plain)

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
    def test_half_precision_gives_float32_features(self, network, dtype):
        case = network("resnet", 9)
        plain = extract_features(case.net, case.x, ["fc.input"]).layers["fc.input"]
        half = extract_features(case.net.to(dtype), case.x, ["fc.input"]).layers["fc.input"]
        assert half.dtype == np.float32
        np.testing.assert_allclose(half, plain, atol=0.05)

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_a_quantised_network(self, network):
        case = network("mlp")
        quantised = torch.ao.quantization.quantize_dynamic(case.net, {nn.Linear}, dtype=torch.qint8)
        plain = extract_features(case.net, case.x, ["4"]).layers["4"]
        close = extract_features(quantised, case.x, ["4"]).layers["4"]
        np.testing.assert_allclose(close, plain, atol=0.1)


class TestErrors:
    def test_unknown_layer_with_the_nearest_name(self, network):
        case = network("resnet")
        with pytest.raises(ValueError, match="Did you mean 'layer2'"):
            extract_features(case.net, case.x, ["layr2"])

    def test_a_layer_without_a_tensor(self):
        class Nothing(nn.Module):
            def forward(self, x):
                return None

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.nothing, self.out = Nothing(), nn.Linear(2, 2)

            def forward(self, x):
                self.nothing(x)
                return self.out(x)

        with pytest.raises(TypeError, match=r"'nothing' gives no tensor.*Choose another"):
            extract_features(Net(), torch.ones(3, 2), ["nothing"])

    def test_a_layer_that_took_no_part(self):
        net = nn.Sequential(nn.Linear(2, 2))
        net[0].spare = nn.Linear(2, 2)
        with pytest.raises(ValueError, match="took no part"):
            extract_features(net, torch.ones(3, 2), ["0.spare"])

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

    @pytest.mark.parametrize("loader", [[], torch.empty(0, 5), iter(())])
    def test_an_empty_loader(self, network, loader):
        with pytest.raises(ValueError, match="loader is empty"):
            extract_features(network("mlp").net, loader, ["1"])

    def test_too_many_parts(self, network):
        with pytest.raises(ValueError, match=r"4 parts; expected x, \(x, y\)"):
            extract_features(network("mlp").net, [(1, 2, 3, 4)], ["1"])

    def test_labels_of_another_length(self, network):
        case = network("mlp", 4)
        with pytest.raises(ValueError, match="4 inputs but 3 labels"):
            extract_features(case.net, [(case.x, case.y[:3])], ["1"])

    def test_an_unclear_3d_output(self):
        net = nn.Sequential(nn.Identity(), nn.Flatten(), nn.Linear(6, 2))
        with pytest.raises(ValueError, match=r"pool='channels' or pool='tokens'"):
            extract_features(net, torch.ones(4, 2, 3), ["0"])
        assert extract_features(net, torch.ones(4, 2, 3), ["0"], pool="tokens").layers[
            "0"
        ].shape == (4, 3)

    def test_not_a_loader(self, network):
        with pytest.raises(TypeError, match="Cannot read batches from int"):
            extract_features(network("mlp").net, 3, ["1"])


@pytest.mark.parametrize("kind", KINDS)
def test_auto_takes_layers_of_any_network(network, kind):
    case = network(kind)
    features = extract_features(case.net, case.x)
    assert 1 <= len(features.layers) <= 4
    assert list(features.layers)[-1].endswith(".input")
    assert all(f.shape[0] == 60 and f.ndim == 2 for f in features.layers.values())
