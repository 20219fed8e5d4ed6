"""A fully connected network, as the paper uses for text (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class FCN(nn.Module):
    """Hidden layers with ReLU, then a linear classifier.

    Weights are drawn with standard deviation ``gain / sqrt(fan_in)``, biases are 0; ``gain=1`` is
    the initialisation of the gold loss correction code that the paper's text experiments follow.

    Attributes
    ----------
    feature_layers : tuple of str
        Names of the hidden layers after their ReLU.

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
        for name, a, b in zip(self.feature_layers, widths[:-1], widths[1:], strict=True):
            self.add_module(name, nn.Sequential(nn.Linear(a, b), nn.ReLU()))
        self.classifier = nn.Linear(widths[-1], num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=gain / module.in_features**0.5)
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        for name in self.feature_layers:
            x = self.get_submodule(name)(x)
        logits: Tensor = self.classifier(torch.flatten(x, 1))
        return logits
