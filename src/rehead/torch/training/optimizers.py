"""A recipe's optimiser, and what changes about it in the course of training."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn
from torch.optim import SGD, Adam, Optimizer

from rehead.torch.training.recipes import Recipe


def make_optimizer(net: nn.Module, recipe: Recipe) -> Optimizer:
    """The recipe's optimiser."""
    parameters = [p for p in net.parameters() if p.requires_grad]
    fused = all(p.is_floating_point() and p.device.type in ("cpu", "cuda") for p in parameters)
    if recipe.optimizer == "adam":
        return Adam(
            parameters, lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=fused
        )
    return SGD(
        parameters,
        lr=recipe.learning_rate,
        momentum=recipe.momentum,
        weight_decay=recipe.weight_decay,
        fused=fused,
    )


def set_betas(optimizer: Optimizer, recipe: Recipe, epoch: int) -> None:
    """Adam's betas of an epoch."""
    for group in optimizer.param_groups:
        if "betas" in group:
            group["betas"] = recipe.betas_at(epoch)


def set_learning_rate(optimizers: Iterable[Optimizer], rate: float) -> None:
    """The learning rate of the next step."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate
