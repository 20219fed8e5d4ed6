"""The weights of a network: known again, and known to be others."""

import threading
from functools import partial

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from rehead.files.persist import ModelFileError
from rehead.torch.models import MODELS
from rehead.torch.weights import KnownWeights, network_fingerprint, network_from_file


def test_the_fingerprint_is_of_weights_and_names(network):
    net, same, other = (network("mlp").net for _ in range(3))
    assert network_fingerprint(net) == network_fingerprint(same)
    with torch.no_grad():
        other[0].bias[0] += 1e-6
    assert network_fingerprint(net) != network_fingerprint(other)
    assert network_fingerprint(net) != network_fingerprint(nn.Sequential(net))


class TestKnownWeights:
    def test_a_copy_has_the_same(self, network):
        assert KnownWeights(network("resnet").net).are_those_of(network("resnet").net)

    def test_a_step_of_training_changes_them(self, network):
        case = network("mlp")
        known = KnownWeights(case.net)
        case.net(case.x).sum().backward()
        torch.optim.SGD(case.net.parameters(), lr=1e-3).step()
        assert not known.are_those_of(case.net)

    def test_data_that_is_written_past_autograd(self, network):
        net = network("mlp").net
        known = KnownWeights(net)
        net[0].bias.data.mul_(1.5)
        assert not known.are_those_of(net)

    def test_statistics_of_batch_norm(self, network):
        case = network("resnet")
        known = KnownWeights(case.net)
        case.net.train()(case.x)
        assert not known.are_those_of(case.net)

    def test_running_it_changes_nothing(self, network):
        case = network("resnet")
        known = KnownWeights(case.net)
        case.net(case.x)
        case.net.train()
        assert known.are_those_of(case.net)

    def test_sums_that_differ_are_looked_at_closely(self, network, monkeypatch):
        """As after a move to another device, which adds up in another order."""
        net = network("mlp").net
        known = KnownWeights(net)
        monkeypatch.setattr("rehead.torch.weights._sums", lambda net: iter([1.0]))
        assert known.are_those_of(net)

    def test_half_precision_does_not_overflow(self):
        net = nn.Linear(1000, 1000).half()
        with torch.no_grad():
            net.weight.fill_(100.0)
        known = KnownWeights(net)
        with torch.no_grad():
            net.weight[0, 0] = 200.0
        assert not known.are_those_of(net)


class TestNetworkFromFile:
    @pytest.fixture
    def path(self, tmp_path):
        save_file(nn.Linear(3, 2).state_dict(), tmp_path / "net.safetensors")
        return tmp_path / "net.safetensors"

    def test_it_has_the_weights_of_the_file(self, path):
        net = network_from_file(lambda: nn.Linear(3, 2), path)
        for name, value in load_file(path).items():
            assert torch.equal(net.state_dict()[name], value)
            assert net.state_dict()[name].device.type == "cpu"

    @pytest.mark.parametrize(
        "make_net",
        [
            lambda: nn.Linear(3, 10**12),
            lambda: nn.Linear(3, 2, bias=False),
            lambda: nn.Sequential(*(nn.Linear(3, 3) for _ in range(10**9))),
            lambda: nn.BatchNorm1d(3),
            lambda: nn.Linear(3, "2"),
            lambda: nn.Linear(2**62, 2**62),
        ],
        ids=["12 TB", "no bias", "without end", "another", "no number", "overflow"],
    )
    def test_another_network_is_refused_before_it_is_made(self, path, make_net):
        with pytest.raises(ModelFileError, match=r"net\.safetensors holds"):
            network_from_file(make_net, path)

    def test_networks_of_other_threads_do_not_count(self, path):
        def make_net():
            thread = threading.Thread(target=lambda: made.append(nn.LSTM(3, 3, 5)))
            thread.start()
            thread.join()
            return nn.Linear(3, 2)

        made = []
        network_from_file(make_net, path)
        assert len(made) == 2

    @pytest.mark.parametrize("name", MODELS)
    def test_every_network_can_be_compared_without_memory(self, name, tmp_path):
        options = {"in_features": 4} if name == "fcn" else {}
        make_net = partial(MODELS[name], 2, **options)
        with torch.device("meta"):
            shapes = {n: v.shape for n, v in make_net().state_dict().items()}
        assert shapes == {n: v.shape for n, v in make_net().state_dict().items()}
