"""The weights of a network: a checksum, and whether they are still the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import torch
from torch import Tensor, nn


def network_fingerprint(net: nn.Module) -> str:
    """A checksum of a network's weights and of the names of its layers."""
    digest = hashlib.sha256()
    for name, value in net.state_dict().items():
        digest.update(name.encode())
        if isinstance(value, Tensor):
            plain = value.dequantize() if value.is_quantized else value
            data = plain.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(str(tuple(value.shape)).encode() + str(value.dtype).encode())
            digest.update(data.numpy().tobytes())
    return digest.hexdigest()


class KnownWeights:
    """The weights that a head was fitted for.

    A checksum takes a second for a few hundred million weights, too long for every prediction. So
    their sums are compared first, and the checksum is only taken where these differ: after a move
    to another device they may, though nothing has changed.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> net = nn.Linear(3, 2)
    >>> known = KnownWeights(net)
    >>> known.are_those_of(net)
    True
    >>> _ = net.bias.data.add_(1.0)
    >>> known.are_those_of(net)
    False
    """

    def __init__(self, net: nn.Module) -> None:
        self.fingerprint = network_fingerprint(net)
        self._sums = list(_sums(net))

    def are_those_of(self, net: nn.Module) -> bool:
        """Whether a network has these weights."""
        sums = list(_sums(net))
        if sums == self._sums:
            return True
        if network_fingerprint(net) != self.fingerprint:
            return False
        self._sums = sums
        return True


def _sums(net: nn.Module) -> Iterator[float]:
    for value in net.state_dict().values():
        if isinstance(value, Tensor) and not value.is_quantized:
            half = value.dtype in (torch.float16, torch.bfloat16)  # whose sums overflow
            yield float(value.sum(dtype=torch.float32 if half else None))
