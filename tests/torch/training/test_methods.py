"""The eleven methods by name, and when they are plain cross-entropy."""

from importlib import import_module

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from rehead.torch.training import METHODS, Method, Recipe
from rehead.torch.training.method import Batch
from rehead.torch.training.methods.gold import _loss

T = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])
SETTINGS = {
    "bootstrap-hard": {},
    "bootstrap-soft": {},
    "forward": {"transition": T},
    "backward": {"transition": T},
    "forward-gold": {},
    "glc": {},
    "d2l": {"first": 0, "window": 1, "batches": 1, "batch_size": 48, "neighbours": 5},
    "decoupling": {},
    "mentornet": {"noise_rate": 0.4, "ramp": 1},
    "co-teaching": {"noise_rate": 0.4, "ramp": 1},
}
TRUSTED = np.arange(96) % 8 == 0


def is_close(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    pairs = zip(a.parameters(), b.parameters(), strict=True)
    return all(torch.allclose(p, q, atol=1e-4) for p, q in pairs)


def test_the_methods_are_the_papers_eleven() -> None:
    assert list(METHODS) == [
        "cross-entropy",
        "bootstrap-hard",
        "bootstrap-soft",
        "forward",
        "backward",
        "forward-gold",
        "glc",
        "d2l",
        "decoupling",
        "mentornet",
        "co-teaching",
    ]
    for name, make in METHODS.items():
        assert make(**SETTINGS.get(name, {})).name == name


@pytest.mark.parametrize("name", SETTINGS)
def test_each_method_differs_from_cross_entropy(name: str, fit, monkeypatch) -> None:
    epochs = 1
    if name == "d2l":
        # It is cross-entropy until it turns, which takes a second epoch at least.
        epochs = 3
        measured = iter([1.0, 2.0, 2.0])
        module = import_module("rehead.torch.training.methods.d2l")
        monkeypatch.setattr(module, "mean_lid", lambda *_, **__: next(measured))
    recipe = Recipe(epochs=epochs, batch_size=16, learning_rate=0.05)
    trained = fit(METHODS[name](**SETTINGS[name]), recipe=recipe, trusted=TRUSTED)
    plain = fit("cross-entropy", recipe=recipe)
    assert not is_close(trained.net, plain.net)
    assert all(np.isfinite(entry["loss"]) for entry in trained.history)


@pytest.mark.parametrize(
    ("name", "settings", "exactly"),
    [
        ("bootstrap-hard", {"beta": 1.0}, False),
        ("bootstrap-soft", {"beta": 1.0}, False),
        ("forward", {"transition": np.eye(3)}, False),
        ("backward", {"transition": np.eye(3)}, False),
        ("mentornet", {"noise_rate": 0.0}, True),
        ("mentornet", {"form": "self-paced", "percentile": 1.0, "decay": 0.0}, True),
        ("mentornet", {"form": "mixture", "burn_in": 1.0}, True),
        ("co-teaching", {"noise_rate": 0.0}, True),
        ("decoupling", {"warmup": 3}, True),
        ("cross-entropy", {}, True),
    ],
)
def test_with_these_settings_a_method_is_cross_entropy(name, settings, exactly, fit, same) -> None:
    found, plain = fit(METHODS[name](**settings)).net, fit().net
    assert same(found, plain) if exactly else is_close(found, plain)


@pytest.mark.parametrize("name", ["forward-gold", "glc"])
def test_if_all_samples_are_trusted_they_are_trained_on_plainly(name: str, fit) -> None:
    everything = np.ones(96, bool)
    trained = fit(name, trusted=everything)
    assert torch.equal(trained.memory["transition"], torch.eye(3, dtype=torch.float64))
    assert is_close(trained.net, fit().net)


@pytest.mark.parametrize("name", ["cross-entropy", "bootstrap-hard", "bootstrap-soft", "forward"])
def test_a_method_by_name_has_its_usual_settings(name: str, fit, same) -> None:
    recipe = Recipe(epochs=1, batch_size=16, learning_rate=0.05)
    assert same(fit(name, recipe=recipe).net, fit(METHODS[name](), recipe=recipe).net)


def test_usual_settings_are_the_published_ones() -> None:
    assert METHODS["bootstrap-hard"]().settings == {"beta": 0.8}
    assert METHODS["bootstrap-soft"]().settings == {"beta": 0.95}
    assert METHODS["forward"]().settings["percentile"] == 97
    d2l = METHODS["d2l"]().settings
    assert [d2l[k] for k in ("window", "neighbours", "batches", "batch_size")] == [5, 20, 10, 128]
    assert METHODS["co-teaching"](noise_rate=0.2).settings["ramp"] == 10


def gold_batch() -> tuple[torch.Tensor, Batch]:
    z = torch.randn(12, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    return z, Batch(torch.arange(12) % 3, torch.arange(12) < 4, torch.arange(12))


def test_trusted_samples_have_plain_losses_and_the_others_corrected_ones() -> None:
    z, batch = gold_batch()
    memory = {"transition": torch.from_numpy(T)}
    p = z.double().softmax(1)
    rows = torch.arange(12)
    expected = torch.where(
        batch.trusted,
        -p[rows, batch.y].log(),
        -(p @ torch.from_numpy(T))[rows, batch.y].log(),
    )
    found = _loss(z, batch, memory)
    assert_close(found, expected.float(), atol=1e-6, rtol=1e-5)
    order = torch.randperm(12)
    permuted = _loss(z[order], Batch(*(part[order] for part in batch)), memory)
    assert_close(permuted, found[order])


def test_with_the_identity_the_trusted_are_nothing_special() -> None:
    z, batch = gold_batch()
    found = _loss(z, batch, {"transition": torch.eye(3)})
    assert_close(found, torch.nn.functional.cross_entropy(z, batch.y, reduction="none"))


def test_a_trusted_label_that_the_estimate_thinks_impossible_has_a_finite_gradient() -> None:
    z, batch = gold_batch()
    impossible = torch.tensor([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
    trusted = batch._replace(trusted=torch.ones(12, dtype=torch.bool))
    (gradient,) = torch.autograd.grad(_loss(z, trusted, {"transition": impossible}).sum(), z)
    assert bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize("name", ["forward", "backward", "forward-gold"])
def test_without_a_matrix_the_anchors_of_a_first_network_give_one(name: str, fit) -> None:
    settings = {"percentile": None}
    options = {"trusted": TRUSTED} if name == "forward-gold" else {}
    found = fit(METHODS[name](**settings), **options).memory["transition"].numpy()
    assert found.shape == (3, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    assert not np.allclose(found, np.eye(3), atol=1e-3)


def test_backward_keeps_the_inverse_in_double_precision(fit) -> None:
    memory = fit(METHODS["backward"](transition=T)).memory
    assert_close(memory["inverse"] @ memory["transition"], torch.eye(3, dtype=torch.float64))


def test_glc_estimates_the_noise_from_its_trusted_samples(noisy, make_net, fit) -> None:
    rng = np.random.default_rng(0)
    true = np.arange(1500) % 3
    X = (rng.normal(size=(1500, 6)) + 6 * np.eye(6)[true]).astype(np.float32)
    y = np.array([rng.choice(3, p=T[c]) for c in true])
    trusted = np.arange(1500) < 90
    y[trusted] = true[trusted]
    recipe = Recipe(
        epochs=8, batch_size=32, optimizer="adam", learning_rate=5e-3, schedule="cosine"
    )
    trained = fit("glc", X=X, y=y, trusted=trusted, recipe=recipe)
    assert np.abs(trained.memory["transition"].numpy() - T).max() < 0.08


def test_the_first_network_of_glc_never_sees_trusted_samples(fit, noisy, same, tmp_path) -> None:
    from safetensors.torch import load_file

    y = noisy.y.copy()
    fit("glc", trusted=TRUSTED, y=y, folder=tmp_path / "a")
    y[TRUSTED] = np.roll(np.arange(12) % 3, 1)  # every class stays there
    fit("glc", trusted=TRUSTED, y=y, folder=tmp_path / "b")
    first, second = (load_file(tmp_path / k / "silver" / "net.safetensors") for k in "ab")
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_method_of_ones_own_is_a_loss_and_a_selection(fit, same) -> None:
    mine = Method("mine", loss=lambda z, batch, memory: torch.relu(1 - z[:, 0]))
    assert not same(fit(mine).net, fit().net)
