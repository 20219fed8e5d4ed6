"""DenseNet-BC for small images (Huang et al., 2017)."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn

from rehead.torch.models.input import Channels, Normalise
from rehead.torch.models.options import check_whole

N_BLOCKS = 3


class Bottleneck(nn.Module):
    """A 1 x 1 and a 3 x 3 convolution; the output is the input and, behind it, the new maps."""

    def __init__(self, inside: int, growth: int) -> None:
        super().__init__()
        self.new = nn.Sequential(
            nn.BatchNorm2d(inside),
            nn.ReLU(),
            nn.Conv2d(inside, 4 * growth, 1, bias=False),
            nn.BatchNorm2d(4 * growth),
            nn.ReLU(),
            nn.Conv2d(4 * growth, growth, 3, 1, 1, bias=False),
        )

    def forward(self, x: Tensor) -> Tensor:
        """The input and the new maps."""
        return torch.cat([x, self.new(x)], dim=1)


class DenseNet(nn.Module):
    """A 3 x 3 convolution, three dense blocks, the average over space, a linear classifier.

    Between dense blocks a transition halves channels, height and width. Convolutions have no
    biases; their weights are drawn with variance ``2 / (kernel area * output channels)``.

    Parameters
    ----------
    num_classes : int
    growth : int, default 12
        Channels that a bottleneck adds; the first convolution gives twice as many.
    depth : int, default 100
        Layers with weights: 6 n + 4 with n bottlenecks in each dense block.
    stem_stride : int, default 1
        With 2, the first convolution halves height and width: a quarter of the work.
    in_channels : int, default 3
    mean, std : float or sequence of float, optional
        See :class:`rehead.torch.models.Normalise`.

    Attributes
    ----------
    feature_layers : tuple of str
        The paper's taps: two bottlenecks of the last dense block, a third of it apart, and the end
        of it after batch norm and ReLU.
    block_layers : tuple of str
        All bottlenecks.
    layer_numbers : dict of str to int
        The number of the convolution that each bottleneck ends with.

    Examples
    --------
    >>> from rehead.torch.models import DenseNet
    >>> net = DenseNet(10)
    >>> sum(p.numel() for p in net.parameters())
    769162
    >>> {name: net.layer_numbers[name] for name in net.feature_layers}
    {'dense3.bottleneck6': 79, 'dense3.bottleneck11': 89, 'final': 99}
    """

    def __init__(
        self,
        num_classes: int,
        *,
        growth: int = 12,
        depth: int = 100,
        stem_stride: int = 1,
        in_channels: int = 3,
        mean: Channels | None = None,
        std: Channels | None = None,
    ) -> None:
        super().__init__()
        check_whole(num_classes, "num_classes")
        width = 2 * check_whole(growth, "growth")
        n = _bottlenecks(depth)
        self.normalise = Normalise(check_whole(in_channels, "in_channels"), mean=mean, std=std)
        stride = check_whole(stem_stride, "stem_stride")
        self.stem = nn.Conv2d(in_channels, width, 3, stride, 1, bias=False)
        self._stages = []
        for i in range(1, N_BLOCKS + 1):
            dense = [
                (f"bottleneck{j + 1}", Bottleneck(width + j * growth, growth)) for j in range(n)
            ]
            self.add_module(f"dense{i}", nn.Sequential(OrderedDict(dense)))
            self._stages.append(f"dense{i}")
            width += n * growth
            if i < N_BLOCKS:
                self.add_module(f"transition{i}", _transition(width))
                self._stages.append(f"transition{i}")
                width //= 2
        self.final = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU())
        self.classifier = nn.Linear(width, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        nn.init.zeros_(self.classifier.bias)

        self.layer_numbers = _numbers(n)
        self.block_layers = tuple(self.layer_numbers)
        self.layer_numbers["final"] = depth - 1
        third = max(1, n // 3)
        earlier = [j for j in (n - 2 * third, n - third) if j > 0]
        self.feature_layers = (*(f"dense{N_BLOCKS}.bottleneck{j}" for j in earlier), "final")

    def forward(self, x: Tensor) -> Tensor:
        """Logits of images (batch, channels, height, width)."""
        x = self.stem(self.normalise(x))
        for name in self._stages:
            x = self.get_submodule(name)(x)
        logits: Tensor = self.classifier(self.final(x).mean((2, 3)))
        return logits


def _bottlenecks(depth: int) -> int:
    """How many bottlenecks a dense block has: two layers each, and four layers besides."""
    n = round((check_whole(depth, "depth") - 4) / (2 * N_BLOCKS))
    if n < 1 or depth != 2 * N_BLOCKS * n + 4:
        near = 2 * N_BLOCKS * max(n, 1) + 4
        raise ValueError(
            f"depth must be 6 n + 4 (10, 16, 22, ..., 100), got {depth!r}. Did you mean {near}?"
        )
    return n


def _numbers(n: int) -> dict[str, int]:
    """The last layer of each bottleneck; the stem and each transition are layers too."""
    return {
        f"dense{i + 1}.bottleneck{j}": 1 + i * (2 * n + 1) + 2 * j
        for i in range(N_BLOCKS)
        for j in range(1, n + 1)
    }


def _transition(width: int) -> nn.Module:
    return nn.Sequential(
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, width // 2, 1, bias=False),
        nn.AvgPool2d(2),
    )
