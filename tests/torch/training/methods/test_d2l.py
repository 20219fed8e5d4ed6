"""D2L (A8): the turning point, going back one epoch, and the trust in labels after it."""

import copy
import math

import pytest
import torch

from rehead.torch.models import FCN
from rehead.torch.training import METHODS, Recipe, loop
from rehead.torch.training.lid import lid
from rehead.torch.training.methods import d2l
from rehead.torch.training.task import derived_seed

SMALL = {"batches": 2, "batch_size": 48, "neighbours": 10}


def measured(monkeypatch, values: list[float]) -> None:
    """Let LID be these numbers, epoch by epoch."""
    numbers = iter(values)
    monkeypatch.setattr(d2l, "mean_lid", lambda *_: next(numbers))


def of(epochs: int) -> Recipe:
    return Recipe(epochs=epochs, batch_size=16, learning_rate=0.05, schedule="constant")


def watch(monkeypatch) -> list[dict]:
    """The weights with which each epoch begins, after what D2L did before it."""
    states: list[dict] = []
    original = loop.train_epoch

    def epoch(task, method, state, *rest):
        states.append(copy.deepcopy(state.nets[0].state_dict()))
        return original(task, method, state, *rest)

    monkeypatch.setattr(loop, "train_epoch", epoch)
    return states


def equal(a: dict, b: dict) -> bool:
    return all(torch.equal(a[name], b[name]) for name in a)


# Epochs 0 .. 5; the jump is seen at the start of epoch 4.
JUMP = [3.0, 2.0, 2.0, 2.0, 4.0, 3.0]


def test_at_the_turning_point_the_weights_of_one_epoch_before_come_back(fit, monkeypatch) -> None:
    measured(monkeypatch, JUMP)
    begun = watch(monkeypatch)
    trained = fit(METHODS["d2l"](first=1, window=2, **SMALL), recipe=of(6))
    assert int(trained.memory["turning_point"]) == 4
    assert equal(begun[4], begun[3])
    assert not equal(begun[3], begun[2])
    assert not equal(begun[5], begun[4])


def test_alpha_is_1_before_and_the_formula_after(fit, monkeypatch) -> None:
    measured(monkeypatch, JUMP)
    history = fit(METHODS["d2l"](first=1, window=2, **SMALL), recipe=of(6)).history
    expected = [1, 1, 1, 1, math.exp(-4 / 6 * 4 / 2), math.exp(-5 / 6 * 3 / 2)]
    assert [entry["alpha"] for entry in history] == pytest.approx(expected, rel=1e-6)
    assert [entry["lid"] for entry in history] == JUMP
    assert [entry["turning_point"] for entry in history] == [-1, -1, -1, -1, 4, 4]


def test_it_turns_once_however_often_lid_jumps(fit, monkeypatch) -> None:
    measured(monkeypatch, [2.0, 2.0, 2.0, 4.0, 4.0, 4.0, 9.0, 9.0])
    begun = watch(monkeypatch)
    trained = fit(METHODS["d2l"](first=0, window=2, **SMALL), recipe=of(8))
    assert int(trained.memory["turning_point"]) == 3
    assert equal(begun[3], begun[2])
    assert not any(equal(begun[e], begun[e - 1]) for e in (1, 2, 4, 5, 6, 7))


def test_weights_of_before_are_forgotten_once_it_has_turned(fit, monkeypatch) -> None:
    measured(monkeypatch, JUMP)
    trained = fit(METHODS["d2l"](first=1, window=2, **SMALL), recipe=of(6))
    assert set(trained.memory) == {"alpha", "turning_point", "lid", "lids"}


def test_falling_lid_never_turns(fit, monkeypatch) -> None:
    measured(monkeypatch, [5.0, 4.0, 3.0, 2.0, 1.0, 0.5])
    trained = fit(METHODS["d2l"](first=0, window=2, **SMALL), recipe=of(6))
    assert {entry["turning_point"] for entry in trained.history} == {-1}
    assert {entry["alpha"] for entry in trained.history} == {1}


def test_without_a_turning_point_it_is_cross_entropy_to_the_bit(fit, same) -> None:
    # Measuring LID must not change the order of samples in the epoch.
    trained = fit(METHODS["d2l"](first=100, **SMALL))
    assert same(trained.net, fit().net)


def test_until_the_turning_point_it_is_cross_entropy_if_nothing_is_drawn(
    fit, same, monkeypatch
) -> None:
    measured(monkeypatch, [1.0, 1.0, 1.0])
    assert same(fit(METHODS["d2l"](first=100, **SMALL)).net, fit().net)


def test_the_search_begins_after_a_third_of_training(fit, monkeypatch) -> None:
    rising = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0]
    measured(monkeypatch, rising)
    trained = fit(METHODS["d2l"](window=1, **SMALL), recipe=of(9))
    # More than 3 + 1 values are there in the epoch of number 4.
    assert int(trained.memory["turning_point"]) == 4


def test_lid_is_measured_on_the_last_feature_layer_in_evaluation_mode(fit, noisy) -> None:
    trained = fit(METHODS["d2l"](batches=1, batch_size=96, neighbours=10), recipe=of(1))
    torch.manual_seed(derived_seed(0, "network", 0))
    net = FCN(6, 3, hidden=(8,))
    with torch.no_grad():
        features = net.hidden1(torch.from_numpy(noisy.X))
    expected = lid(features, 10)
    expected = expected[torch.isfinite(expected)].mean()
    assert float(trained.memory["lid"]) == pytest.approx(float(expected), rel=1e-5)


def test_an_invalid_lid_is_replaced_by_the_one_before(fit, monkeypatch) -> None:
    measured(monkeypatch, [3.0, math.nan, 2.0, -1.0, math.nan])
    trained = fit(METHODS["d2l"](**SMALL), recipe=of(5))
    assert trained.memory["lids"].tolist() == [3.0, 3.0, 2.0, 2.0, 2.0]


def test_samples_that_are_all_alike_have_no_lid_and_1_stands_for_it(fit) -> None:
    trained = fit(METHODS["d2l"](**SMALL), X=torch.zeros(96, 6))
    assert trained.memory["lids"].tolist() == [1.0, 1.0, 1.0]


def test_lid_can_be_measured_at_another_layer(fit) -> None:
    of_logits = fit(METHODS["d2l"](layer="classifier", **SMALL), recipe=of(1)).memory["lid"]
    usual = fit(METHODS["d2l"](**SMALL), recipe=of(1)).memory["lid"]
    assert float(of_logits) != float(usual)


def test_images_and_networks_without_feature_layers_work(fit, conv_net, images) -> None:
    X, y = images
    trained = fit(
        METHODS["d2l"](batches=1, batch_size=40, neighbours=5), make_net=conv_net, X=X, y=y
    )
    assert all(entry["lid"] > 0 for entry in trained.history)


def test_the_log_has_the_methods_numbers_and_not_those_of_saved_weights(
    fit, conv_net, images
) -> None:
    X, y = images
    method = METHODS["d2l"](batches=1, batch_size=40, neighbours=5)
    entry = fit(method, make_net=conv_net, X=X, y=y).history[-1]
    expected = {"epoch", "learning_rate", "loss", "fitted", "seconds", "cpu_seconds"}
    assert set(entry) == expected | {"alpha", "lid", "turning_point"}


def test_too_few_samples_for_the_neighbours_are_refused_before_training(fit, noisy) -> None:
    recipe = Recipe(epochs=1, batch_size=4)
    with pytest.raises(ValueError, match="20 neighbours of each sample in batches of 20"):
        fit("d2l", X=noisy.X[:20], y=noisy.y[:20], recipe=recipe)
