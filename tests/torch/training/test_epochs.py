"""An epoch: every sample once, no batch of a single one, each row with its own label."""

import numpy as np
import pytest
import torch

from rehead.torch.training import Recipe, train
from rehead.torch.training.epochs import batch_starts, batches
from rehead.torch.training.method import Method


@pytest.mark.parametrize("n", [32, 33, 34, 47, 48, 49])
def test_every_sample_comes_once_an_epoch(n: int) -> None:
    parts = list(batches(n, Recipe(epochs=1, batch_size=16)))
    assert sorted(torch.cat(parts).tolist()) == list(range(n))


@pytest.mark.parametrize(
    ("n", "drop_last", "sizes"),
    [
        (48, False, [16, 16, 16]),
        (50, False, [16, 16, 16, 2]),
        (49, False, [16, 16, 17]),
        (17, False, [17]),
        (16, False, [16]),
        (50, True, [16, 16, 16]),
        (49, True, [16, 16, 16]),
        (48, True, [16, 16, 16]),
        (17, True, [16]),
    ],
)
def test_batches_have_these_sizes(n: int, drop_last: bool, sizes: list[int]) -> None:
    recipe = Recipe(epochs=1, batch_size=16, drop_last=drop_last)
    assert [len(part) for part in batches(n, recipe)] == sizes
    assert len(batch_starts(n, recipe)) == len(sizes)


def test_with_drop_last_other_samples_are_left_out_each_epoch() -> None:
    recipe = Recipe(epochs=1, batch_size=16, drop_last=True)
    out = {frozenset(range(50)) - set(torch.cat(list(batches(50, recipe))).tolist()) for _ in "ab"}
    assert len(out) == 2


def spy(seen: list) -> Method:
    """Cross-entropy that notes the rows of each batch."""

    def select(losses, logits, batch, moment, memory):
        seen.append((moment, batch))
        return [torch.full_like(losses[0], 1 / len(losses[0]))]

    return Method("spy", select=select)


def test_the_loop_takes_each_row_with_its_own_label_in_a_new_order_each_epoch(noisy, make_net):
    seen: list = []
    recipe = Recipe(epochs=2, batch_size=16, learning_rate=0.01)
    trusted = np.arange(96) < 10
    train(make_net, noisy.X, noisy.y, method=spy(seen), recipe=recipe, trusted=trusted)
    epochs = [torch.cat([b.rows for m, b in seen if m.epoch == e]).tolist() for e in (0, 1)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(96))
    assert epochs[0] != epochs[1]
    for _, batch in seen:
        assert batch.y.tolist() == noisy.y[batch.rows].tolist()
        assert batch.trusted.tolist() == (batch.rows < 10).tolist()
    assert [m.step for m, _ in seen] == list(range(12))
    assert {m.steps for m, _ in seen} == {12}
    assert seen[6][0].progress == 0.5


def test_one_sample_left_over_does_not_break_batch_normalisation(noisy) -> None:
    def net():
        return torch.nn.Sequential(
            torch.nn.Linear(6, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 3)
        )

    recipe = Recipe(epochs=1, batch_size=16, learning_rate=0.01)
    trained = train(net, noisy.X[:65], noisy.y[:65], recipe=recipe)
    assert int(trained.net.get_buffer("1.num_batches_tracked")) == 4


def test_rates_of_the_history_are_those_of_the_recipe(fit) -> None:
    recipe = Recipe(epochs=4, batch_size=16, learning_rate=0.08, milestones=(1, 3), factor=0.5)
    rates = [entry["learning_rate"] for entry in fit(recipe=recipe).history]
    assert rates == [0.08, 0.04, 0.04, 0.02]
