"""Augmentation of whole batches, as tensor operations."""

from __future__ import annotations

import torch
from torch import Tensor


def random_crop(x: Tensor, padding: int = 4) -> Tensor:
    """Shift each image by up to ``padding`` pixels; what comes in from outside is 0."""
    n, _, height, width = x.shape
    padded = torch.nn.functional.pad(x, [padding] * 4)
    # A view with every possible crop, of which one an image is copied.
    crops = padded.unfold(2, height, 1).unfold(3, width, 1)
    top, left = torch.randint(2 * padding + 1, (2, n)).to(x.device)
    return crops[torch.arange(n, device=x.device), :, top, left]


def random_flip(x: Tensor) -> Tensor:
    """Mirror each image with probability one half."""
    mirrored = (torch.rand(len(x)) < 0.5).to(x.device)
    return torch.where(mirrored[:, None, None, None], x.flip(3), x)


AUGMENTATIONS = {"crop": random_crop, "flip": random_flip}
"""By the names that recipes use."""
