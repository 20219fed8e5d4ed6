"""Residual networks for small images (He et al., 2016), post- and pre-activation."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from rehead.torch.models.input import Channels, Normalise
from rehead.torch.models.options import check_counts, check_whole


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions and a shortcut; the output is after the last ReLU."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outside)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inside != outside:
            conv = nn.Conv2d(inside, outside, 1, stride, bias=False)
            self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(outside))

    def forward(self, x: Tensor) -> Tensor:
        """Features after the block's last ReLU."""
        out = torch.relu(self.norm1(self.conv1(x)))
        # In place is safe on the sum alone: no hook can hold it.
        return torch.relu_(self.norm2(self.conv2(out)) + self.shortcut(x))


class PreactivationBlock(nn.Module):
    """Normalisation and ReLU come before each convolution; the output is the bare sum."""

    def __init__(self, inside: int, outside: int, stride: int, *, first: bool) -> None:
        super().__init__()
        # What comes into the first block has just been through a ReLU.
        self.before = nn.Identity() if first else _keras_norm_relu(inside)
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1)
        self.between = _keras_norm_relu(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1)
        same = stride == 1 and inside == outside
        self.shortcut = nn.Identity() if same else nn.Conv2d(inside, outside, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Sum of the shortcut and the convolutions."""
        out: Tensor = self.conv2(self.between(self.conv1(self.before(x))))
        total: Tensor = out + self.shortcut(x)
        return total


def _norm_relu(width: int) -> nn.Module:
    return nn.Sequential(nn.BatchNorm2d(width), nn.ReLU())


def _keras_norm_relu(width: int) -> nn.Module:
    # Keras' momentum is the share of the old average, torch's that of the new value.
    return nn.Sequential(nn.BatchNorm2d(width, eps=1e-3, momentum=1 - 0.99), nn.ReLU())


@dataclass(frozen=True)
class ResNetVariant:
    """How residual networks of the same depth and width differ.

    Attributes
    ----------
    multiples : sequence of int, optional
        Channels of each stage in units of the first one's. Default: twice as many in each stage.
    preactivation : bool, default False
        The network of the D2L code: pre-activation blocks, convolutions with biases, shortcuts
        without normalisation, He's normal initialisation, Keras' batch norm. Otherwise PyTorch's
        own initialisation.
    stem_stride : int, default 1
        With 2, the first convolution halves height and width: for the same work, four times the
        parameters, so that a small network memorises sooner.

    Examples
    --------
    >>> from rehead.torch.models import ResNet, ResNetVariant
    >>> net = ResNet(10, width=8, blocks=(1, 1, 1), variant=ResNetVariant(multiples=(1, 2, 2)))
    >>> net.classifier.in_features
    16
    """

    multiples: Sequence[int] | None = None
    preactivation: bool = False
    stem_stride: int = 1

    def __post_init__(self) -> None:
        check_whole(self.stem_stride, "stem_stride")

    def widths(self, width: int, n_stages: int) -> list[int]:
        """Channels of each stage; ``width`` is a unit."""
        if self.multiples is None:
            return [width * 2**i for i in range(n_stages)]
        multiples = check_counts(self.multiples, "multiples")
        if len(multiples) != n_stages:
            raise ValueError(
                f"multiples must have one number for each of the {n_stages} stages of blocks, got "
                f"{self.multiples!r}."
            )
        return [width * m for m in multiples]


class ResNet(nn.Module):
    """A 3 x 3 convolution, stages of basic blocks, the average over space, a linear classifier.

    The first block of each stage but the first halves height and width.

    Parameters
    ----------
    num_classes : int
    width : int, default 64
        Channels of the first stage.
    blocks : sequence of int, default (3, 4, 6, 3)
        Blocks of each stage.
    variant : ResNetVariant, or a mapping with some of its fields
        How stages widen, what blocks are made of, whether the first convolution halves the image.
    in_channels : int, default 3
    mean, std : float or sequence of float, optional
        See :class:`rehead.torch.models.Normalise`.

    Attributes
    ----------
    feature_layers : tuple of str
        The paper's taps: the last three blocks of the last stage or, if it has no more than
        three, all of them and the end of the stage before. In a pre-activation network the last
        one is taken after the final ReLU.
    block_layers : tuple of str
        All blocks.
    layer_numbers : dict of str to int
        The number of the convolution that each block ends with.

    Examples
    --------
    >>> from rehead.torch.models import ResNet
    >>> net = ResNet(10, width=8)
    >>> net.feature_layers
    ('stage3.block6', 'stage4.block1', 'stage4.block2', 'stage4.block3')
    >>> [net.layer_numbers[name] for name in net.feature_layers]
    [27, 29, 31, 33]
    """

    def __init__(
        self,
        num_classes: int,
        *,
        width: int = 64,
        blocks: Sequence[int] = (3, 4, 6, 3),
        variant: ResNetVariant | Mapping[str, Any] | None = None,
        in_channels: int = 3,
        mean: Channels | None = None,
        std: Channels | None = None,
    ) -> None:
        super().__init__()
        check_whole(num_classes, "num_classes")
        check_whole(width, "width")
        blocks = check_counts(blocks, "blocks")
        if not isinstance(variant, ResNetVariant):
            variant = ResNetVariant(**(variant or {}))
        preactivation = variant.preactivation
        widths = variant.widths(width, len(blocks))
        self.normalise = Normalise(check_whole(in_channels, "in_channels"), mean=mean, std=std)
        norm_relu = _keras_norm_relu if preactivation else _norm_relu
        conv = nn.Conv2d(in_channels, widths[0], 3, variant.stem_stride, 1, bias=preactivation)
        self.stem = nn.Sequential(conv, norm_relu(widths[0]))
        self._stages = [f"stage{i + 1}" for i in range(len(blocks))]
        for i, name in enumerate(self._stages):
            inside = widths[max(i - 1, 0)]
            self.add_module(name, _stage(i, blocks[i], inside, widths[i], preactivation))
        self.final = norm_relu(widths[-1]) if preactivation else nn.Identity()
        self.classifier = nn.Linear(widths[-1], num_classes)
        if preactivation:
            self.apply(_he_normal)
        self._name_layers(blocks, preactivation)

    def _name_layers(self, blocks: Sequence[int], preactivation: bool) -> None:
        self.block_layers = tuple(
            f"{name}.block{j + 1}"
            for name, n in zip(self._stages, blocks, strict=True)
            for j in range(n)
        )
        # The stem is layer 1, each block has two.
        self.layer_numbers = {name: 3 + 2 * i for i, name in enumerate(self.block_layers)}
        self.feature_layers = self.block_layers[-(blocks[-1] + 1 if blocks[-1] <= 3 else 3) :]
        if preactivation:
            self.layer_numbers["final"] = self.layer_numbers[self.block_layers[-1]]
            self.feature_layers = (*self.feature_layers[:-1], "final")

    def forward(self, x: Tensor) -> Tensor:
        """Logits of images (batch, channels, height, width)."""
        x = self.stem(self.normalise(x))
        for name in self._stages:
            x = self.get_submodule(name)(x)
        logits: Tensor = self.classifier(self.final(x).mean((2, 3)))
        return logits


def _stage(i: int, n: int, inside: int, outside: int, preactivation: bool) -> nn.Module:
    stage: OrderedDict[str, nn.Module] = OrderedDict()
    for j in range(n):
        stride = 2 if i > 0 and j == 0 else 1
        stage[f"block{j + 1}"] = (
            PreactivationBlock(inside, outside, stride, first=i == j == 0)
            if preactivation
            else BasicBlock(inside, outside, stride)
        )
        inside = outside
    return nn.Sequential(stage)


def _he_normal(module: nn.Module) -> None:
    if isinstance(module, (nn.Conv2d, nn.Linear)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if module.bias is not None:
            nn.init.zeros_(module.bias)
