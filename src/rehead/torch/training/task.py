"""A task: the samples, the network and the recipe that a method is given to train with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from rehead._typing import Array
from rehead.torch.training.recipes import Recipe

MakeNet = Callable[[], nn.Module]


class HeldOut(NamedTuple):
    """Samples that are watched, and whether they choose the weights that are kept."""

    X: Tensor
    y: Tensor
    keep_best: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned, with which network and how: all that a method is given.

    Attributes
    ----------
    make_net : callable
        Makes a new network.
    X, y : Tensor
        Inputs, and class codes.
    trusted : Tensor
        Whether each label is known to be right.
    n_classes : int
    recipe : Recipe
    seed : int
    device : torch.device
    precision : torch.dtype
        Of what a network computes; its weights are in single precision.
    held_out : HeldOut, optional
    """

    make_net: MakeNet
    X: Tensor
    y: Tensor
    trusted: Tensor
    n_classes: int
    recipe: Recipe
    seed: int
    device: torch.device
    precision: torch.dtype = torch.float32
    held_out: HeldOut | None = None

    def network(self, number: int = 0) -> nn.Module:
        """A new network; its weights depend on the seed and its number only."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(self.seed, "network", number))
            net = self.make_net().to(self.device)
        return net.to(memory_format=image_layout(net)) if self.X.ndim == 4 else net  # type: ignore[call-overload]

    def only(self, rows: Array) -> Task:
        """The same task with some of the samples."""
        index = torch.from_numpy(np.flatnonzero(rows) if rows.dtype == bool else rows)
        return replace(self, X=self.X[index], y=self.y[index], trusted=self.trusted[index])

    def holding_out(self, share: float) -> Task:
        """The same task with a random part of its samples held out, to choose the best weights."""
        rng = np.random.default_rng(derived_seed(self.seed, "held out"))
        order = rng.permutation(len(self.y))
        n = max(1, round(share * len(order)))
        held = torch.from_numpy(order[:n])
        held_out = HeldOut(self.X[held], self.y[held], keep_best=True)
        return replace(self.only(np.sort(order[n:])), held_out=held_out)

    def stage(self, name: str) -> Task:
        """The same task for networks that are trained first, with a seed of their own."""
        return replace(self, seed=derived_seed(self.seed, name))


def derived_seed(seed: int, *path: Any) -> int:
    """An independent seed for a purpose: the same numbers never serve two of them."""
    words = [int.from_bytes(str(part).encode()[:32], "little") for part in path]
    return int(np.random.SeedSequence([seed, *words]).generate_state(1, np.uint64)[0] >> 1)


def image_layout(net: nn.Module) -> torch.memory_format:
    """How images lie in memory: with the channels of a pixel side by side, where that is faster.

    With fewer than eight channels the backward pass of PyTorch's processor kernels (2.13) may never
    end in that layout, and nothing is gained.
    """
    narrow = any(m.out_channels < 8 for m in net.modules() if isinstance(m, nn.Conv2d))
    return torch.contiguous_format if narrow else torch.channels_last
