"""VGG: taps."""

from rehead.torch.models import MODELS


def test_taps_of_vgg_adapt_to_depth():
    assert MODELS["vgg13"](10, width=2, blocks=[1]).feature_layers == ("pool1",)
    assert MODELS["vgg13"](10, width=2, blocks=[1, 3]).feature_layers == ("conv2", "conv3", "pool2")
