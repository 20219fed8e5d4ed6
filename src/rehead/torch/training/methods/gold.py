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
from rehead.torch.training.settings import check_percentile, check_share
from rehead.torch.training.state import Memory
from rehead.torch.training.task import Task


def forward_gold(*, percentile: float | None = 97.0, held_out: float = 0.0) -> Method:
    """Forward correction with T from anchor points, and plain cross-entropy on trusted samples.

    Parameters
    ----------
    percentile : float, optional
        As for forward.
    held_out : float, default=0
        Share of the untrusted samples that choose the weights of the first network. With 0, as
        published, the last are taken: with a recipe that memorises the labels, these say little
        about the noise, and 0.1 is better.
    """
    check_percentile(percentile)
    check_share("held_out", held_out)

    def prepare(task: Task, train_first: TrainFirst) -> Memory:
        if bool(task.trusted.all()):
            return _remember(task, None)
        # As the reference for texts: anchors among all samples.
        p = predict_probabilities(_first(task, train_first, held_out), task.X, task.device)
        return _remember(task, matrices.anchor_points(p, percentile=percentile))

    return Method(
        "forward-gold",
        {"percentile": percentile, "held_out": held_out},
        gold_loss,
        prepare=prepare,
        needs_trusted=True,
        stages=True,
    )


def glc(every_class: bool = True) -> Method:
    """Gold loss correction: T is the mean prediction over trusted samples of each class.

    Parameters
    ----------
    every_class : bool, default=True
        False: a class without a trusted sample is no error; its labels are taken for random.
    """

    def prepare(task: Task, train_first: TrainFirst) -> Memory:
        gold = task.trusted.cpu().numpy()
        y = task.y.cpu().numpy()[gold]
        if every_class:
            matrices.check_every_class(y, task.n_classes)
        if gold.all():
            return _remember(task, None)
        trusted = task.X[task.trusted.to(task.X.device)]
        p = predict_probabilities(_first(task, train_first), trusted, task.device)
        T = matrices.gold_transition(p, y, task.n_classes, every_class=every_class)
        return _remember(task, T)

    asked = {} if every_class else {"every_class": False}
    return Method("glc", asked, gold_loss, prepare=prepare, needs_trusted=True, stages=True)


def _first(task: Task, train_first: TrainFirst, held_out: float = 0.0) -> nn.Module:
    """A network trained on the untrusted samples, or on those that are not held out."""
    silver = task.only(~task.trusted.cpu().numpy())
    silver = silver.holding_out(held_out) if held_out else silver
    return train_first("silver", silver, cross_entropy()).net


def gold_loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
    """Corrected losses of silver samples, plain ones of gold samples."""
    return losses.forward_corrected(z, batch.y, memory["transition"], batch.trusted)


def _remember(task: Task, T: Array | None) -> Memory:
    """The matrix; without one, where all labels are right, the identity."""
    matrix = torch.eye(task.n_classes) if T is None else torch.as_tensor(T)
    return {"transition": matrix.double().to(task.device)}
