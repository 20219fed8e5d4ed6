"""Forward gold and GLC (A6, A7): a few trusted samples tell about the noise of the others."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.testing import assert_close

from rehead.files.persist import read_model
from rehead.torch.models import FCN
from rehead.torch.training import METHODS, Recipe
from rehead.torch.training.checkpoint import data_fingerprint
from rehead.torch.training.method import Batch
from rehead.torch.training.methods.gold import gold_loss
from rehead.torch.training.predictions import predict_probabilities
from rehead.torch.training.transition import anchor_points

T = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])
TRUSTED = np.arange(96) % 8 == 0


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
    found = gold_loss(z, batch, memory)
    assert_close(found, expected.float(), atol=1e-6, rtol=1e-5)
    order = torch.randperm(12)
    permuted = gold_loss(z[order], Batch(*(part[order] for part in batch)), memory)
    assert_close(permuted, found[order])


def test_with_the_identity_the_trusted_are_nothing_special() -> None:
    z, batch = gold_batch()
    found = gold_loss(z, batch, {"transition": torch.eye(3)})
    assert_close(found, torch.nn.functional.cross_entropy(z, batch.y, reduction="none"))


def test_a_trusted_label_that_the_estimate_thinks_impossible_has_a_finite_gradient() -> None:
    z, batch = gold_batch()
    impossible = torch.tensor([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
    trusted = batch._replace(trusted=torch.ones(12, dtype=torch.bool))
    (gradient,) = torch.autograd.grad(gold_loss(z, trusted, {"transition": impossible}).sum(), z)
    assert bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize("name", ["forward-gold", "glc"])
def test_if_all_samples_are_trusted_they_are_trained_on_plainly(name: str, fit, close) -> None:
    everything = np.ones(96, bool)
    trained = fit(name, trusted=everything)
    assert torch.equal(trained.memory["transition"], torch.eye(3, dtype=torch.float64))
    assert close(trained.net, fit().net)


def test_glc_estimates_the_noise_from_its_trusted_samples(fit) -> None:
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


def test_the_first_network_of_glc_never_sees_trusted_samples(fit, noisy, tmp_path) -> None:
    y = noisy.y.copy()
    fit("glc", trusted=TRUSTED, y=y, folder=tmp_path / "a")
    y[TRUSTED] = np.roll(np.arange(12) % 3, 1)  # every class stays there
    fit("glc", trusted=TRUSTED, y=y, folder=tmp_path / "b")
    first, second = (load_file(tmp_path / k / "silver" / "net.safetensors") for k in "ab")
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("name", ["forward-gold", "glc"])
def test_the_first_network_learns_from_all_untrusted_samples_to_the_end(
    name: str, fit, noisy, tmp_path
) -> None:
    """No sample of them is held out, and the last weights are taken: the reference has neither."""
    fit(name, trusted=TRUSTED, folder=tmp_path)
    stages = [folder.name for folder in tmp_path.iterdir() if folder.is_dir()]
    assert stages == ["silver"]
    _, settings = read_model(tmp_path / "silver" / "checkpoint.safetensors", "training checkpoint")
    assert settings["identity"]["keep"] == "last"
    silver = torch.from_numpy(noisy.X[~TRUSTED]), torch.from_numpy(noisy.y[~TRUSTED])
    untrusted = torch.zeros(len(silver[1]), dtype=torch.bool)
    assert settings["identity"]["data"] == data_fingerprint(*silver, untrusted)


def test_anchors_of_forward_gold_are_searched_among_all_samples(fit, noisy, tmp_path) -> None:
    """The surest sample of each class is a trusted one here."""
    X = noisy.X.copy()
    X[TRUSTED] *= 3
    trained = fit("forward-gold", X=X, trusted=TRUSTED, folder=tmp_path)
    net = FCN(6, 3, hidden=(8,))
    net.load_state_dict(load_file(tmp_path / "silver" / "net.safetensors"))
    p = predict_probabilities(net, torch.from_numpy(X), torch.device("cpu"))
    found = trained.memory["transition"].numpy()
    np.testing.assert_allclose(found, anchor_points(p), atol=1e-6)
    assert not np.allclose(found, anchor_points(p[~TRUSTED]), atol=1e-3)


def test_a_part_of_the_untrusted_samples_can_choose_the_weights(fit, tmp_path) -> None:
    fit(METHODS["forward-gold"](held_out=0.25), trusted=TRUSTED, folder=tmp_path)
    _, settings = read_model(tmp_path / "silver" / "checkpoint.safetensors", "training checkpoint")
    assert settings["identity"]["keep"] == "best"
    with pytest.raises(ValueError, match="held_out must be in"):
        METHODS["forward-gold"](held_out=1.5)
