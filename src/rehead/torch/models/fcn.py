"""A fully connected network, as the paper uses for text (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from rehead.torch.models.options import check_whole


class FCN(nn.Module):
    """Hidden layers with ReLU, then a linear classifier.

    Weights are drawn with standard deviation ``gain / sqrt(fan_in)``, biases are 0; ``gain=1`` is
    the initialisation of the gold loss correction code that the paper's text experiments follow.

    Attributes
    ----------
    feature_layers : tuple of str
        Names of the hidden layers after their ReLU.
    block_layers : tuple of str
        The same.
    layer_numbers : dict of str to int
        Their numbers, 1 to the number of hidden layers.

    Examples
    --------
    >>> from rehead.torch.models import FCN
    >>> net = FCN(150, 19)
    >>> sum(p.numel() for p in net.parameters()), net.feature_layers
    (109331, ('hidden1', 'hidden2'))
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        hidden: Sequence[int] = (256, 256),
        gain: float = 1.0,
    ) -> None:
        super().__init__()
        widths = [in_features, *hidden]
        self.feature_layers = tuple(f"hidden{i + 1}" for i in range(len(hidden)))
        self.block_layers = self.feature_layers
        self.layer_numbers = {name: i + 1 for i, name in enumerate(self.feature_layers)}
        for name, a, b in zip(self.feature_layers, widths[:-1], widths[1:], strict=True):
            self.add_module(name, nn.Sequential(nn.Linear(a, b), nn.ReLU()))
        self.classifier = nn.Linear(widths[-1], num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=gain / module.in_features**0.5)
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Logits. Images are flattened; bytes are divided by 255."""
        x = torch.flatten(x, 1)
        if x.dtype == torch.uint8:
            x = x.to(self.classifier.weight.dtype) / 255
        for name in self.feature_layers:
            x = self.get_submodule(name)(x)
        logits: Tensor = self.classifier(x)
        return logits


def make_fcn(
    num_classes: int,
    *,
    in_features: int | None = None,
    hidden: Sequence[int] = (256, 256),
    gain: float = 1.0,
) -> FCN:
    """:class:`FCN` with the classes first, as the other networks take them.

    Examples
    --------
    >>> from rehead.torch.models import MODELS
    >>> MODELS["fcn"](10, in_features=64, hidden=(32,)).feature_layers
    ('hidden1',)
    """
    if in_features is None:
        raise ValueError(
            f"fcn needs the number of inputs. Pass in_features, such as "
            f'MODELS["fcn"]({num_classes!r}, in_features=64).'
        )
    check_whole(in_features, "in_features")
    return FCN(in_features, check_whole(num_classes, "num_classes"), hidden=hidden, gain=gain)
