"""METHODS.md, cards A1 to A5: the losses and their gradients in closed form."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from rehead.torch.training import losses
from rehead.torch.training.transition import inverse

C, B = 4, 12


def logits(scale: float = 2.0) -> Tensor:
    return (scale * torch.randn(B, C, generator=torch.Generator().manual_seed(0))).requires_grad_()


def labels() -> Tensor:
    return torch.arange(B) % C


def one_hot(y: Tensor) -> Tensor:
    return torch.eye(C)[y]


def gradient(objective: Tensor, z: Tensor) -> Tensor:
    return torch.autograd.grad(objective, z)[0]


def transition(seed: int = 0) -> np.ndarray:
    """An asymmetric matrix with a heavy diagonal: for a symmetric one, T and T.T look alike."""
    T = np.random.default_rng(seed).random((C, C)) + 2 * np.eye(C)
    return T / T.sum(axis=1, keepdims=True)


def uniform(epsilon: float, classes: int) -> np.ndarray:
    T = np.full((classes, classes), epsilon / (classes - 1))
    np.fill_diagonal(T, 1 - epsilon)
    return T


ALL = {
    "cross-entropy": lambda z, y: losses.cross_entropy(z, y),
    "bootstrap-hard": lambda z, y: losses.bootstrap_hard(z, y, 0.8),
    "bootstrap-soft": lambda z, y: losses.bootstrap_soft(z, y, 0.95),
    "forward": lambda z, y: losses.forward_corrected(z, y, torch.from_numpy(transition())),
    "backward": lambda z, y: losses.backward_corrected(
        z, y, torch.from_numpy(inverse(transition()))
    ),
}


@pytest.mark.parametrize("name", ALL)
def test_a_loss_has_one_entry_for_each_sample_and_permutes_with_them(name: str) -> None:
    z, y, order = logits(), labels(), torch.randperm(B)
    assert ALL[name](z, y).shape == (B,)
    assert torch.equal(ALL[name](z[order], y[order]), ALL[name](z, y)[order])


@pytest.mark.parametrize("name", ALL)
def test_logits_in_half_precision_give_losses_in_single(name: str) -> None:
    z = logits().detach().bfloat16()
    loss = ALL[name](z, labels())
    assert loss.dtype == torch.float32
    assert torch.equal(loss, ALL[name](z.float(), labels()))


@pytest.mark.parametrize("name", ALL)
def test_gradients_stay_finite_at_extreme_logits(name: str) -> None:
    z = (200 * torch.eye(C)[[0, 1, 2, 3]]).requires_grad_()
    objective = ALL[name](z, torch.tensor([0, 0, 1, 3])).sum()
    assert bool(torch.isfinite(objective))
    assert bool(torch.isfinite(gradient(objective, z)).all())


def test_cross_entropy_at_zero_logits_is_ln_c() -> None:
    assert_close(losses.cross_entropy(torch.zeros(B, C), labels()), torch.full((B,), math.log(C)))


def test_gradient_of_cross_entropy_is_p_minus_e_y() -> None:
    z, y = logits(), labels()
    found = gradient(losses.cross_entropy(z, y).mean(), z)
    assert_close(found, (z.softmax(1) - one_hot(y)).detach() / B, atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize("loss", [losses.bootstrap_hard, losses.bootstrap_soft])
def test_bootstrapping_with_beta_1_is_cross_entropy(loss) -> None:
    z, y = logits(), labels()
    expected = losses.cross_entropy(z, y)
    assert_close(loss(z, y, 1.0), expected)
    assert_close(gradient(loss(z, y, 1.0).mean(), z), gradient(expected.mean(), z))


def test_hard_bootstrapping_is_cross_entropy_where_the_prediction_is_the_label() -> None:
    z = logits()
    y = z.argmax(1)
    assert_close(losses.bootstrap_hard(z, y, 0.3), losses.cross_entropy(z, y))


def test_hard_bootstrapping_mixes_the_label_and_the_prediction() -> None:
    z, y = logits(), labels()
    log_p = z.log_softmax(1)
    target = 0.8 * one_hot(y) + 0.2 * one_hot(z.argmax(1))
    assert_close(losses.bootstrap_hard(z, y, 0.8), -(target * log_p).sum(1))


def test_no_gradient_goes_through_the_argmax_of_hard_bootstrapping() -> None:
    z, y = logits(), labels()
    found = gradient(losses.bootstrap_hard(z, y, 0.8).mean(), z)
    expected = (z.softmax(1) - 0.8 * one_hot(y) - 0.2 * one_hot(z.argmax(1))).detach() / B
    assert_close(found, expected, atol=1e-7, rtol=1e-5)


def test_of_tied_predictions_hard_bootstrapping_takes_one() -> None:
    z = torch.zeros(1, C, requires_grad=True)
    target = 1 / C - gradient(losses.bootstrap_hard(z, torch.tensor([0]), 0.0).sum(), z)
    assert_close(target.sort().values, torch.tensor([[0.0, 0.0, 0.0, 1.0]]))


def test_soft_bootstrapping_is_cross_entropy_plus_entropy() -> None:
    z, y = logits(), labels()
    entropy = torch.distributions.Categorical(logits=z).entropy()
    expected = 0.95 * losses.cross_entropy(z, y) + 0.05 * entropy
    assert_close(losses.bootstrap_soft(z, y, 0.95), expected)


def test_the_gradient_of_soft_bootstrapping_goes_through_both_p() -> None:
    z, y, beta = logits(), labels(), 0.6
    p = z.softmax(1).detach()
    entropy = -(p * p.log()).sum(1, keepdim=True)
    through_entropy = -p * (p.log() + entropy)
    expected = beta * (p - one_hot(y)) + (1 - beta) * through_entropy
    found = gradient(losses.bootstrap_soft(z, y, beta).sum(), z)
    assert_close(found, expected, atol=1e-6, rtol=1e-5)
    assert through_entropy.abs().max() > 0.1  # a detached target would have 0 here


def test_forward_with_the_identity_is_cross_entropy() -> None:
    z, y = logits(), labels()
    expected, found = losses.cross_entropy(z, y), losses.forward_corrected(z, y, torch.eye(C))
    assert_close(found, expected, atol=1e-6, rtol=1e-6)
    assert_close(gradient(found.mean(), z), gradient(expected.mean(), z), atol=1e-7, rtol=1e-6)


def test_forward_takes_column_y_of_t() -> None:
    z, y, T = logits(), labels(), torch.from_numpy(transition())
    expected = -(z.double().softmax(1) @ T)[torch.arange(B), y].log()
    assert_close(losses.forward_corrected(z, y, T), expected.float(), atol=1e-6, rtol=1e-5)


def test_the_observed_distribution_of_forward_sums_to_1() -> None:
    z, T = logits().detach(), torch.from_numpy(transition())
    losses_of = [losses.forward_corrected(z, torch.full((B,), j), T) for j in range(C)]
    assert_close(torch.stack(losses_of).neg().exp().sum(0), torch.ones(B))


def test_forward_has_no_gradient_where_all_rows_are_the_same() -> None:
    z, T = logits(), torch.tensor([0.4, 0.3, 0.2, 0.1]).expand(C, C)
    found = gradient(losses.forward_corrected(z, labels(), T).sum(), z)
    assert_close(found, torch.zeros(B, C), atol=1e-6, rtol=0)


def test_forward_is_exact_where_probabilities_underflow() -> None:
    z = torch.tensor([[0.0, 300.0, 0.0, 0.0]])
    assert_close(
        losses.forward_corrected(z, torch.tensor([0]), torch.eye(C)), torch.tensor([300.0])
    )


def test_minimising_forward_on_noisy_labels_recovers_the_clean_posterior() -> None:
    T = torch.tensor([[0.7, 0.3], [0.2, 0.8]], dtype=torch.float64)
    clean = torch.tensor([[0.9, 0.1], [0.35, 0.65], [0.05, 0.95]], dtype=torch.float64)
    observed = (clean @ T).float()
    z = torch.zeros(3, 2, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [z], max_iter=200, tolerance_grad=1e-9, line_search_fn="strong_wolfe"
    )

    def objective() -> Tensor:
        optimizer.zero_grad()
        by_label = [losses.forward_corrected(z, torch.full((3,), j), T) for j in range(2)]
        loss = (observed * torch.stack(by_label, dim=1)).sum()
        loss.backward()
        return loss

    optimizer.step(objective)
    assert_close(z.softmax(1), clean.float(), atol=2e-3, rtol=0)


def test_backward_with_the_identity_is_cross_entropy() -> None:
    z, y = logits(), labels()
    expected, found = losses.cross_entropy(z, y), losses.backward_corrected(z, y, torch.eye(C))
    assert_close(found, expected)
    assert_close(gradient(found.mean(), z), gradient(expected.mean(), z))


@pytest.mark.parametrize("seed", range(3))
def test_backward_is_unbiased_for_an_asymmetric_t(seed: int) -> None:
    T = transition(seed)
    z = logits().detach()
    inverted = torch.from_numpy(inverse(T))
    of_label = [losses.backward_corrected(z, torch.full((B,), j), inverted) for j in range(C)]
    expected = torch.from_numpy(T).float() @ torch.stack(of_label)
    assert_close(expected, -z.log_softmax(1).T, atol=1e-5, rtol=1e-5)
    transposed = torch.from_numpy(inverse(T).T)
    of_label = [losses.backward_corrected(z, torch.full((B,), j), transposed) for j in range(C)]
    wrong = torch.from_numpy(T).float() @ torch.stack(of_label)
    assert (wrong + z.log_softmax(1).T).abs().max() > 0.05


def test_backward_is_bounded_although_some_weights_are_negative() -> None:
    inverted = torch.from_numpy(inverse(uniform(0.6, 10)))
    z = torch.zeros(1, 10)
    z[0, 0] = 1000.0
    found = float(losses.backward_corrected(z, torch.tensor([0]), inverted))
    assert found == pytest.approx(9 * -0.2 * -math.log(1e-7), rel=1e-5)


def test_backward_has_no_gradient_where_all_but_one_probability_are_cut() -> None:
    z = torch.zeros(1, C)
    z[0, 0] = 50.0
    z.requires_grad_()
    found = gradient(losses.backward_corrected(z, torch.tensor([1]), torch.eye(C)).sum(), z)
    assert torch.equal(found, torch.zeros(1, C))


@pytest.mark.parametrize(("epsilon", "classes"), [(0.2, 10), (0.6, 10), (0.5, 4)])
def test_the_inverse_of_uniform_noise_has_its_closed_form(epsilon: float, classes: int) -> None:
    b, a = epsilon / (classes - 1), 1 - epsilon * classes / (classes - 1)
    expected = np.eye(classes) / a - b / a
    np.testing.assert_allclose(inverse(uniform(epsilon, classes)), expected, atol=1e-12)
    if (epsilon, classes) == (0.6, 10):
        assert expected[0, 0] == pytest.approx(2.8)
        assert expected[0, 1] == pytest.approx(-0.2)
