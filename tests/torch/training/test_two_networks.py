"""Decoupling (A9) and co-teaching (A11): one step of two networks."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from rehead.torch.training import METHODS
from rehead.torch.training.loop import step
from rehead.torch.training.method import Batch, Moment


def take_step(b, method, memory=None):
    memory = {} if memory is None else memory
    return step(b.nets, b.optimizers, b.x, b.batch, method, b.moment, memory)


def plain_step(net: nn.Module, optimizer, x: Tensor, y: Tensor) -> None:
    optimizer.zero_grad()
    cross_entropy(net(x), y).backward()
    optimizer.step()


def constant(z: Tensor) -> nn.Module:
    """A network whose logits are parameters, so that their gradient can be read off."""

    class Logits(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.z = nn.Parameter(z.clone())

        def forward(self, x: Tensor) -> Tensor:
            return self.z

    return Logits()


def gradients(first: Tensor, second: Tensor, y: Tensor, method, epoch: int = 0) -> list[Tensor]:
    nets = [constant(first), constant(second)]
    optimizers = [torch.optim.SGD(net.parameters(), lr=1.0) for net in nets]
    batch = Batch(y, torch.zeros(len(y), dtype=torch.bool), torch.arange(len(y)))
    moment = Moment(epoch, 100, epoch, 100)
    step(nets, optimizers, torch.zeros(len(y), 1), batch, method, moment, {})
    return [before - net.z.detach() for before, net in zip((first, second), nets, strict=True)]


# --- decoupling


def test_networks_that_agree_are_left_as_they_are_even_with_momentum(bench, same) -> None:
    b = bench(seeds=(0, 0), momentum=0.9)
    # Give the momentum something to move the weights by.
    for net, optimizer in zip(b.nets, b.optimizers, strict=True):
        plain_step(net, optimizer, b.x, b.batch.y)
    before = copy.deepcopy(b.nets)
    memory: dict = {}
    take_step(b, METHODS["decoupling"](), memory)
    assert float(memory["disagreement"]) == 0
    assert all(same(x, y) for x, y in zip(before, b.nets, strict=True))


def test_networks_that_disagree_everywhere_take_two_steps_of_cross_entropy(bench) -> None:
    b = bench()
    with torch.no_grad():
        apart = b.nets[0](b.x).argmax(1) != b.nets[1](b.x).argmax(1)
    assert int(apart.sum()) > 3
    b.x, b.batch = b.x[apart], Batch(*(part[apart] for part in b.batch))
    expected = copy.deepcopy(b.nets)
    for net in expected:
        plain_step(net, torch.optim.SGD(net.parameters(), 0.1, weight_decay=0.01), b.x, b.batch.y)
    take_step(b, METHODS["decoupling"]())
    for found, wanted in zip(b.nets, expected, strict=True):
        for p, q in zip(found.parameters(), wanted.parameters(), strict=True):
            assert_close(p, q, atol=1e-7, rtol=1e-6)


def test_samples_that_networks_agree_on_have_no_gradient() -> None:
    z = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    other, y = z.clone(), torch.arange(20) % 3
    other[:7] = z[:7].roll(1, dims=1)
    for logits, grad in zip(
        (z, other), gradients(z, other, y, METHODS["decoupling"]()), strict=True
    ):
        assert not grad[7:].any()
        expected = (logits.softmax(1) - torch.eye(3)[y])[:7] / 7
        assert_close(grad[:7], expected, atol=1e-6, rtol=1e-5)


def test_one_disagreement_of_twenty_takes_half_a_step() -> None:
    z = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    other, y = z.clone(), torch.arange(20) % 3
    other[0] = z[0].roll(1)
    grad, _ = gradients(z, other, y, METHODS["decoupling"]())
    assert_close(grad[0], (z[0].softmax(0) - torch.eye(3)[y[0]]) / 2, atol=1e-6, rtol=1e-5)


def test_decoupling_warms_up_with_plain_training() -> None:
    z, y = torch.randn(10, 3), torch.arange(10) % 3
    method = METHODS["decoupling"](warmup=2)
    during, _ = gradients(z, z, y, method, epoch=1)
    assert_close(during, (z.softmax(1) - torch.eye(3)[y]) / 10, atol=1e-6, rtol=1e-5)
    after, _ = gradients(z, z, y, method, epoch=2)
    assert not after.any()


# --- co-teaching


def test_each_network_learns_from_what_the_other_finds_easy() -> None:
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


def test_planted_large_losses_never_have_a_gradient() -> None:
    y = torch.zeros(20, dtype=torch.long)
    z = torch.randn(20, 3) + torch.tensor([3.0, 0.0, 0.0])
    other = torch.randn(20, 3) + torch.tensor([3.0, 0.0, 0.0])
    planted = torch.tensor([2, 5, 11, 19])
    z[planted] = other[planted] = torch.tensor([0.0, 30.0, 0.0])
    for grad in gradients(z, other, y, METHODS["co-teaching"](noise_rate=0.2, ramp=1)):
        assert not grad[planted].any()
        assert int(grad.any(dim=1).sum()) == 16


def test_swapping_the_networks_swaps_their_gradients() -> None:
    z, other, y = torch.randn(20, 3), torch.randn(20, 3), torch.arange(20) % 3
    method = METHODS["co-teaching"](noise_rate=0.4, ramp=1)
    a, b = gradients(z, other, y, method), gradients(other, z, y, method)
    assert torch.equal(a[0], b[1])
    assert torch.equal(a[1], b[0])


def test_identical_networks_stay_identical(bench, same) -> None:
    b = bench(seeds=(3, 3), momentum=0.9, epoch=20)
    start = copy.deepcopy(b.nets[0])
    for _ in range(5):
        take_step(b, METHODS["co-teaching"](noise_rate=0.45))
    assert same(*b.nets)
    assert not same(start, b.nets[0])


@pytest.mark.parametrize(("epoch", "counted"), [(0, 128), (1, 121), (9, 70), (10, 70)])
def test_co_teaching_counts_these_many_of_128(epoch: int, counted: int) -> None:
    z, y = torch.randn(128, 3), torch.arange(128) % 3
    method = METHODS["co-teaching"](noise_rate=0.45)
    for grad in gradients(z, torch.randn(128, 3), y, method, epoch):
        assert int(grad.any(dim=1).sum()) == counted


def test_forgetting_nothing_is_two_independent_networks(fit, same) -> None:
    trained = fit(METHODS["co-teaching"](noise_rate=0.0))
    assert same(trained.nets[0], fit("cross-entropy").net)
    assert not same(*trained.nets)


@pytest.mark.parametrize("name", ["decoupling", "co-teaching"])
def test_two_networks_come_back_and_the_first_is_the_one_to_use(name: str, fit) -> None:
    settings = {"noise_rate": 0.4} if name == "co-teaching" else {}
    trained = fit(METHODS[name](**settings))
    assert len(trained.nets) == 2
    assert trained.net is trained.nets[0]
    assert not any(net.training for net in trained.nets)
