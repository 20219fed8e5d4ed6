"""One epoch: every sample once, batch by batch, for one network or two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from rehead.torch.training.augment import AUGMENTATIONS
from rehead.torch.training.method import Batch, Method, Moment
from rehead.torch.training.optimizers import set_betas, set_learning_rate
from rehead.torch.training.recipes import Recipe
from rehead.torch.training.state import State
from rehead.torch.training.task import Task, image_layout


def train_epoch(
    task: Task, method: Method, state: State, moment: Moment, advance: Callable[[int], None]
) -> dict[str, Any]:
    """One pass over the data, from the moment of its first step; returns the numbers of the log."""
    recipe, device = task.recipe, task.device
    for net, optimizer in zip(state.nets, state.optimizers, strict=True):
        net.train()
        set_betas(optimizer, recipe, moment.epoch)
    total = torch.zeros((), device=device)
    right = torch.zeros((), dtype=torch.int64, device=device)
    seen, layout = 0, image_layout(state.nets[0])
    steps_of_epoch = moment.steps // moment.epochs
    for i, rows in enumerate(batches(len(task.y), recipe)):
        x = _inputs(task, rows, layout)
        rows = rows.to(device)
        batch = Batch(task.y[rows], task.trusted[rows], rows)
        now = moment._replace(step=moment.step + i)
        rate = recipe.learning_rate_at(now.step / steps_of_epoch)
        set_learning_rate(state.optimizers, rate)
        logits, losses = step(state, method, x, batch, now, task.precision)
        total += losses[0].detach().sum()
        right += (logits[0].detach().argmax(dim=1) == batch.y).sum()
        seen += len(rows)
        advance(1)
    return {
        "epoch": moment.epoch + 1,
        "learning_rate": rate,
        "loss": float(total) / seen,
        "fitted": float(right) / seen,
        # Names with a slash are weights.
        **{k: float(v) for k, v in state.memory.items() if v.ndim == 0 and "/" not in k},
    }


def _inputs(task: Task, rows: Tensor, layout: torch.memory_format) -> Tensor:
    """Inputs of a batch on the device, augmented."""
    x = task.X[rows].to(task.device, non_blocking=True)
    for name in task.recipe.augment:
        x = AUGMENTATIONS[name](x)
    return x.contiguous(memory_format=layout) if x.ndim == 4 else x


def step(
    state: State,
    method: Method,
    x: Tensor,
    batch: Batch,
    moment: Moment,
    precision: torch.dtype = torch.float32,
) -> tuple[list[Tensor], list[Tensor]]:
    """One batch: each network's objective is the sum of weight times loss.

    A network for which no sample counts is left alone: a step with a gradient of 0 would still
    move it, by momentum and weight decay.
    """
    mixed = precision != torch.float32
    with torch.autocast(x.device.type, dtype=precision if mixed else None, enabled=mixed):
        logits = [net(x) for net in state.nets]
    losses = [method.loss(z, batch, state.memory) for z in logits]
    weights: list[Tensor | None] = [None] * len(losses)
    if method.select is not None:
        with torch.no_grad():
            weights[:] = method.select(losses, logits, batch, moment, state.memory)
    for loss, weight, optimizer in zip(losses, weights, state.optimizers, strict=True):
        if weight is None:
            objective = loss.mean()
        elif bool(weight.any()):
            objective = (weight * loss).sum()
        else:
            continue
        optimizer.zero_grad(set_to_none=True)
        objective.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return logits, losses


def batch_starts(n: int, recipe: Recipe) -> list[int]:
    """Where batches begin. A single sample left over joins the batch before it."""
    starts = list(range(0, n, recipe.batch_size))
    left = n % recipe.batch_size
    if len(starts) > 1 and (left == 1 or (recipe.drop_last and left)):
        starts.pop()
    return starts


def batches(n: int, recipe: Recipe) -> Iterator[Tensor]:
    """Rows of each batch of an epoch, in a new random order."""
    order = torch.randperm(n)
    starts = batch_starts(n, recipe)
    end = len(starts) * recipe.batch_size if recipe.drop_last else n
    for a, b in zip(starts, [*starts[1:], end], strict=True):
        yield order[a:b]
