"""Co-teaching (A11): each network learns from what the other finds easy."""

import copy

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from rehead.torch.training import METHODS
from rehead.torch.training.epochs import step


def test_each_network_learns_from_what_the_other_finds_easy(gradients) -> None:
    z = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    other = torch.randn(20, 3, generator=torch.Generator().manual_seed(1))
    y = torch.arange(20) % 3
    method = METHODS["co-teaching"](noise_rate=0.4, ramp=1)
    easy = [cross_entropy(a, y, reduction="none").argsort()[:12] for a in (z, other)]
    assert set(easy[0].tolist()) != set(easy[1].tolist())
    for logits, chosen, grad in zip(
        (z, other), reversed(easy), gradients(z, other, y, method), strict=True
    ):
        expected = torch.zeros(20, 3)
        expected[chosen] = (logits.softmax(1) - torch.eye(3)[y])[chosen] / 12
        assert_close(grad, expected, atol=1e-6, rtol=1e-5)


def test_planted_large_losses_never_have_a_gradient(gradients) -> None:
    y = torch.zeros(20, dtype=torch.long)
    z = torch.randn(20, 3) + torch.tensor([3.0, 0.0, 0.0])
    other = torch.randn(20, 3) + torch.tensor([3.0, 0.0, 0.0])
    planted = torch.tensor([2, 5, 11, 19])
    z[planted] = other[planted] = torch.tensor([0.0, 30.0, 0.0])
    for grad in gradients(z, other, y, METHODS["co-teaching"](noise_rate=0.2, ramp=1)):
        assert not grad[planted].any()
        assert int(grad.any(dim=1).sum()) == 16


def test_swapping_the_networks_swaps_their_gradients(gradients) -> None:
    z, other, y = torch.randn(20, 3), torch.randn(20, 3), torch.arange(20) % 3
    method = METHODS["co-teaching"](noise_rate=0.4, ramp=1)
    a, b = gradients(z, other, y, method), gradients(other, z, y, method)
    assert torch.equal(a[0], b[1])
    assert torch.equal(a[1], b[0])


def test_identical_networks_stay_identical(bench, same) -> None:
    b = bench(seeds=(3, 3), momentum=0.9, epoch=20)
    start = copy.deepcopy(b.state.nets[0])
    for _ in range(5):
        step(b.state, METHODS["co-teaching"](noise_rate=0.45), b.x, b.batch, b.moment)
    assert same(*b.state.nets)
    assert not same(start, b.state.nets[0])


@pytest.mark.parametrize(("epoch", "counted"), [(0, 128), (1, 121), (9, 70), (10, 70)])
def test_co_teaching_counts_these_many_of_128(epoch: int, counted: int, gradients) -> None:
    z, y = torch.randn(128, 3), torch.arange(128) % 3
    method = METHODS["co-teaching"](noise_rate=0.45)
    for grad in gradients(z, torch.randn(128, 3), y, method, epoch):
        assert int(grad.any(dim=1).sum()) == counted


def test_forgetting_nothing_is_two_independent_networks(fit, same) -> None:
    trained = fit(METHODS["co-teaching"](noise_rate=0.0))
    assert same(trained.nets[0], fit("cross-entropy").net)
    assert not same(*trained.nets)
