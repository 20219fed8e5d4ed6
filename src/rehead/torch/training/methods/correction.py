"""Forward and backward loss correction (Patrini et al. 2017).

With a known transition matrix, or with one that is estimated at anchor points: a first network is
trained with cross-entropy, stopped where its loss on a held-out tenth of the noisy samples is
smallest, and asked for its surest sample of each class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rehead import _validation as check
from rehead._typing import Array
from rehead.torch.training import losses
from rehead.torch.training import transition as matrices
from rehead.torch.training.method import Batch, Method, TrainFirst
from rehead.torch.training.methods.cross_entropy import cross_entropy
from rehead.torch.training.predictions import predict_probabilities
from rehead.torch.training.settings import check_percentile
from rehead.torch.training.state import Memory
from rehead.torch.training.task import Task

HELD_OUT = 0.1


class Noise(NamedTuple):
    """What is known about the noise: its matrix, or how to find anchor points for one."""

    transition: Any
    percentile: float | None

    @property
    def settings(self) -> dict[str, Any]:
        """What makes two of them the same, as JSON."""
        if self.transition is None:
            return {"transition": "anchors", "percentile": self.percentile}
        return {"transition": np.asarray(self.transition, float).tolist()}

    def matrix(self, task: Task, train_first: TrainFirst) -> Array:
        """The given matrix, checked, or an estimated one."""
        if self.transition is None:
            return anchor_transition(task, train_first, self.percentile)
        return check.check_transition(self.transition, np.arange(task.n_classes))


def forward(*, transition: Any = None, percentile: float | None = 97.0) -> Method:
    """Forward correction: predictions go through the noise before they meet the labels.

    Parameters
    ----------
    transition : matrix of shape (n_classes, n_classes), optional
        ``T[i, j] = P(observed j | true i)``. By default it is estimated at anchor points.
    percentile : float, optional
        Anchors are the surest samples below this percentile. ``None`` takes the surest of all, as
        the reference does for CIFAR-100.
    """
    check_percentile(percentile)
    noise = Noise(transition, percentile)

    def prepare(task: Task, train_first: TrainFirst) -> Memory:
        T = noise.matrix(task, train_first)
        matrices.check_labels_possible(T, task.y.cpu().numpy())
        return {"transition": torch.from_numpy(T).to(task.device)}

    def loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
        return losses.forward_corrected(z, batch.y, memory["transition"])

    return Method("forward", noise.settings, loss, prepare=prepare, stages=transition is None)


def backward(*, transition: Any = None, percentile: float | None = 97.0) -> Method:
    """Backward correction: losses go back through the inverse of the noise.

    Parameters
    ----------
    transition, percentile
        As for forward; the matrix must have an inverse.
    """
    check_percentile(percentile)
    noise = Noise(transition, percentile)

    def prepare(task: Task, train_first: TrainFirst) -> Memory:
        T = noise.matrix(task, train_first)
        return {
            "transition": torch.from_numpy(T).to(task.device),
            "inverse": torch.from_numpy(matrices.inverse(T)).to(task.device),
        }

    def loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
        return losses.backward_corrected(z, batch.y, memory["inverse"])

    return Method("backward", noise.settings, loss, prepare=prepare, stages=transition is None)


def anchor_transition(task: Task, train_first: TrainFirst, percentile: float | None) -> Array:
    """Train a network with cross-entropy and estimate T from its predictions."""
    first = train_first("anchors", task.holding_out(HELD_OUT), cross_entropy())
    p = predict_probabilities(first.net, task.X, task.device)
    return matrices.anchor_points(p, percentile=percentile)
