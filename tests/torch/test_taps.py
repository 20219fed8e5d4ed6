"""Where features are taken, and that the network is left as it was."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from rehead.torch import extract_features
from rehead.torch.taps import resolve_taps, unwrap


class TestWhereFeaturesAreTaken:
    def test_input_functions_and_other_encoders_are_taps(self, network, twin):
        case = network("resnet", 12)
        encoder = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(192, 5)).train()
        layers = {"pixels": "input", "colour": lambda x: x.mean((2, 3)), "other": encoder}
        features = extract_features(case.net, case.x, layers, pool={"pixels": "flatten"})
        twin(features.layers["pixels"], case.x.flatten(1))
        twin(features.layers["colour"], case.x.mean((2, 3)))
        assert encoder.training
        twin(features.layers["other"], encoder.eval()(case.x).detach())

    def test_tuple_outputs(self, network, twin):
        case = network("tuple")
        features = extract_features(case.net, case.x, ["rnn"])
        with torch.no_grad():
            logits, states = case.net(case.x)
        twin(features.layers["rnn"], states.mean(1))
        twin(features.outputs, logits)

    def test_what_goes_into_a_layer_by_keyword(self, twin):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.out = nn.Linear(3, 2)

            def forward(self, x):
                return self.out(input=2 * x)

        x = torch.randn(4, 3)
        twin(extract_features(Net(), x, ["out.input"]).layers["out.input"], 2 * x)

    def test_a_module_called_input_is_a_layer(self, twin):
        net = nn.ModuleDict({"input": nn.Linear(3, 4), "out": nn.Linear(4, 2)})
        net.forward = lambda x: net["out"](net["input"](x))
        x = torch.randn(5, 3)
        found = extract_features(net, x, ["input"]).layers["input"]
        twin(found, net["input"](x).detach())


class TestWrappedAndReduced:
    def test_compiled_and_parallel_networks_are_looked_through(self, network, twin):
        case = network("mlp")
        plain = extract_features(case.net, case.x, ["4"]).layers["4"]
        compiled = torch.compile(case.net)
        twin(extract_features(compiled, case.x, ["4"]).layers["4"], plain)
        parallel = nn.DataParallel(case.net)
        twin(extract_features(parallel, case.x, {"4": "module.4"}).layers["4"], plain)
        assert unwrap(nn.DataParallel(compiled)) is case.net

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


class TestErrors:
    def test_unknown_layer_with_the_nearest_name(self, network):
        case = network("resnet")
        with pytest.raises(ValueError, match="Did you mean 'layer2'"):
            extract_features(case.net, case.x, ["layr2"])

    def test_a_single_name_is_a_layer(self, network):
        net = network("resnet").net
        assert resolve_taps(net, "layer2") == resolve_taps(net, ["layer2"])

    def test_no_layers_and_what_is_no_layer(self, network):
        net = network("mlp").net
        with pytest.raises(ValueError, match="No layers were given"):
            resolve_taps(net, [])
        with pytest.raises(ValueError, match="'x' is 3: neither a name nor a function"):
            resolve_taps(net, {"x": 3})

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

    def test_hidden_states_of_a_network_that_gives_none(self):
        class Net(nn.Linear):
            def forward(self, x, output_hidden_states=False, return_dict=False):
                return SimpleNamespace(logits=super().forward(x))

        with pytest.raises(ValueError, match="needs a network that returns hidden_states"):
            extract_features(Net(2, 2), torch.ones(3, 2), ["hidden_states.1"])
