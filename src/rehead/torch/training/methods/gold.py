"""Methods with a few trusted samples (Hendrycks et al. 2018): forward gold, and GLC.

Both train a first network on the untrusted ("silver") samples only, estimate the noise with it,
and train anew: corrected on silver samples, plainly on trusted ("gold") ones.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rehead._typing import Array
from rehead.torch.training import losses
from rehead.torch.training import transition as matrices
from rehead.torch.training.method import Batch, Method, TrainFirst
from rehead.torch.training.methods.cross_entropy import cross_entropy
from rehead.torch.training.predictions import predict_probabilities
from rehead.torch.training.settings import check_percentile
from rehead.torch.training.state import Memory
from rehead.torch.training.task import Task


def forward_gold(*, percentile: float | None = 97.0) -> Method:
    """Forward correction with T from anchor points, and plain cross-entropy on trusted samples."""
    check_percentile(percentile)

    def prepare(task: Task, train_first: TrainFirst) -> Memory:
        if bool(task.trusted.all()):
            return _remember(task, None)
        # As the reference for texts: all of the untrusted samples, the last weights, and anchors
        # among all samples.
        p = predict_probabilities(_first(task, train_first), task.X, task.device)
        return _remember(task, matrices.anchor_points(p, percentile=percentile))

    return Method(
        "forward-gold",
        {"percentile": percentile},
        gold_loss,
        prepare=prepare,
        needs_trusted=True,
        stages=True,
    )


def glc() -> Method:
    """Gold loss correction: T is the mean prediction over trusted samples of each class."""

    def prepare(task: Task, train_first: TrainFirst) -> Memory:
        gold = task.trusted.cpu().numpy()
        y = task.y.cpu().numpy()[gold]
        matrices.check_every_class(y, task.n_classes)
        if gold.all():
            return _remember(task, None)
        trusted = task.X[task.trusted.to(task.X.device)]
        p = predict_probabilities(_first(task, train_first), trusted, task.device)
        return _remember(task, matrices.gold_transition(p, y, task.n_classes))

    return Method("glc", {}, gold_loss, prepare=prepare, needs_trusted=True, stages=True)


def _first(task: Task, train_first: TrainFirst) -> nn.Module:
    """A network trained on the untrusted samples."""
    silver = task.only(~task.trusted.cpu().numpy())
    return train_first("silver", silver, cross_entropy()).net


def gold_loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
    """Corrected losses of silver samples, plain ones of gold samples."""
    return losses.forward_corrected(z, batch.y, memory["transition"], batch.trusted)


def _remember(task: Task, T: Array | None) -> Memory:
    """The matrix; without one, where all labels are right, the identity."""
    matrix = torch.eye(task.n_classes) if T is None else torch.as_tensor(T)
    return {"transition": matrix.double().to(task.device)}
