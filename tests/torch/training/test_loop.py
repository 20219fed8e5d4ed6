"""The loop: determinism, what it leaves alone, what it reports."""

import random

import numpy as np
import pytest
import torch

from rehead.torch.models import FCN
from rehead.torch.training import METHODS, Recipe, Run, train
from rehead.torch.training.loop import DivergedError
from rehead.torch.training.predictions import predict_logits
from rehead.torch.training.task import derived_seed

KINDS = {
    "cross-entropy": {},
    "bootstrap-hard": {},
    "forward": {},
    "glc": {},
    "d2l": {"batches": 1, "batch_size": 48},
    "decoupling": {},
    "mentornet": {"form": "mixture", "sample_dropout": ((1.0, 0.3),)},
    "co-teaching": {"noise_rate": 0.4},
}
TRUSTED = np.arange(96) % 8 == 0


@pytest.mark.parametrize("name", KINDS)
def test_one_seed_gives_one_result_and_another_seed_another(name, fit, same, numbers) -> None:
    def run(seed):
        return fit(METHODS[name](**KINDS[name]), trusted=TRUSTED, seed=seed)

    a, b, c = run(5), run(5), run(6)
    assert all(same(x, y) for x, y in zip(a.nets, b.nets, strict=True))
    assert numbers(a.history) == numbers(b.history)
    assert not same(a.net, c.net)


@pytest.mark.parametrize("name", KINDS)
def test_global_randomness_is_neither_used_nor_disturbed(name, fit, same) -> None:
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        np.random.seed(seed)
        random.seed(seed)
        before = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()
        results.append(fit(METHODS[name](**KINDS[name]), trusted=TRUSTED).net)
        after = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()
        assert torch.equal(before[0], after[0])
        assert before[1:] == after[1:]
    assert same(*results)


def test_global_randomness_is_put_back_after_an_error_too(fit) -> None:
    def fail(_):
        raise KeyError

    before = torch.get_rng_state()
    with pytest.raises(KeyError):
        fit(on_epoch=fail)
    assert torch.equal(torch.get_rng_state(), before)


def test_convolutions_with_augmentation_and_dropout_are_deterministic(
    fit, same, conv_net, images
) -> None:
    X, y = images
    recipe = Recipe(epochs=2, batch_size=16, augment=("crop", "flip"))
    a, b = (fit(make_net=conv_net, X=X, y=y, recipe=recipe).net for _ in "ab")
    assert same(a, b)


def test_augmentation_changes_what_is_learned(fit, same, conv_net, images) -> None:
    X, y = images
    plain, cropped, flipped = (
        fit(make_net=conv_net, X=X, y=y, recipe=Recipe(epochs=1, batch_size=16, augment=names)).net
        for names in ((), ("crop",), ("flip",))
    )
    assert not same(plain, cropped)
    assert not same(plain, flipped)


def test_a_step_of_the_loop_is_a_step_of_plain_sgd(noisy, make_net) -> None:
    recipe = Recipe(epochs=1, batch_size=96, learning_rate=0.1, schedule="constant")
    trained = train(make_net, noisy.X, noisy.y, recipe=recipe, run=Run(seed=3, device="cpu"))
    torch.manual_seed(derived_seed(3, "network", 0))
    net = make_net()
    loss = torch.nn.functional.cross_entropy(
        net(torch.from_numpy(noisy.X)), torch.from_numpy(noisy.y)
    )
    gradients = torch.autograd.grad(loss, list(net.parameters()))
    for p, g, q in zip(net.parameters(), gradients, trained.net.parameters(), strict=True):
        torch.testing.assert_close(p - 0.1 * g, q, atol=1e-6, rtol=1e-5)
    assert trained.history[0]["loss"] == pytest.approx(float(loss.detach()), rel=1e-5)


def test_random_labels_are_memorised_and_training_stops_then() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), rng.integers(3, size=60)
    recipe = Recipe(
        epochs=400,
        batch_size=20,
        optimizer="adam",
        learning_rate=0.01,
        schedule="constant",
        stop_when_fitted=0.95,
    )
    trained = train(lambda: FCN(8, 3, hidden=(32,)), X, y, recipe=recipe)
    shares = [entry["fitted"] for entry in trained.history]
    assert trained.fitted == shares[-1] >= 0.95
    assert len(shares) < 400
    assert max(shares[:-1]) < 0.95


def test_labels_are_learned(fit, noisy) -> None:
    recipe = Recipe(epochs=15, batch_size=16, learning_rate=0.05, schedule="cosine")
    trained = fit(y=noisy.true, recipe=recipe)
    found = predict_logits(trained.net, torch.from_numpy(noisy.X), torch.device("cpu")).argmax(1)
    assert (found.numpy() == noisy.true).mean() > 0.9


def test_the_history_has_an_entry_for_each_epoch(fit) -> None:
    history = fit().history
    assert [entry["epoch"] for entry in history] == [1, 2, 3]
    for entry in history:
        assert set(entry) == {"epoch", "learning_rate", "loss", "fitted", "seconds", "cpu_seconds"}
        assert 0 <= entry["fitted"] <= 1


def test_networks_come_back_in_evaluation_mode_and_inputs_as_they_were(fit, noisy) -> None:
    X, y = noisy.X.copy(), noisy.y.copy()
    trained = fit()
    assert not trained.net.training
    np.testing.assert_array_equal(noisy.X, X)
    np.testing.assert_array_equal(noisy.y, y)


def test_a_network_that_is_given_is_trained_in_place(fit, make_net, same) -> None:
    net = make_net()
    before = [p.clone() for p in net.parameters()]
    trained = fit(make_net=net)
    assert trained.net is net
    assert not any(torch.equal(p, q) for p, q in zip(before, net.parameters(), strict=True))


def test_on_epoch_is_told_each_entry_of_the_history(fit) -> None:
    told: list[dict] = []
    assert told == [] != fit(on_epoch=told.append).history == told


def test_mixed_precision_trains_and_keeps_weights_in_single(fit, same) -> None:
    half, single = fit(precision="bfloat16"), fit()
    assert {p.dtype for p in half.net.parameters()} == {torch.float32}
    assert not same(half.net, single.net)
    for p, q in zip(half.net.parameters(), single.net.parameters(), strict=True):
        torch.testing.assert_close(p, q, atol=0.02, rtol=0.05)


@pytest.mark.parametrize("name", KINDS)
def test_in_mixed_precision_every_kind_of_method_does_about_the_same(name, fit) -> None:
    recipe = Recipe(epochs=1, batch_size=16, learning_rate=0.01)
    half, single = (
        fit(METHODS[name](**KINDS[name]), precision=precision, trusted=TRUSTED, recipe=recipe)
        for precision in ("bfloat16", "float32")
    )
    assert half.history[0]["loss"] != single.history[0]["loss"]
    assert half.history[0]["loss"] == pytest.approx(single.history[0]["loss"], rel=0.02)
    assert {p.dtype for p in half.net.parameters()} == {torch.float32}


def test_training_that_diverges_says_so_and_what_to_do(fit) -> None:
    recipe = Recipe(epochs=3, batch_size=16, learning_rate=1e30, schedule="constant")
    with pytest.raises(DivergedError, match=r"epoch . is (nan|inf).*learning_rate \(1e\+30 then\)"):
        fit(recipe=recipe)
