"""DenseNet: bottlenecks, initialisation, taps."""

import math

import pytest
import torch

from rehead.torch.models import MODELS

from .miniatures import pixels, small


def test_a_bottleneck_gives_its_input_and_new_maps():
    net = small("densenet100").eval()
    names = ("dense2.bottleneck1", "dense2.bottleneck2")
    out = {}
    for name in names:
        module = net.get_submodule(name)
        module.register_forward_hook(lambda m, a, o, name=name: out.__setitem__(name, o))
    net(pixels())
    first, second = (out[name] for name in names)
    assert torch.equal(second[:, : first.shape[1]], first)
    assert second.shape[1] == first.shape[1] + 4


def test_densenet_is_initialised_by_its_outputs():
    net = MODELS["densenet100"](10)
    conv = net.get_submodule("dense1.bottleneck1.new")[5]
    assert conv.weight.std().item() == pytest.approx(math.sqrt(2 / (9 * 12)), rel=0.05)
    assert (net.classifier.bias == 0).all()


@pytest.mark.parametrize(
    ("depth", "taps"), [(10, []), (16, [1]), (22, [1, 2]), (40, [2, 4]), (100, [6, 11])]
)
def test_taps_of_densenet_adapt_to_depth(depth, taps):
    net = MODELS["densenet100"](10, growth=2, depth=depth)
    assert net.feature_layers == (*(f"dense3.bottleneck{j}" for j in taps), "final")
    assert net.layer_numbers["final"] == net.layer_numbers[net.block_layers[-1]] == depth - 1


def test_the_stem_can_halve_the_image():
    net = MODELS["densenet100"](10, growth=2, depth=10, stem_stride=2).eval()
    assert net.stem(torch.zeros(1, 3, 32, 32)).shape[2:] == (16, 16)
    assert net(torch.zeros(1, 3, 32, 32)).shape == (1, 10)
