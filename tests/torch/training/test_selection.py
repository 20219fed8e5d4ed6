"""Selection rules: which samples of a batch count, and how much (A9 to A11)."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from rehead.torch.training import selection


def test_the_smallest_losses_are_kept_with_equal_weights() -> None:
    losses = torch.tensor([3.0, 1.0, 2.0, 5.0, 0.5])
    assert_close(selection.smallest(losses, 2), torch.tensor([0, 0.5, 0, 0, 0.5]))


def test_keeping_all_gives_every_sample_one_part_of_the_batch() -> None:
    assert torch.equal(selection.smallest(torch.randn(128), 128), torch.full((128,), 1 / 128))


def test_ties_do_not_keep_more_than_asked() -> None:
    assert int((selection.smallest(torch.zeros(10), 4) > 0).sum()) == 4


def test_kept_samples_permute_with_the_batch() -> None:
    losses, order = torch.rand(50), torch.randperm(50)
    kept = selection.smallest(losses, 20)
    assert torch.equal(selection.smallest(losses[order], 20), kept[order])


@pytest.mark.parametrize(
    ("n", "forget", "expected"),
    [(128, 0.45, 70), (128, 0.0, 128), (10, 0.7, 3), (10, 0.3, 7), (5, 0.5, 2), (3, 0.99, 1)],
)
def test_the_number_kept_is_rounded_down_but_at_least_one(n, forget, expected) -> None:
    assert selection.kept(n, forget) == expected


@pytest.mark.parametrize("tau", [0.2, 0.45])
def test_the_forget_rate_rises_to_tau_in_ten_epochs_as_in_the_released_code(tau: float) -> None:
    found = [selection.forget_rate(epoch, tau, ramp=10) for epoch in (0, 1, 9, 10, 199)]
    assert found == pytest.approx([0, tau / 9, tau, tau, tau])


@pytest.mark.parametrize("ramp", [1, 2, 10])
@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_the_schedule_is_that_of_the_released_code(ramp: int, exponent: float) -> None:
    """The noise rate in all epochs; over it, in the first ones, a rise to its power."""
    schedule = np.full(20, 0.4)
    schedule[:ramp] = np.linspace(0, 0.4**exponent, ramp)
    found = [selection.forget_rate(epoch, 0.4, ramp, exponent) for epoch in range(20)]
    start = 1 if ramp == 1 else 0  # the released code never trains its epoch 0
    assert found[start:] == pytest.approx(schedule[start:])


def test_a_ramp_of_one_epoch_forgets_at_once() -> None:
    assert selection.forget_rate(0, 0.4, ramp=1) == 0.4


def test_weights_are_zero_where_two_networks_agree() -> None:
    z, other = torch.eye(4), torch.eye(4)[[0, 2, 1, 3]]
    assert torch.equal(selection.disagreement(z, other), torch.tensor([0, 0.5, 0.5, 0]))


@pytest.mark.parametrize(("apart", "each"), [(1, 1 / 2), (2, 1 / 2), (3, 1 / 3), (20, 1 / 20)])
def test_few_disagreements_are_divided_by_a_tenth_of_the_batch(apart: int, each: float) -> None:
    z, other = torch.zeros(20, 2), torch.zeros(20, 2)
    z[:, 0] = 1
    other[:, 0] = 1
    other[:apart] = torch.tensor([0.0, 1.0])
    weights = selection.disagreement(z, other)
    assert_close(weights[:apart], torch.full((apart,), each))
    assert not weights[apart:].any()


def test_self_paced_weights_include_the_threshold_itself() -> None:
    losses = torch.tensor([0.5, 1.0, 1.5])
    assert torch.equal(selection.below(losses, torch.tensor(1.0)), torch.tensor([1.0, 1.0, 0.0]))


def test_linear_weights_fall_from_1_at_the_threshold_to_0_at_gamma_above() -> None:
    losses = torch.tensor([0.2, 1.0, 1.5, 3.0, 9.0])
    expected = torch.tensor([1.0, 1.0, 0.75, 0.0, 0.0])
    assert_close(selection.falling(losses, torch.tensor(1.0), 2.0), expected)
