"""The fully connected network."""

import pytest
import torch

from rehead.torch.models import FCN, MODELS

from .miniatures import parameters


@pytest.mark.parametrize(
    ("in_features", "num_classes", "count"),
    [(150, 19, 109_331), (150, 25, 110_873), (1000, 7, 323_847)],
)
def test_fcn_has_the_published_number_of_parameters(in_features, num_classes, count):
    net = FCN(in_features, num_classes)
    assert parameters(net) == parameters(MODELS["fcn"](num_classes, in_features=in_features))
    assert parameters(net) == count
    assert net(torch.zeros(2, in_features)).shape == (2, num_classes)


def test_fcn_lists_its_hidden_layers():
    net = FCN(4, 2, hidden=(5, 6, 7))
    assert net.feature_layers == net.block_layers == ("hidden1", "hidden2", "hidden3")
    assert set(net.feature_layers) <= dict(net.named_modules()).keys()
    assert net.layer_numbers == {"hidden1": 1, "hidden2": 2, "hidden3": 3}


def test_fcn_flattens_images_and_divides_bytes():
    net = FCN(12, 2)
    images = torch.randint(256, (4, 3, 2, 2), dtype=torch.uint8)
    expected = net(images.flatten(1).float() / 255)
    assert torch.equal(net(images), expected)
    assert torch.equal(net(images.contiguous(memory_format=torch.channels_last)), expected)
    assert torch.equal(net(images.float() / 255), expected)
