"""The network of nine convolutions: its input, its dropout."""

import torch

from rehead.torch.models import MODELS

from .miniatures import pixels, small


def test_cnn9_takes_images_as_they_are():
    x = torch.rand(2, 3, 32, 32)
    assert torch.equal(MODELS["cnn9"](10, width=1).normalise(x), x)


def test_dropout_of_cnn9_acts_in_training_only():
    net = small("cnn9", dropout=0.5)
    assert not torch.equal(net(pixels()), net(pixels()))
    net.eval()
    assert torch.equal(net(pixels()), net(pixels()))
    plain = small("cnn9").train()
    assert torch.equal(plain(pixels()), plain(pixels()))
