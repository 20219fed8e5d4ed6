"""How images come in."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

MEAN = (125.3 / 255, 123.0 / 255, 113.9 / 255)
STD = (63.0 / 255, 62.1 / 255, 66.7 / 255)
"""What the paper's code takes for all its image sets, red, green and blue."""

Channels = float | Sequence[float]
"""A number for each channel, or one for all."""


class Normalise(nn.Module):
    """Images as a network wants them: ``(x - mean) / std``.

    uint8 images are divided by 255 first; floats are taken to be in [0, 1]. The result has the
    precision of the network and the memory format of the images.

    Parameters
    ----------
    channels : int
        Channels of an image.
    mean, std : float or sequence of float, optional
        One number for each channel, or one for all. Default: those of the paper's code; where
        there are not three channels, their averages.

    Notes
    -----
    ``mean`` and ``std`` are kept in the state dict: weights are of no use with other inputs than
    those they were trained on, and networks that differ in these give different features.

    Examples
    --------
    >>> import torch
    >>> from rehead.torch.models import Normalise
    >>> grey = torch.full((1, 1, 1, 2), 51, dtype=torch.uint8)
    >>> Normalise(1, mean=0.1, std=0.5)(grey)
    tensor([[[[0.2000, 0.2000]]]])
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self, channels: int = 3, *, mean: Channels | None = None, std: Channels | None = None
    ) -> None:
        super().__init__()
        for name, given, usual in (("mean", mean, MEAN), ("std", std, STD)):
            values = torch.tensor(_for_each_channel(given, usual, channels, name))
            self.register_buffer(name, values[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        """Normalised images."""
        if x.ndim != 4 or x.shape[1] != len(self.mean):
            # Without this, one channel would become three by broadcasting.
            raise ValueError(
                f"Images must be (batch, {len(self.mean)}, height, width), got {tuple(x.shape)}. "
                "Another number of channels: in_channels."
            )
        if x.dtype == torch.uint8:
            x = x.to(self.mean.dtype) / 255
        elif not x.is_floating_point():
            raise ValueError(
                f"Images must be uint8 (0 to 255) or floating point (0 to 1), got {x.dtype}."
            )
        return (x.to(self.mean.dtype) - self.mean) / self.std


def _for_each_channel(
    given: Channels | None, usual: tuple[float, ...], channels: int, name: str
) -> list[float]:
    if given is None:
        same = channels == len(usual)
        return list(usual) if same else [sum(usual) / len(usual)] * channels
    values = [given] * channels if isinstance(given, (int, float)) else list(given)
    least = 0.0 if name == "std" else -math.inf
    if len(values) != channels or not all(math.isfinite(v) and v > least for v in values):
        kind = "positive numbers" if name == "std" else "numbers"
        raise ValueError(
            f"{name} must be one or {channels} {kind} for images in [0, 1], got {given!r}."
        )
    return [float(v) for v in values]
