"""Residual networks: variants, taps."""

import math

import pytest
import torch
from torch import nn

from rehead.torch import extract_features
from rehead.torch.models import MODELS, ResNet, ResNetVariant

from .miniatures import pixels, small


def test_blocks_end_after_relu_only_in_post_activation_networks():
    for name, negative in (("resnet-small", False), ("resnet44", True)):
        net = small(name)
        layers = extract_features(net, pixels(), net.block_layers, progress=False).layers
        assert any((features < 0).any() for features in layers.values()) == negative


def test_resnet44_follows_keras():
    net = MODELS["resnet44"](10)
    convs = [m for m in net.modules() if isinstance(m, nn.Conv2d)]
    norms = [m for m in net.modules() if isinstance(m, nn.BatchNorm2d)]
    assert all((conv.bias == 0).all() for conv in convs)
    assert convs[-1].weight.std().item() == pytest.approx(math.sqrt(2 / (9 * 64)), rel=0.05)
    assert {(norm.eps, round(norm.momentum, 6)) for norm in norms} == {(1e-3, 0.01)}


@pytest.mark.parametrize(
    ("blocks", "taps"),
    [
        ((1,), ["stage1.block1"]),
        ((1, 1), ["stage1.block1", "stage2.block1"]),
        ((2, 3), ["stage1.block2", "stage2.block1", "stage2.block2", "stage2.block3"]),
        ((2, 5), ["stage2.block3", "stage2.block4", "stage2.block5"]),
    ],
)
def test_taps_of_resnet_adapt_to_depth(blocks, taps):
    assert MODELS["resnet34"](10, width=2, blocks=blocks).feature_layers == tuple(taps)


def test_a_variant_can_be_given_by_some_of_its_fields():
    by_name = ResNet(3, width=4, blocks=(1, 1), variant={"multiples": [1, 3], "stem_stride": 2})
    variant = ResNetVariant(multiples=(1, 3), stem_stride=2)
    assert str(by_name) == str(ResNet(3, width=4, blocks=(1, 1), variant=variant))
    assert by_name.classifier.in_features == 12
    with pytest.raises(TypeError, match="stem_strid"):
        ResNet(3, variant={"stem_strid": 2})
    with pytest.raises(ValueError, match="stem_stride must be a whole number"):
        ResNetVariant(stem_stride=0)


def test_a_stem_with_stride_2_halves_the_image():
    for stride, side in ((1, 32), (2, 16)):
        net = ResNet(3, width=4, blocks=(1,), variant=ResNetVariant(stem_stride=stride))
        assert net.stem(torch.zeros(2, 3, 32, 32)).shape == (2, 4, side, side)
