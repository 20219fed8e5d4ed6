"""D2L, dimensionality-driven learning (Ma et al. 2018).

When a network begins to fit wrong labels, the local intrinsic dimensionality (LID) of its features
stops falling and grows. D2L trains plainly until it sees that turning point, goes back one epoch,
and from there on trusts its own predictions the more, the larger LID has become.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from rehead.torch.features import extract_features
from rehead.torch.training import lid as dimension
from rehead.torch.training import losses
from rehead.torch.training.method import Batch, Memory, Method, Moment
from rehead.torch.training.settings import check_count
from rehead.torch.training.task import Task, derived_seed

BEFORE = "previous/"
"""Prefix of the weights of one epoch before, in the memory."""


def d2l(
    *,
    first: int | None = None,
    window: int = 5,
    neighbours: int = 20,
    batches: int = 10,
    batch_size: int = 128,
    layer: str | None = None,
) -> Method:
    """D2L: labels are trusted less once the features' dimensionality grows.

    Parameters
    ----------
    first : int, optional
        Epochs before the turning point is looked for; a third of all by default, as the published
        40 of 120 (CIFAR-10).
    window : int, default=5
        The newest LID must exceed the mean of so many before it by two standard deviations.
    neighbours, batches, batch_size : int
        LID is the mean over ``batches`` random batches, each searched for neighbours within.
    layer : str, optional
        Where features are taken; default: the network's last feature layer.
    """
    for name, value in (("window", window), ("neighbours", neighbours), ("batches", batches)):
        check_count(name, value)

    def prepare(task: Task) -> Memory:
        size = min(batch_size, len(task.y))
        if size <= neighbours:
            raise ValueError(
                f"D2L looks for {neighbours} neighbours of each sample in batches of {size}. Give "
                "it more samples, a larger batch_size, or fewer neighbours."
            )
        return {"alpha": torch.tensor(1.0), "turning_point": torch.tensor(-1)}

    def before_epoch(nets: list[nn.Module], task: Task, moment: Moment, memory: Memory) -> None:
        net = nets[0]
        values: list[float] = memory.get("lids", torch.empty(0)).tolist()
        value = mean_lid(
            net,
            task,
            moment.epoch,
            layer=layer,
            neighbours=neighbours,
            batches=batches,
            batch_size=batch_size,
        )
        # An invalid value is replaced by the one before it.
        values.append(value if value > 0 else (values[-1] if values else 1.0))
        memory["lids"] = torch.tensor(values, dtype=torch.float64)
        memory["lid"] = memory["lids"][-1].clone()
        since = moment.epochs // 3 if first is None else first
        turned_before = int(memory["turning_point"]) >= 0
        if not turned_before and dimension.turned(values, since, window):
            memory["turning_point"] = torch.tensor(moment.epoch)
            net.load_state_dict(
                {k.removeprefix(BEFORE): v for k, v in memory.items() if k.startswith(BEFORE)}
            )
        if int(memory["turning_point"]) >= 0:
            alpha = dimension.label_trust(values, moment.epoch, moment.epochs)
            memory["alpha"] = torch.tensor(alpha)
            for name in [name for name in memory if name.startswith(BEFORE)]:
                del memory[name]
        else:
            state = copy.deepcopy(net.state_dict())
            memory.update({BEFORE + name: value for name, value in state.items()})

    def loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
        return losses.bootstrap_hard(z, batch.y, float(memory["alpha"]))

    settings = {
        "first": first,
        "window": window,
        "neighbours": neighbours,
        "batches": batches,
        "batch_size": batch_size,
        "layer": layer,
    }
    return Method("d2l", settings, loss, prepare=prepare, before_epoch=before_epoch)


def mean_lid(
    net: nn.Module,
    task: Task,
    epoch: int = 0,
    *,
    layer: str | None = None,
    neighbours: int = 20,
    batches: int = 10,
    batch_size: int = 128,
) -> float:
    """Mean LID of random training samples; NaN if there is none."""
    size = min(batch_size, len(task.y))
    # A generator of its own, so that batches come in the order they have without D2L.
    generator = torch.Generator().manual_seed(derived_seed(task.seed, "lid", epoch))
    rows = torch.randperm(len(task.y), generator=generator)[: size * batches]
    rows = rows[: len(rows) // size * size].to(task.X.device)
    own = [str(name) for name in getattr(net, "feature_layers", ())][-1:]
    names: Any = [layer] if layer is not None else own or "auto"
    samples = torch.split(task.X[rows], size)
    found = extract_features(net, list(samples), names, progress=False)
    features = torch.from_numpy(list(found.layers.values())[-1])
    values = torch.cat([dimension.lid(part, neighbours) for part in torch.split(features, size)])
    return float(values[torch.isfinite(values)].mean())
