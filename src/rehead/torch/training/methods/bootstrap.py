"""Bootstrapping (Reed et al. 2014): the target is a mix of the label and the prediction."""

from __future__ import annotations

from torch import Tensor

from rehead.torch.training import losses
from rehead.torch.training.method import Batch, Method
from rehead.torch.training.settings import check_share
from rehead.torch.training.state import Memory


def bootstrap_hard(*, beta: float = 0.8) -> Method:
    """Hard bootstrapping: the target is ``beta`` label + ``1 - beta`` predicted class."""
    check_share("beta", beta)

    def loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
        return losses.bootstrap_hard(z, batch.y, beta)

    return Method("bootstrap-hard", {"beta": beta}, loss)


def bootstrap_soft(*, beta: float = 0.95) -> Method:
    """Soft bootstrapping: the target is ``beta`` label + ``1 - beta`` predicted probabilities."""
    check_share("beta", beta)

    def loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
        return losses.bootstrap_soft(z, batch.y, beta)

    return Method("bootstrap-soft", {"beta": beta}, loss)
