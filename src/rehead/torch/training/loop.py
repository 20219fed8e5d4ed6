"""A plain training loop for data that fits in memory."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from rehead._typing import Array


def train(
    net: nn.Module,
    X: Array,
    y: Array,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    seed: int,
    stop_when_fitted: float = 1.0,
    on_epoch: Callable[[int, float], None] | None = None,
) -> float:
    """Train with cross-entropy and Adam until a share of the labels is fitted.

    Parameters
    ----------
    net : nn.Module
        Trained in place.
    X, y : arrays
        Inputs and class codes 0 .. C-1.
    epochs : int
        At most so many; the learning rate falls to 0 along a cosine.
    batch_size, learning_rate, seed
        The seed decides the order of the samples.
    stop_when_fitted : float, default=1.0
        Training ends once this share of the labels is predicted (during an epoch).
    on_epoch : callable, optional
        Called with the epoch's number and the share of labels fitted.

    Returns
    -------
    float
        The share of labels fitted in the last epoch.
    """
    inputs, labels = torch.from_numpy(X), torch.from_numpy(y)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(net.parameters(), lr=learning_rate, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    fitted = 0.0
    net.train()
    for epoch in range(1, epochs + 1):
        right = 0
        order = torch.randperm(len(labels), generator=generator)
        for a in range(0, len(labels), batch_size):
            batch = order[a : a + batch_size]
            logits = net(inputs[batch])
            loss = nn.functional.cross_entropy(logits, labels[batch])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            right += int((logits.argmax(1) == labels[batch]).sum())
        schedule.step()
        fitted = right / len(labels)
        if on_epoch is not None:
            on_epoch(epoch, fitted)
        if fitted >= stop_when_fitted:
            break
    return fitted
