"""From a layer's output to one feature vector a sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool1d, avg_pool2d, avg_pool3d

from rehead.torch.batches import tensors_in
from rehead.torch.sketches import sketch_vectors

Pool = (
    Literal["mean", "first", "tokens", "channels", "flatten", "grid"] | Callable[[Tensor], Tensor]
)
POOLS = ("mean", "first", "tokens", "channels", "flatten", "grid")
GRID_FEATURES = 100
"""A raw input is averaged over cells of space until it has no more features than this."""
WIDEST = 2048
"""Vectors with more features than this are sketched."""

CONVOLUTIONS = (
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.ConvTranspose1d,
    nn.ConvTranspose2d,
    nn.ConvTranspose3d,
)
"""All convolutions; lazy ones are instances of these."""
FEATURES_LAST = (nn.Linear, nn.LayerNorm, nn.Embedding, nn.MultiheadAttention, nn.RNNBase)
"""Layers that work on the last axis."""
FEATURES_SECOND = (
    *CONVOLUTIONS,
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    nn.BatchNorm3d,
    nn.SyncBatchNorm,
    # Not instances of the three above, unlike lazy convolutions.
    nn.LazyBatchNorm1d,
    nn.LazyBatchNorm2d,
    nn.LazyBatchNorm3d,
    nn.MaxPool1d,
    nn.MaxPool2d,
    nn.MaxPool3d,
    nn.AvgPool1d,
    nn.AvgPool2d,
    nn.AvgPool3d,
    nn.GroupNorm,
    nn.InstanceNorm1d,
)
"""Layers that work on the second axis, that of channels."""


def first_tensor(output: Any, layer: str) -> Tensor:
    """The tensor of an output that may be a tuple, a dict or a model output."""
    for name in ("last_hidden_state", "logits"):
        value = output.get(name) if isinstance(output, Mapping) else getattr(output, name, None)
        if isinstance(value, Tensor):
            return value
    for tensor in tensors_in(output):
        return tensor
    raise TypeError(
        f"Layer {layer!r} gives no tensor but {type(output).__name__}. Choose another layer; "
        "`rehead layers` lists those that can be used."
    )


def features_last(net: nn.Module, name: str = "") -> bool | None:
    """Whether a layer's 3-d output is (batch, tokens, features); None if that cannot be told.

    The last part of it that has a preference decides: a linear layer and a layer norm work on the
    last axis, a convolution and a batch norm on the second. An activation has none, then the
    layers before it do.
    """
    names = [n for n, _ in net.named_modules()]
    layer = net.get_submodule(name)
    before = [net.get_submodule(n) for n in names[: names.index(name)] if n]
    for part in reversed([*before, *layer.modules()]):
        if isinstance(part, FEATURES_LAST):
            return True
        if isinstance(part, FEATURES_SECOND):
            return False
    return None


def pool_output(
    output: Tensor, pool: Pool, layer: str, *, tokens: bool | None, mask: Tensor | None
) -> Tensor:
    """One vector a sample.

    "mean" averages maps F x L, F x H x W and F x D x H x W over space, as in the paper (section
    4.1), and token sequences over the tokens that the attention mask keeps. "first" takes the
    first token, "tokens" and "channels" say which axis of a 3-d output holds what, "flatten" keeps
    everything, "grid" averages over the cells of a grid (:func:`pool_to_grid`).

    Examples
    --------
    >>> import torch
    >>> maps = torch.arange(8.0).reshape(1, 2, 2, 2)
    >>> pool_output(maps, "mean", "conv", tokens=None, mask=None)
    tensor([[1.5000, 5.5000]])
    """
    if callable(pool):
        output = pool(output)
    elif pool == "grid":
        output = pool_to_grid(output)
    elif pool == "flatten" or output.ndim == 2:
        output = output.flatten(1)
    elif output.ndim == 1:
        output = output[:, None]
    elif output.ndim == 3 and pool != "channels":
        output = _pool_3d(output, pool, layer, tokens, mask)
    else:
        output = output.flatten(2).mean(dim=2)
    if output.ndim != 2:
        raise ValueError(
            f"Layer {layer!r} gives {tuple(output.shape)} after pooling, not one vector a sample. "
            "A pool function must return (batch, features)."
        )
    return output


def pool_to_grid(x: Tensor) -> Tensor:
    """Images (and series, and volumes) as a few numbers a sample: means over equal cells of space.

    The cells are as small as ``GRID_FEATURES`` allows, so that class Gaussians can be estimated
    from few samples. What has no more features than that is kept as it is, and so is a vector,
    unless it is wider than ``WIDEST``: then it is sketched.

    Examples
    --------
    >>> import torch
    >>> pool_to_grid(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 75])
    >>> pool_to_grid(torch.zeros(2, 1, 8, 8)).shape, pool_to_grid(torch.zeros(2, 500)).shape
    (torch.Size([2, 64]), torch.Size([2, 500]))
    """
    if x.ndim == 2 and x.shape[1] > WIDEST:
        return sketch_vectors(x)
    if x.ndim <= 2 or x[0].numel() <= GRID_FEATURES:
        return x.flatten(1)
    if x.ndim == 3:
        x = x[:, None]  # maps without channels
    channels, *space = x.shape[1:]
    size = next(
        k
        for k in range(1, max(space) + 1)
        if k == max(space) or channels * math.prod(-(-n // k) for n in space) <= GRID_FEATURES
    )
    averages = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}
    cells: Tensor = averages[len(space)](x, size, ceil_mode=True, count_include_pad=False)
    return cells.flatten(1)


def _pool_3d(
    output: Tensor, pool: Pool, layer: str, tokens: bool | None, mask: Tensor | None
) -> Tensor:
    fits_mask = mask is not None and mask.shape == output.shape[:2]
    if pool == "first":
        return output[:, 0]
    if pool == "mean" and not fits_mask:
        if tokens is None:
            raise ValueError(
                f"Layer {layer!r} gives {tuple(output.shape)}: it is not clear whether features "
                "come second (a 1-d map) or last (tokens). Say pool='channels' or pool='tokens'."
            )
        if not tokens:
            return output.mean(dim=2)
    if not fits_mask:
        return output.mean(dim=1)
    assert mask is not None
    weights = mask.to(output.dtype)[:, :, None]
    return (output * weights).sum(dim=1) / weights.sum(dim=1).clamp(
        min=torch.finfo(output.dtype).tiny
    )
