import numpy as np
import pytest
import torch
from torch import nn

from rehead.torch import extract_features


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 3))


def test_features_are_the_layers_outputs_in_evaluation_mode() -> None:
    net = network()
    X = np.random.default_rng(0).normal(size=(23, 4)).astype(np.float32)
    features = extract_features(net, X, ["1", "logits"], batch_size=5)
    net.eval()
    with torch.no_grad():
        hidden = net[1](net[0](torch.from_numpy(X)))
        logits = net(torch.from_numpy(X))
    np.testing.assert_allclose(features["1"], hidden.numpy(), atol=1e-6)
    np.testing.assert_allclose(features["logits"], logits.numpy(), atol=1e-6)


def test_the_network_is_left_as_it_was_even_after_an_error() -> None:
    net = network().train()
    net[2].eval()
    before = {name: t.clone() for name, t in net.state_dict().items()}
    with pytest.raises(RuntimeError):
        extract_features(net, np.zeros((3, 5), np.float32), ["1"])
    assert [m.training for m in net] == [True, True, False, True]
    assert not net[1]._forward_hooks
    for name, t in net.state_dict().items():
        assert torch.equal(t, before[name])


def test_an_unknown_layer_is_an_error_with_the_nearest_name() -> None:
    net = nn.ModuleDict({"hidden1": nn.Linear(2, 2)})
    with pytest.raises(ValueError, match="Did you mean 'hidden1'"):
        extract_features(net, np.zeros((1, 2), np.float32), ["hiden1"])
