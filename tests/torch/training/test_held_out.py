"""Held-out samples: watched, and choosing the weights that are kept."""

import pytest
import torch

from rehead.torch.training import METHODS, Recipe
from rehead.torch.training.predictions import predict_logits


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
