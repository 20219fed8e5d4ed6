"""A run under way, and what it gives in the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

Memory = dict[str, Tensor]
"""All that a method remembers. It is kept in checkpoints; its numbers go to the log."""
History = list[dict[str, Any]]
"""The numbers of each epoch, as in the log."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What training gave.

    Attributes
    ----------
    nets : list of nn.Module
        One, or two for decoupling and co-teaching, in evaluation mode.
    history : list of dict
        Loss, share of labels fitted, learning rate and seconds of each epoch; loss and accuracy on
        the held-out samples where there are any; the method's own numbers.
    memory : dict of str to Tensor
        What the method remembers: an estimated transition matrix, for example.
    """

    nets: list[nn.Module]
    history: History
    memory: Memory = field(default_factory=dict)

    @property
    def net(self) -> nn.Module:
        """The network to use; of two, the first."""
        return self.nets[0]

    @property
    def fitted(self) -> float:
        """Share of the training labels that the last epoch predicted while it trained."""
        return float(self.history[-1]["fitted"])


@dataclass(eq=False)
class State:
    """Where a run stands: all that changes while it trains, and all that a checkpoint keeps.

    Attributes
    ----------
    nets, optimizers : lists of equal length
        One network and its optimiser, or two.
    memory : dict of str to Tensor
        What the method remembers.
    history : list of dict
        The epochs that are done.
    """

    nets: list[nn.Module]
    optimizers: list[Optimizer]
    memory: Memory = field(default_factory=dict)
    history: History = field(default_factory=list)

    def trained(self) -> Trained:
        """What the run gives, with networks in evaluation mode."""
        return Trained([net.eval() for net in self.nets], self.history, self.memory)
