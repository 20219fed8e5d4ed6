"""A task: the data, the network and the recipe that a method is given to train with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from rehead._typing import Array
from rehead.torch.training.recipes import Recipe

if TYPE_CHECKING:
    from rehead.torch.training.loop import Trained
    from rehead.torch.training.method import Method

MakeNet = Callable[[], nn.Module]


@dataclass(frozen=True)
class Task:
    """Everything about a training run except the method.

    ``held_out`` are samples to watch, ``folder`` is where checkpoints go, ``keep`` says whether the
    last weights count or those with the smallest loss on the held-out samples.
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
    held_out: tuple[Tensor, Tensor] | None = None
    folder: Path | None = None
    progress: bool | None = None
    keep: str = "last"
    on_epoch: Callable[[dict[str, Any]], None] | None = None
    label: str = ""

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

    def with_validation(self, share: float) -> Task:
        """The same task with a random part of its samples held out, and the best weights kept."""
        rng = np.random.default_rng(derived_seed(self.seed, "held out"))
        order = rng.permutation(len(self.y))
        n = max(1, round(share * len(order)))
        held = torch.from_numpy(order[:n])
        rest = self.only(np.sort(order[n:]))
        return replace(rest, held_out=(self.X[held], self.y[held]), keep="best")

    def stage(self, name: str, method: Method) -> Trained:
        """Train networks of their own first, as methods in several stages do; resumes like all."""
        from rehead.torch.training.loop import run

        folder = None if self.folder is None else self.folder / name
        seed = derived_seed(self.seed, name)
        return run(
            replace(self, folder=folder, label=f"{self.label}{name}, ", seed=seed, on_epoch=None),
            method,
        )


def derived_seed(seed: int, *path: Any) -> int:
    """An independent seed for a purpose: the same numbers never serve two of them."""
    words = [int.from_bytes(str(part).encode()[:32], "little") for part in path]
    return int(np.random.SeedSequence([seed, *words]).generate_state(1, np.uint64)[0] >> 1)


def predict_logits(
    net: nn.Module, X: Tensor, device: torch.device, batch_size: int = 512
) -> Tensor:
    """Logits of un-augmented inputs in evaluation mode, on the CPU; the mode is put back."""
    was_training = net.training
    net.eval()
    try:
        with torch.inference_mode():
            parts = [
                net(X[a : a + batch_size].to(device)).float().cpu()
                for a in range(0, len(X), batch_size)
            ]
    finally:
        net.train(was_training)
    return torch.cat(parts)


def predict_probabilities(net: nn.Module, X: Tensor, device: torch.device) -> Array:
    """Softmax of the above, in double precision."""
    p: Array = predict_logits(net, X, device).double().softmax(dim=1).numpy()
    return p


def image_layout(net: nn.Module) -> torch.memory_format:
    """How images lie in memory: with the channels of a pixel side by side, where that is faster.

    With fewer than eight channels the backward pass of PyTorch's processor kernels (2.13) may never
    end in that layout, and nothing is gained.
    """
    narrow = any(m.out_channels < 8 for m in net.modules() if isinstance(m, nn.Conv2d))
    return torch.contiguous_format if narrow else torch.channels_last
