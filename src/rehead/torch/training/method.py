"""What a training method is made of: a loss, a selection rule, and what it does between epochs.

The loop (``loop.py``) is the same for all; a method only says how a batch becomes an objective.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from rehead.torch.training import losses
from rehead.torch.training.state import Memory, Trained
from rehead.torch.training.task import Task


class Batch(NamedTuple):
    """Labels of a batch, whether each is trusted, and the rows it comes from."""

    y: Tensor
    trusted: Tensor
    rows: Tensor


class Moment(NamedTuple):
    """A time in training, counted from 0."""

    epoch: int
    epochs: int
    step: int
    steps: int

    @property
    def progress(self) -> float:
        """The share of training that is done."""
        return self.step / self.steps


Loss = Callable[[Tensor, Batch, Memory], Tensor]
"""Logits to the loss of each sample."""
Selection = Callable[[list[Tensor], list[Tensor], Batch, Moment, Memory], list[Tensor]]
"""Losses and logits of each network to the weight of each sample for each network."""
TrainFirst = Callable[[str, Task, "Method"], Trained]
"""Trains networks of their own before the real ones, as methods in several stages do: a name for
the stage, a task, a method. A stage that was killed continues like any run."""
Preparation = Callable[[Task, TrainFirst], Memory]
"""What has to be known before training; it may train other networks first."""
BeforeEpoch = Callable[[list[nn.Module], Task, Moment, Memory], None]
"""What happens at the start of an epoch."""


def _plain(z: Tensor, batch: Batch, memory: Memory) -> Tensor:
    return losses.cross_entropy(z, batch.y)


@dataclass(frozen=True)
class Method:
    """A training method.

    Attributes
    ----------
    name : str
    settings : dict
        What makes two runs of the method the same, as JSON.
    loss : callable
        See ``Loss``; cross-entropy by default.
    select : callable, optional
        See ``Selection``; by default every sample counts alike. No gradient goes through it.
    networks : int
    prepare, before_epoch : callables, optional
        See ``Preparation`` and ``BeforeEpoch``.
    needs_trusted : bool
        Whether some samples must be known to have the right label.
    stages : bool
        Whether other networks are trained first.

    Examples
    --------
    Cross-entropy on the half of each batch that is fitted best:

    >>> from rehead.torch.training import Method, selection
    >>> def select(losses, logits, batch, moment, memory):
    ...     return [selection.smallest(loss, keep=len(loss) // 2) for loss in losses]
    >>> Method("best half", select=select).networks
    1
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    loss: Loss = _plain
    select: Selection | None = None
    networks: int = 1
    prepare: Preparation | None = None
    before_epoch: BeforeEpoch | None = None
    needs_trusted: bool = False
    stages: bool = False

    def __post_init__(self) -> None:
        plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in self.settings.items()}
        object.__setattr__(self, "settings", plain)
