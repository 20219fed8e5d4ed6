"""Held-out samples: watched after each epoch, and choosing weights where the best are kept."""

from __future__ import annotations

import copy
import math

import torch
from torch.nn.functional import cross_entropy

from rehead.torch.training.predictions import predict_logits
from rehead.torch.training.state import State
from rehead.torch.training.task import Task

BEST = "best/"
"""Prefix of the weights with the smallest held-out loss, in the memory."""


def watch(task: Task, state: State) -> dict[str, float]:
    """Loss and accuracy on held-out samples; notes the weights if they are the best so far."""
    if task.held_out is None:
        return {}
    X, y, keep_best = task.held_out
    logits = predict_logits(state.nets[0], X, task.device)
    loss = float(cross_entropy(logits, y.cpu()))
    memory = state.memory
    if keep_best and loss < float(memory.get("best_loss", torch.tensor(math.inf))):
        memory["best_loss"] = torch.tensor(loss, dtype=torch.float64)
        for i, net in enumerate(state.nets):
            weights = copy.deepcopy(net.state_dict())
            memory.update({f"{BEST}{i}/{name}": value for name, value in weights.items()})
    return {
        "held_out_loss": loss,
        "held_out_accuracy": float((logits.argmax(1) == y.cpu()).float().mean()),
    }


def load_best(state: State) -> None:
    """Go back to the weights with the smallest held-out loss."""
    for i, net in enumerate(state.nets):
        prefix = f"{BEST}{i}/"
        net.load_state_dict(
            {k.removeprefix(prefix): v for k, v in state.memory.items() if k.startswith(prefix)}
        )
