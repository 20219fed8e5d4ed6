"""D2L, dimensionality-driven learning (Ma et al. 2018).

When a network begins to fit wrong labels, the local intrinsic dimensionality (LID) of its features
stops falling and grows. D2L trains plainly until it sees that turning point, goes back one epoch,
and from there on trusts its own predictions the more, the larger LID has become.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rehead.torch.features import extract_features
from rehead.torch.training import lid as dimension
from rehead.torch.training import losses
from rehead.torch.training.method import Batch, Method, Moment, TrainFirst
from rehead.torch.training.settings import check_count
from rehead.torch.training.state import Memory
from rehead.torch.training.task import Task, derived_seed

BEFORE = "previous/"
"""Prefix of the weights of one epoch before, in the memory."""


class Measurement(NamedTuple):
    """How LID is measured; see :func:`d2l`."""

    neighbours: int = 20
    batches: int = 10
    batch_size: int = 128
    layer: str | None = None


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
        40 of 120 (CIFAR-10). :func:`published_settings` has those of other data sets.
    window : int, default=5
        The newest LID must exceed the mean of this many before it by two standard deviations.
    neighbours, batches, batch_size : int
        LID is the mean over ``batches`` random batches, each searched for neighbours within.
    layer : str, optional
        Where features are taken; default: the network's last feature layer.
    """
    for name, value in (("window", window), ("neighbours", neighbours), ("batches", batches)):
        check_count(name, value)
    how = Measurement(neighbours, batches, batch_size, layer)

    def prepare(task: Task, train_first: TrainFirst) -> Memory:
        _check_neighbours(task, how)
        return {"alpha": torch.tensor(1.0), "turning_point": torch.tensor(-1)}

    def before_epoch(nets: list[nn.Module], task: Task, moment: Moment, memory: Memory) -> None:
        net = nets[0]
        values = _note_lid(memory, mean_lid(net, task, moment.epoch, how))
        since = moment.epochs // 3 if first is None else first
        if not _has_turned(memory) and dimension.turned(values, since, window):
            memory["turning_point"] = torch.tensor(moment.epoch)
            _go_back(net, memory)
        if _has_turned(memory):
            alpha = dimension.label_trust(values, moment.epoch, moment.epochs)
            memory["alpha"] = torch.tensor(alpha)
        else:
            _note_weights(net, memory)

    def loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
        return losses.bootstrap_hard(z, batch.y, float(memory["alpha"]))

    settings = {"first": first, "window": window, **how._asdict()}
    return Method("d2l", settings, loss, prepare=prepare, before_epoch=before_epoch)


def mean_lid(net: nn.Module, task: Task, epoch: int, how: Measurement) -> float:
    """Mean LID of random training samples; NaN if there is none."""
    size = min(how.batch_size, len(task.y))
    # A generator of its own, so that batches come in the order they have without D2L.
    generator = torch.Generator().manual_seed(derived_seed(task.seed, "lid", epoch))
    rows = torch.randperm(len(task.y), generator=generator)[: size * how.batches]
    rows = rows[: len(rows) // size * size].to(task.X.device)
    own = [str(name) for name in getattr(net, "feature_layers", ())][-1:]
    names: Any = [how.layer] if how.layer is not None else own or "hidden"
    samples = torch.split(task.X[rows], size)
    found = extract_features(net, list(samples), names, progress=False)
    features = torch.from_numpy(list(found.layers.values())[-1])
    parts = torch.split(features, size)
    values = torch.cat([dimension.lid(part, how.neighbours) for part in parts])
    return float(values[torch.isfinite(values)].mean())


def _check_neighbours(task: Task, how: Measurement) -> None:
    size = min(how.batch_size, len(task.y))
    if size <= how.neighbours:
        raise ValueError(
            f"D2L looks for {how.neighbours} neighbours of each sample in batches of {size}. Give "
            "it more samples, a larger batch_size, or fewer neighbours."
        )


def _note_lid(memory: Memory, value: float) -> list[float]:
    """LID of all epochs so far; an invalid value is replaced by the one before it."""
    values: list[float] = memory.get("lids", torch.empty(0)).tolist()
    values.append(value if value > 0 else (values[-1] if values else 1.0))
    memory["lids"] = torch.tensor(values, dtype=torch.float64)
    memory["lid"] = memory["lids"][-1].clone()
    return values


def _has_turned(memory: Memory) -> bool:
    return int(memory["turning_point"]) >= 0


def _note_weights(net: nn.Module, memory: Memory) -> None:
    """Weights at the start of this epoch, to go back to from the next."""
    state = copy.deepcopy(net.state_dict())
    memory.update({BEFORE + name: value for name, value in state.items()})


def _go_back(net: nn.Module, memory: Memory) -> None:
    """Give the network the weights of one epoch before, which are not needed any more then."""
    names = [name for name in memory if name.startswith(BEFORE)]
    net.load_state_dict({name.removeprefix(BEFORE): memory.pop(name) for name in names})
