"""The loop: determinism, what it leaves alone, what it reports."""

import random

import numpy as np
import pytest
import torch

from rehead.torch.models import FCN, MODELS
from rehead.torch.training import METHODS, Recipe, train
from rehead.torch.training.task import derived_seed, image_layout, predict_logits

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
    trained = train(make_net, noisy.X, noisy.y, recipe=recipe, seed=3, device="cpu")
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
        assert set(entry) == {"epoch", "learning_rate", "loss", "fitted", "seconds"}
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


@pytest.mark.parametrize(
    "convert",
    [
        torch.from_numpy,
        lambda X: X.astype(np.float64),
        lambda X: X.tolist(),
        lambda X: np.asfortranarray(X),
        lambda X: torch.from_numpy(X).requires_grad_(),
    ],
    ids=["tensor", "double", "lists", "fortran order", "with gradient"],
)
def test_inputs_in_any_form_give_the_same_weights(convert, fit, same, noisy) -> None:
    assert same(fit(X=convert(noisy.X)).net, fit().net)


@pytest.mark.parametrize(
    "convert",
    [
        torch.from_numpy,
        lambda y: y.tolist(),
        lambda y: y.astype(np.uint8),
        lambda y: torch.from_numpy(y).int(),
    ],
    ids=["tensor", "list", "bytes", "int tensor"],
)
def test_labels_in_any_form_give_the_same_weights(convert, fit, same, noisy) -> None:
    assert same(fit(y=convert(noisy.y)).net, fit().net)


def test_read_only_inputs_are_taken(fit, same, noisy) -> None:
    X = noisy.X.copy()
    X.setflags(write=False)
    assert same(fit(X=X).net, fit().net)


def test_held_out_samples_are_watched_and_change_nothing(fit, same, conv_net, images) -> None:
    X, y = images
    options = {"make_net": conv_net, "X": X[:40], "y": y[:40]}
    watched, plain = fit(validation=(X[40:], y[40:]), **options), fit(**options)
    assert same(watched.net, plain.net)
    logits = predict_logits(watched.net, torch.from_numpy(X[40:]), torch.device("cpu"))
    expected = torch.nn.functional.cross_entropy(logits, torch.from_numpy(y[40:]))
    last = watched.history[-1]
    assert last["held_out_loss"] == pytest.approx(float(expected), rel=1e-5)
    right = (logits.argmax(1).numpy() == y[40:]).mean()
    assert last["held_out_accuracy"] == pytest.approx(right)
    assert "held_out_loss" not in plain.history[-1]


# Far too high a rate, so that the held-out loss goes up and down.
WILD = Recipe(epochs=8, batch_size=16, learning_rate=0.6, schedule="constant")


@pytest.mark.parametrize("name", ["cross-entropy", "co-teaching"])
def test_the_best_weights_are_those_of_the_smallest_held_out_loss(name, fit, noisy) -> None:
    method = METHODS[name](**({"noise_rate": 0.3} if name == "co-teaching" else {}))
    held_out = (noisy.X[:30], noisy.true[:30])
    trained = fit(method, recipe=WILD, validation=held_out, keep="best")
    watched = [entry["held_out_loss"] for entry in trained.history]
    assert min(watched) < watched[-1]
    logits = predict_logits(trained.net, torch.from_numpy(held_out[0]), torch.device("cpu"))
    loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(held_out[1]))
    assert float(loss) == pytest.approx(min(watched), rel=1e-5)


def test_keeping_the_best_adds_no_numbers_of_its_weights_to_the_log(fit, conv_net, images) -> None:
    X, y = images
    trained = fit(make_net=conv_net, X=X, y=y, validation=(X, y), keep="best")
    assert not [name for name in trained.history[-1] if "/" in name]


def test_keeping_the_last_is_the_usual(fit, same, noisy) -> None:
    held_out = (noisy.X[:30], noisy.true[:30])
    assert same(fit(recipe=WILD, validation=held_out).net, fit(recipe=WILD).net)


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
def test_every_kind_of_method_runs_in_mixed_precision(name, fit) -> None:
    recipe = Recipe(epochs=1, batch_size=16, learning_rate=0.01)
    trained = fit(
        METHODS[name](**KINDS[name]), precision="bfloat16", trusted=TRUSTED, recipe=recipe
    )
    assert np.isfinite(trained.history[-1]["loss"])
    assert {p.dtype for p in trained.net.parameters()} == {torch.float32}


def test_adams_late_beta_takes_part(fit, same) -> None:
    recipe = Recipe(
        epochs=3, batch_size=16, optimizer="adam", learning_rate=0.01, schedule="tail", tail_from=1
    )
    from dataclasses import replace

    assert not same(fit(recipe=replace(recipe, late_beta1=0.1)).net, fit(recipe=recipe).net)


def test_tokens_stay_whole_numbers(fit) -> None:
    def net():
        return torch.nn.Sequential(torch.nn.EmbeddingBag(20, 5, mode="mean"), torch.nn.Linear(5, 3))

    tokens = np.random.default_rng(0).integers(20, size=(48, 7))
    assert len(fit(make_net=net, X=tokens, y=np.arange(48) % 3).history) == 3


def test_seeds_of_different_purposes_differ() -> None:
    paths = [(0,), (1,), (0, "network", 0), (0, "network", 1), (0, "epoch", 0), (0, "epoch", 1)]
    assert len({derived_seed(*path) for path in paths}) == len(paths)
    assert derived_seed(7, "epoch", 3) == derived_seed(7, "epoch", 3)


def test_predictions_leave_the_mode_of_a_network_as_it_was(conv_net, images) -> None:
    net = conv_net().train()
    net.dropout.eval()
    predict_logits(net, torch.from_numpy(images[0]), torch.device("cpu"))
    assert net.training
    assert net.bn.training
    assert int(net.bn.num_batches_tracked) == 0


@pytest.mark.parametrize(
    ("width", "layout"), [(4, torch.contiguous_format), (8, torch.channels_last)]
)
def test_narrow_networks_keep_the_plain_layout(width, layout):
    # Backward passes of PyTorch 2.13 with 4 channels side by side did not end.
    assert image_layout(MODELS["resnet34"](10, width=width)) is layout
