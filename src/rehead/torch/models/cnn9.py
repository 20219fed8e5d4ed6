"""The plain network of nine convolutions of co-teaching (Han et al., 2018)."""

from __future__ import annotations

from torch import Tensor, nn

from rehead.torch.models.input import Channels, Normalise
from rehead.torch.models.options import check_whole

MULTIPLES = (1, 1, 1, 2, 2, 2, 4, 2, 1)
POOLED = (3, 6)
"""A maximum follows these convolutions; the ones after the last maximum have no padding."""
N_TAPS = 3


class CNN9(nn.Module):
    """Nine 3 x 3 convolutions, each with batch norm and leaky ReLU, and a linear classifier.

    Weights are initialised as PyTorch does. The last three convolutions have no padding, so images
    have at least 28 x 28 pixels.

    Parameters
    ----------
    num_classes : int
    width : int, default 128
        Channels of the first convolution; the widest one has four times as many.
    dropout : float, default 0
        Share of maps that are dropped in training after each of the two maxima. The reference
        code says 0.25, but in the PyTorch it ran with that had no effect.
    in_channels : int, default 3
    mean, std : float or sequence of float
        See :class:`rehead.torch.models.Normalise`. Default: images in [0, 1] as they are, as in
        the reference code.

    Attributes
    ----------
    feature_layers : tuple of str
        The last three convolutions after batch norm and leaky ReLU.
    block_layers : tuple of str
        All nine.
    layer_numbers : dict of str to int

    Examples
    --------
    >>> from rehead.torch.models import CNN9
    >>> CNN9(10, width=16).feature_layers
    ('conv7', 'conv8', 'conv9')
    """

    def __init__(
        self,
        num_classes: int,
        *,
        width: int = 128,
        dropout: float = 0.0,
        in_channels: int = 3,
        mean: Channels | None = 0.0,
        std: Channels | None = 1.0,
    ) -> None:
        super().__init__()
        check_whole(num_classes, "num_classes")
        check_whole(width, "width")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must be in [0, 1), got {dropout!r}.")
        self.normalise = Normalise(check_whole(in_channels, "in_channels"), mean=mean, std=std)
        inside = in_channels
        for i, multiple in enumerate(MULTIPLES, start=1):
            outside, padding = multiple * width, int(i <= POOLED[-1])
            conv = nn.Conv2d(inside, outside, 3, 1, padding)
            self.add_module(
                f"conv{i}", nn.Sequential(conv, nn.BatchNorm2d(outside), nn.LeakyReLU(0.01))
            )
            inside = outside
        self.pool = nn.Sequential(nn.MaxPool2d(2), nn.Dropout2d(dropout))
        self.classifier = nn.Linear(inside, num_classes)
        self.layer_numbers = {f"conv{i + 1}": i + 1 for i in range(len(MULTIPLES))}
        self.block_layers = tuple(self.layer_numbers)
        self.feature_layers = self.block_layers[-N_TAPS:]

    def forward(self, x: Tensor) -> Tensor:
        """Logits of images (batch, channels, height, width)."""
        x = self.normalise(x)
        for name, number in self.layer_numbers.items():
            x = self.get_submodule(name)(x)
            if number in POOLED:
                x = self.pool(x)
        logits: Tensor = self.classifier(x.mean((2, 3)))
        return logits
