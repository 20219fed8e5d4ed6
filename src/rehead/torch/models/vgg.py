"""VGG with batch norm for small images (Simonyan and Zisserman, 2015)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from rehead.torch.models.input import Channels, Normalise
from rehead.torch.models.options import check_counts, check_whole

MOST = 8
"""Groups get twice as many channels as the one before, up to this multiple of the first."""
N_TAPS = 3


class VGG(nn.Module):
    """Groups of 3 x 3 convolutions with batch norm and ReLU, a maximum after each, a classifier.

    Weights are initialised as PyTorch does. Each group halves height and width, so that images of
    32 x 32 pixels end as one.

    Parameters
    ----------
    num_classes : int
    width : int, default 64
        Channels of the first group.
    blocks : sequence of int, default (2, 2, 2, 2, 2)
        Convolutions of each group. The "13" of the default counts the three linear layers of the
        original for large images; here it is one.
    in_channels : int, default 3
    mean, std : float or sequence of float, optional
        See :class:`rehead.torch.models.Normalise`.

    Attributes
    ----------
    feature_layers : tuple of str
        The last three convolutions after their ReLU, the last one after its maximum too.
    block_layers : tuple of str
        All convolutions, after batch norm and ReLU.
    layer_numbers : dict of str to int

    Examples
    --------
    >>> from rehead.torch.models import VGG
    >>> net = VGG(10, width=8)
    >>> net.feature_layers
    ('conv8', 'conv9', 'pool5')
    """

    def __init__(
        self,
        num_classes: int,
        *,
        width: int = 64,
        blocks: Sequence[int] = (2, 2, 2, 2, 2),
        in_channels: int = 3,
        mean: Channels | None = None,
        std: Channels | None = None,
    ) -> None:
        super().__init__()
        check_whole(num_classes, "num_classes")
        check_whole(width, "width")
        blocks = check_counts(blocks, "blocks")
        self.normalise = Normalise(check_whole(in_channels, "in_channels"), mean=mean, std=std)
        self._layers: list[str] = []
        self.layer_numbers: dict[str, int] = {}
        inside = in_channels
        for i, n in enumerate(blocks):
            outside = width * min(2**i, MOST)
            for _ in range(n):
                number = len(self.layer_numbers) + 1
                self._add(f"conv{number}", _conv(inside, outside))
                self.layer_numbers[f"conv{number}"] = number
                inside = outside
            self._add(f"pool{i + 1}", nn.MaxPool2d(2))
        self.classifier = nn.Linear(inside, num_classes)
        self.block_layers = tuple(self.layer_numbers)
        last = self._layers[-1]
        self.layer_numbers[last] = len(self.block_layers)
        self.feature_layers = (*self.block_layers[-N_TAPS:-1], last)

    def _add(self, name: str, module: nn.Module) -> None:
        self.add_module(name, module)
        self._layers.append(name)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of images (batch, channels, height, width)."""
        x = self.normalise(x)
        for name in self._layers:
            x = self.get_submodule(name)(x)
        logits: Tensor = self.classifier(x.mean((2, 3)))
        return logits


def _conv(inside: int, outside: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inside, outside, 3, 1, 1), nn.BatchNorm2d(outside), nn.ReLU())
