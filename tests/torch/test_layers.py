"""Which layers of an unknown network features are taken from."""

import logging

import pytest
import torch
from torch import nn

from rehead.torch import extract_features
from rehead.torch.batches import read_batch
from rehead.torch.layers import all_layers, auto_layers, candidate_layers, witness_layers
from rehead.torch.models import FCN


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("resnet", ["layer1.0", "layer1.1", "layer2.1", "layer3.0", "fc.input"]),
        ("densenet", ["block1.0", "block1.1", "block2.1", "classifier.input"]),
        ("mlp", ["3.input", "5.input"]),
        ("conv1d", ["2.input", "6.input"]),
        ("transformer", ["embedding", "encoder.layers.0", "encoder.layers.1", "out.input"]),
        ("tuple", ["out.input"]),
    ],
)
def test_auto_takes_the_first_block_last_blocks_and_the_input_of_the_last_layer(
    network, kind, chosen
):
    case = network(kind)
    assert auto_layers(case.net, read_batch(case.x)) == chosen


def test_equal_features_are_offered_once(network):
    # Averaged, the last residual block *is* what goes into the last layer.
    names = [
        c.name for c in candidate_layers(network("resnet").net, read_batch(network("resnet").x))
    ]
    assert "layer3.1" not in names
    assert names[-1] == "fc.input"


def test_widths_and_shapes(network):
    case = network("resnet")
    found = {c.name: (c.shape, c.width) for c in candidate_layers(case.net, read_batch(case.x))}
    assert found["layer2.0"] == ((12, 4, 4), 12)
    assert found["fc.input"] == ((16,), 16)


def test_own_models_know_their_layers():
    net = FCN(5, 2, hidden=(4, 3))
    assert auto_layers(net, read_batch(torch.ones(2, 5))) == ["hidden1", "hidden2"]


def test_auto_says_what_it_chose(network, caplog):
    case = network("mlp")
    with caplog.at_level(logging.INFO, logger="rehead"):
        extract_features(case.net, case.x)
    assert "layers='auto' chose input, 3.input, 5.input" in caplog.text


@pytest.mark.parametrize(
    ("kind", "witness"),
    [("mlp", ["input"]), ("resnet", ["input"]), ("transformer", ["input"])],
)
def test_the_witness_is_the_input(network, kind, witness):
    case = network(kind)
    batch = read_batch(case.x)
    assert witness_layers(case.net, batch) == witness
    candidates, chosen = all_layers(case.net, batch)
    assert chosen == [*witness, *auto_layers(case.net, batch)]
    assert candidates[0].name == "input"
    assert candidates[0].width == extract_features(case.net, case.x).layers["input"].shape[1]


def test_there_may_be_no_witness():
    words = torch.zeros(3, 4, dtype=torch.long)
    assert witness_layers(nn.Linear(4, 2), read_batch(words)) == []


def test_a_network_without_candidates_is_an_error():
    with pytest.raises(ValueError, match="Name the layers"):
        auto_layers(nn.Sequential(nn.Flatten()), read_batch(torch.ones(2, 5)))


def test_lazy_convolutions_are_layers_like_others():
    def net(conv1, conv2):
        return nn.Sequential(conv1, nn.ReLU(), conv2, nn.ReLU(), nn.Flatten(), nn.Linear(48, 3))

    batch = read_batch(torch.randn(5, 2, 4, 4))
    usual = net(nn.Conv2d(2, 3, 1), nn.Conv2d(3, 3, 1))
    lazy = net(nn.LazyConv2d(3, 1), nn.LazyConvTranspose2d(3, 1))
    chosen = [auto_layers(network, batch) for network in (usual, lazy)]
    assert chosen[0] == chosen[1] == ["2.input", "5.input"]


def test_of_equal_features_the_one_that_the_network_lists_is_offered():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    batch = read_batch(torch.randn(5, 4))
    assert [c.name for c in candidate_layers(net, batch)] == ["2.input"]
    net.block_layers = ["1"]
    assert [c.name for c in candidate_layers(net, batch)] == ["1"]


def test_sparse_inputs_are_told():
    net, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)), torch.eye(4).to_sparse()
    assert extract_features(net, [x], "2.input").layers["2.input"].shape == (4, 4)
    for data, match in (([x], "are not supported"), (x, "cannot be cut into batches")):
        with pytest.raises(TypeError, match=rf"Sparse tensors {match}. Pass tensor.to_dense"):
            extract_features(net, data, "input")
    assert auto_layers(net, read_batch(x))
