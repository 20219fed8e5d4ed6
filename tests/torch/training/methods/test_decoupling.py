"""Decoupling (A9): two networks learn from the samples on which they disagree."""

import copy

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from rehead.torch.training import METHODS
from rehead.torch.training.epochs import step
from rehead.torch.training.method import Batch


def plain_step(net: nn.Module, optimizer, x: Tensor, y: Tensor) -> None:
    optimizer.zero_grad()
    cross_entropy(net(x), y).backward()
    optimizer.step()


def test_networks_that_agree_are_left_as_they_are_even_with_momentum(bench, same) -> None:
    b = bench(seeds=(0, 0), momentum=0.9)
    # Give the momentum something to move the weights by.
    for net, optimizer in zip(b.state.nets, b.state.optimizers, strict=True):
        plain_step(net, optimizer, b.x, b.batch.y)
    before = copy.deepcopy(b.state.nets)
    step(b.state, METHODS["decoupling"](), b.x, b.batch, b.moment)
    assert float(b.state.memory["disagreement"]) == 0
    assert all(same(x, y) for x, y in zip(before, b.state.nets, strict=True))


def test_networks_that_disagree_everywhere_take_two_steps_of_cross_entropy(bench) -> None:
    b = bench()
    with torch.no_grad():
        first, second = (net(b.x).argmax(1) for net in b.state.nets)
    apart = first != second
    assert int(apart.sum()) > 3
    x, batch = b.x[apart], Batch(*(part[apart] for part in b.batch))
    expected = copy.deepcopy(b.state.nets)
    for net in expected:
        plain_step(net, torch.optim.SGD(net.parameters(), 0.1, weight_decay=0.01), x, batch.y)
    step(b.state, METHODS["decoupling"](), x, batch, b.moment)
    for found, wanted in zip(b.state.nets, expected, strict=True):
        for p, q in zip(found.parameters(), wanted.parameters(), strict=True):
            assert_close(p, q, atol=1e-7, rtol=1e-6)


def test_samples_that_networks_agree_on_have_no_gradient(gradients) -> None:
    z = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    other, y = z.clone(), torch.arange(20) % 3
    other[:7] = z[:7].roll(1, dims=1)
    for logits, grad in zip(
        (z, other), gradients(z, other, y, METHODS["decoupling"]()), strict=True
    ):
        assert not grad[7:].any()
        expected = (logits.softmax(1) - torch.eye(3)[y])[:7] / 7
        assert_close(grad[:7], expected, atol=1e-6, rtol=1e-5)


def test_one_disagreement_of_twenty_takes_half_a_step(gradients) -> None:
    z = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    other, y = z.clone(), torch.arange(20) % 3
    other[0] = z[0].roll(1)
    grad, _ = gradients(z, other, y, METHODS["decoupling"]())
    assert_close(grad[0], (z[0].softmax(0) - torch.eye(3)[y[0]]) / 2, atol=1e-6, rtol=1e-5)


def test_decoupling_warms_up_with_plain_training(gradients) -> None:
    z, y = torch.randn(10, 3), torch.arange(10) % 3
    method = METHODS["decoupling"](warmup=2)
    during, _ = gradients(z, z, y, method, epoch=1)
    assert_close(during, (z.softmax(1) - torch.eye(3)[y]) / 10, atol=1e-6, rtol=1e-5)
    after, _ = gradients(z, z, y, method, epoch=2)
    assert not after.any()
