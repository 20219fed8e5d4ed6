import logging

import pytest
import torch
from torch import nn

from rehead.torch import extract_features
from rehead.torch.batches import read_batch
from rehead.torch.layers import auto_layers, candidate_layers
from rehead.torch.models import FCN


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("resnet", ["layer1.1", "layer2.1", "layer3.0", "fc.input"]),
        ("densenet", ["block1.1", "block2.1", "classifier.input"]),
        ("mlp", ["3.input", "5.input"]),
        ("conv1d", ["2.input", "6.input"]),
        ("transformer", ["encoder.layers.0", "encoder.layers.1", "out.input"]),
        ("tuple", ["out.input"]),
    ],
)
def test_auto_takes_last_blocks_of_last_stages_and_the_input_of_the_last_layer(
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
    assert "chose 3.input, 5.input" in caplog.text


def test_a_network_without_candidates_is_an_error():
    with pytest.raises(ValueError, match="Name the layers"):
        auto_layers(nn.Sequential(nn.Flatten()), read_batch(torch.ones(2, 5)))
