"""The weights of a network: known again, and known to be others."""

import torch
from torch import nn

from rehead.torch.weights import KnownWeights, network_fingerprint


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
