"""Decoupling (Malach & Shalev-Shwartz 2017): when to update is decoupled from how to update."""

from __future__ import annotations

import torch
from torch import Tensor

from rehead.torch.training import selection
from rehead.torch.training.method import Batch, Method, Moment
from rehead.torch.training.settings import check_count
from rehead.torch.training.state import Memory


def decoupling(*, warmup: int = 0) -> Method:
    """Decoupling: two networks learn only from samples on which they disagree.

    Parameters
    ----------
    warmup : int, default=0
        Epochs of plain training first.
    """
    check_count("warmup", warmup, least=0)

    def select(
        losses: list[Tensor], logits: list[Tensor], batch: Batch, moment: Moment, memory: Memory
    ) -> list[Tensor]:
        if moment.epoch < warmup:
            return [torch.full_like(loss, 1 / len(loss)) for loss in losses]
        weights = selection.disagreement(logits[0], logits[1])
        memory["disagreement"] = (weights > 0).float().mean()
        return [weights, weights]

    return Method("decoupling", {"warmup": warmup}, select=select, networks=2)
