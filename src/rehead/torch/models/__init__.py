"""Networks of the paper's experiments.

Each lists where features are taken: ``feature_layers`` (the paper's taps, from the input to the
output), ``block_layers`` (all blocks) and ``layer_numbers`` (the paper's numbers of these).

Examples
--------
>>> import torch
>>> from rehead.torch.models import MODELS
>>> net = MODELS["resnet-small"](num_classes=10).eval()
>>> net(torch.zeros(2, 3, 32, 32, dtype=torch.uint8)).shape
torch.Size([2, 10])
>>> net.feature_layers
('stage2.block2', 'stage3.block1', 'stage3.block2')
"""

from collections.abc import Callable
from functools import partial

from torch import nn

from rehead.torch.models.cnn9 import CNN9
from rehead.torch.models.densenet import DenseNet
from rehead.torch.models.fcn import FCN, make_fcn
from rehead.torch.models.input import Normalise
from rehead.torch.models.resnet import ResNet, ResNetVariant
from rehead.torch.models.vgg import VGG

MODELS: dict[str, Callable[..., nn.Module]] = {
    "resnet34": partial(ResNet, blocks=(3, 4, 6, 3), width=64),
    # The authors' released model does not widen its last stage.
    "resnet34-released": partial(
        ResNet, blocks=(3, 4, 6, 3), width=64, variant=ResNetVariant(multiples=(1, 2, 4, 4))
    ),
    "resnet44": partial(
        ResNet, blocks=(7, 7, 7), width=16, variant=ResNetVariant(preactivation=True)
    ),
    "resnet44-wide": partial(ResNet, blocks=(7, 7, 7), width=64),
    # For two CPU cores: 12 epochs are enough to memorise noisy labels of 10,000 images.
    "resnet-small": partial(
        ResNet, blocks=(2, 2, 2), width=32, variant=ResNetVariant(stem_stride=2)
    ),
    "densenet100": DenseNet,
    "vgg13": VGG,
    "cnn9": CNN9,
    "fcn": make_fcn,
}
"""Networks by name: ``MODELS[name](num_classes, ...)``. Every option can be given anew."""

__all__ = ["CNN9", "FCN", "MODELS", "VGG", "DenseNet", "Normalise", "ResNet", "ResNetVariant"]
