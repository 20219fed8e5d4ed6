"""Forward and backward loss correction (Patrini et al. 2017).

With a known transition matrix, or with one that is estimated at anchor points: a first network is
trained with cross-entropy, stopped where its loss on a held-out tenth of the noisy samples is
smallest, and asked for its surest sample of each class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rehead._typing import Array
from rehead.torch.training import losses
from rehead.torch.training import transition as matrices
from rehead.torch.training.method import Batch, Memory, Method
from rehead.torch.training.methods.cross_entropy import cross_entropy
from rehead.torch.training.settings import check_percentile
from rehead.torch.training.task import Task, predict_probabilities

HELD_OUT = 0.1


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

    def prepare(task: Task) -> Memory:
        T = _matrix(task, transition, percentile)
        matrices.check_labels_possible(T, task.y.cpu().numpy())
        return {"transition": torch.from_numpy(T).to(task.device)}

    def loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
        return losses.forward_corrected(z, batch.y, memory["transition"])

    settings = _settings(transition, percentile)
    return Method("forward", settings, loss, prepare=prepare, stages=transition is None)


def backward(*, transition: Any = None, percentile: float | None = 97.0) -> Method:
    """Backward correction: losses go back through the inverse of the noise.

    Parameters
    ----------
    transition, percentile
        As for forward; the matrix must have an inverse.
    """
    check_percentile(percentile)

    def prepare(task: Task) -> Memory:
        T = _matrix(task, transition, percentile)
        return {
            "transition": torch.from_numpy(T).to(task.device),
            "inverse": torch.from_numpy(matrices.inverse(T)).to(task.device),
        }

    def loss(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
        return losses.backward_corrected(z, batch.y, memory["inverse"])

    settings = _settings(transition, percentile)
    return Method("backward", settings, loss, prepare=prepare, stages=transition is None)


def anchor_transition(task: Task, percentile: float | None) -> Array:
    """Train a network with cross-entropy and estimate T from its predictions."""
    first = task.with_validation(HELD_OUT).stage("anchors", cross_entropy())
    p = predict_probabilities(first.net, task.X, task.device)
    return matrices.anchor_points(p, percentile=percentile)


def _matrix(task: Task, transition: Any, percentile: float | None) -> Array:
    if transition is None:
        return anchor_transition(task, percentile)
    return matrices.check_transition(transition, task.n_classes)


def _settings(transition: Any, percentile: float | None) -> dict[str, Any]:
    if transition is None:
        return {"transition": "anchors", "percentile": percentile}
    return {"transition": np.asarray(transition, float).tolist()}
