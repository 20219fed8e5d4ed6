"""Small versions of all networks, and images for them."""

import torch

from rehead.torch.models import MODELS

SMALL = {
    "resnet34": {"width": 4},
    "resnet34-released": {"width": 4},
    "resnet44": {"width": 4, "blocks": (2, 2, 4)},
    "resnet44-wide": {"width": 4, "blocks": (1, 1, 1)},
    "resnet-small": {"width": 4},
    "densenet100": {"growth": 4, "depth": 22},
    "vgg13": {"width": 4},
    "cnn9": {"width": 4},
}


def parameters(net):
    return sum(p.numel() for p in net.parameters())


def small(name, seed=0, **options):
    torch.manual_seed(seed)
    return MODELS[name](5, **{**SMALL[name], **options})


def pixels(n=3, seed=0, channels=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (n, channels, 32, 32), generator=generator, dtype=torch.uint8)
