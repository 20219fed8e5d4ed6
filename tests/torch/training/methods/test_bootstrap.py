"""Bootstrapping (A2, A3): the settings reach the losses, which have tests of their own."""

import pytest
import torch

from rehead.torch.training import METHODS, losses
from rehead.torch.training.method import Batch


@pytest.mark.parametrize(
    ("name", "loss"),
    [("bootstrap-hard", losses.bootstrap_hard), ("bootstrap-soft", losses.bootstrap_soft)],
)
@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_the_share_of_the_label_is_the_one_asked_for(name: str, loss, beta: float) -> None:
    z = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))
    batch = Batch(torch.arange(12) % 3, torch.ones(12, dtype=torch.bool), torch.arange(12))
    found = METHODS[name](beta=beta).loss(z, batch, {})
    assert torch.equal(found, loss(z, batch.y, beta))
    assert not torch.equal(found, METHODS[name]().loss(z, batch, {}))
