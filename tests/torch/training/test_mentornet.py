"""MentorNet (A10): its four forms, the threshold, the teacher, burn-in and sample dropout."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from rehead.torch.training import METHODS, Recipe
from rehead.torch.training.mentor import Teacher, fit_teacher, moving_threshold
from rehead.torch.training.method import Batch, Moment


def weights(method, losses, step=0, steps=100, memory=None, epoch=None):
    n = len(losses)
    batch = Batch(
        torch.zeros(n, dtype=torch.long), torch.zeros(n, dtype=torch.bool), torch.arange(n)
    )
    moment = Moment(step if epoch is None else epoch, steps, step, steps)
    memory = {} if memory is None else memory
    (found,) = method.select([losses], [torch.zeros(n, 2)], batch, moment, memory)
    return found


def shuffled_losses(n: int = 128) -> torch.Tensor:
    return torch.rand(n, generator=torch.Generator().manual_seed(0)) * 4


@pytest.mark.parametrize("n", [4, 20, 100, 128])
def test_without_memory_exactly_three_quarters_are_chosen(n: int) -> None:
    losses = shuffled_losses(n)
    method = METHODS["mentornet"](form="self-paced", percentile=0.75, decay=0.0)
    chosen = weights(method, losses) > 0
    assert sorted(chosen.nonzero()[:, 0].tolist()) == sorted(
        losses.argsort()[: n * 3 // 4].tolist()
    )


def test_self_paced_weights_are_parts_of_the_whole_batch() -> None:
    found = weights(METHODS["mentornet"](form="self-paced", decay=0.0), shuffled_losses(20))
    assert_close(found.unique(), torch.tensor([0, 1 / 20]))


def test_the_threshold_is_a_moving_average_from_zero() -> None:
    memory: dict = {}
    for expected in (1.0, 1.5, 1.75):
        found = moving_threshold(memory, torch.full((10,), 2.0), 0.7, 0.5)
        assert float(found) == expected
    assert float(memory["threshold"]) == 1.75


@pytest.mark.parametrize(
    "settings",
    [{"noise_rate": 0.4, "ramp": 1}, {"form": "self-paced"}, {"form": "mixture"}],
    ids=["small-loss", "self-paced", "mixture"],
)
@pytest.mark.parametrize("step", [10, 50, 95])
def test_weights_permute_with_the_samples(settings: dict, step: int) -> None:
    losses, method = shuffled_losses(), METHODS["mentornet"](**settings)
    order = torch.randperm(128)
    assert_close(weights(method, losses[order], step), weights(method, losses, step)[order])


@pytest.mark.parametrize(("epoch", "kept"), [(0, 128), (1, 121), (9, 70), (10, 70)])
def test_small_losses_are_kept_with_co_teachings_schedule(epoch: int, kept: int) -> None:
    losses = shuffled_losses()
    found = weights(METHODS["mentornet"](noise_rate=0.45), losses, epoch=epoch)
    assert set(found.nonzero()[:, 0].tolist()) == set(losses.argsort()[:kept].tolist())
    assert_close(found.sum(), torch.tensor(1.0))


def test_the_mixture_counts_all_then_some_then_by_degrees() -> None:
    losses = torch.tensor([0.1, 0.5, 1.0, 1.4, 3.0])
    method = METHODS["mentornet"](form="mixture", percentile=0.5, decay=0.0)
    assert_close(5 * weights(method, losses, step=17), torch.ones(5))
    assert_close(5 * weights(method, losses, step=18), torch.tensor([1.0, 1, 1, 0, 0]))
    assert_close(5 * weights(method, losses, step=89), torch.tensor([1.0, 1, 1, 0, 0]))
    assert_close(5 * weights(method, losses, step=90), torch.tensor([1.0, 1, 1, 0.6, 0]))


def test_dropped_samples_have_no_weight_until_their_time_is_over() -> None:
    method = METHODS["mentornet"](
        form="mixture", burn_in=1.0, sample_dropout=((0.17, 0.5), (0.95, 0.05))
    )
    torch.manual_seed(0)
    losses = shuffled_losses(4000)
    shares = [float((weights(method, losses, step) > 0).float().mean()) for step in (0, 50, 96)]
    assert shares[0] == pytest.approx(0.5, abs=5 * 0.5 / 4000**0.5)
    assert shares[1] == pytest.approx(0.95, abs=5 * (0.05 * 0.95 / 4000) ** 0.5)
    assert shares[2] == 1.0


def test_no_gradient_reaches_the_weights(fit) -> None:
    from dataclasses import replace

    method = METHODS["mentornet"](form="mixture")
    seen = []

    def select(losses, *rest):
        (found,) = method.select(losses, *rest)
        seen.append(found.requires_grad)
        return [found]

    fit(replace(method, select=select))
    assert seen
    assert not any(seen)


def planted(epochs: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Right labels have losses about 0.5, wrong ones about 3."""
    generator = torch.Generator().manual_seed(0)
    right = (torch.arange(80) % 4 > 0).float()
    noise = 0.2 * torch.randn(epochs, 80, generator=generator)
    return (torch.where(right > 0, 0.5, 3.0) + noise).clamp_min(0), right


def test_the_teacher_learns_to_tell_planted_losses_apart() -> None:
    recorded, right = planted()
    teacher = fit_teacher(recorded, right, 0.7, 0.5, steps=300, seed=0)
    loss = torch.tensor([0.3, 0.5, 0.7, 2.7, 3.0, 3.3])
    percent = torch.full((6,), 18)
    with torch.no_grad():
        found = torch.sigmoid(teacher(loss, loss - 0.7, percent))
    assert (found[:3] > 0.9).all()
    assert (found[3:] < 0.1).all()


def test_the_teacher_does_not_disturb_global_randomness_and_obeys_its_seed(same) -> None:
    recorded, right = planted()
    before = torch.get_rng_state()
    a, b, c = (fit_teacher(recorded, right, 0.7, 0.5, steps=5, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    assert same(a, b)
    assert not same(a, c)


def test_the_teachers_embedding_of_time_is_not_trained(same) -> None:
    recorded, right = planted()
    few, more = (fit_teacher(recorded, right, 0.7, 0.5, steps, seed=0) for steps in (1, 20))
    assert torch.equal(few.epoch.weight, more.epoch.weight)
    assert not torch.equal(few.hidden.weight, more.hidden.weight)
    assert Teacher().hidden.weight.shape == (20, 9)


def test_with_a_teacher_wrong_labels_count_less_after_the_burn_in(fit, noisy) -> None:
    from dataclasses import replace

    rows = np.arange(0, 96, 2)
    method = METHODS["mentornet"](
        form="teacher", clean=(rows, noisy.true[rows]), teacher_steps=300, burn_in=0.5
    )
    seen = []

    def select(losses, logits, batch, moment, memory):
        (found,) = method.select(losses, logits, batch, moment, memory)
        seen.append((moment.progress, batch.rows, found * len(found)))
        return [found]

    recipe = Recipe(epochs=8, batch_size=16, learning_rate=0.02, schedule="constant")
    fit(replace(method, select=select), recipe=recipe)
    assert all((w == 1).all() for progress, _, w in seen if progress < 0.5)
    late = [(r, w) for progress, r, w in seen if progress >= 0.5]
    every_row, every_weight = (torch.cat(parts).numpy() for parts in zip(*late, strict=True))
    wrong = (noisy.y != noisy.true)[every_row]
    assert every_weight[wrong].mean() < every_weight[~wrong].mean() - 0.3
    assert every_weight.min() >= 0
    assert every_weight.max() <= 1


@pytest.mark.parametrize("form", ["small-loss", "self-paced", "mixture", "teacher"])
def test_each_form_trains(form: str, fit, noisy, same) -> None:
    rows = np.arange(40)
    options = {
        "small-loss": {"noise_rate": 0.4},
        "teacher": {"clean": (rows, noisy.true[rows]), "teacher_steps": 20},
    }
    trained = fit(METHODS["mentornet"](form=form, **options.get(form, {})))
    assert np.isfinite([entry["loss"] for entry in trained.history]).all()
    assert not same(trained.net, fit().net)


def test_the_threshold_is_in_the_history(fit) -> None:
    history = fit(METHODS["mentornet"](form="self-paced")).history
    assert all(entry["threshold"] > 0 for entry in history)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"must know the share of wrong labels: METHODS\['mentornet'\]"),
        ({"form": "small loss"}, "Did you mean 'small-loss'"),
        ({"noise_rate": 40}, r"noise_rate must be in \[0, 1\), got 40. For 40 % pass 0.4"),
        ({"form": "self-paced", "percentile": 70}, r"percentile must be in \[0, 1\]"),
        ({"form": "self-paced", "decay": -0.1}, r"decay must be in \[0, 1\]"),
        ({"form": "mixture", "burn_in": 18}, r"burn_in must be in \[0, 1\]"),
        ({"noise_rate": 0.4, "ramp": 0}, "ramp must be a whole number of at least 1"),
        ({"form": "teacher"}, r"pass clean=\(rows, labels\)"),
        ({"form": "teacher", "clean": (np.arange(5), np.arange(5))}, "at least 20 samples"),
        ({"form": "teacher", "clean": (np.arange(30), np.arange(29))}, "of equal length"),
    ],
)
def test_bad_settings_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        METHODS["mentornet"](**settings)


def test_a_teacher_needs_right_and_wrong_labels_and_rows_that_exist(fit, noisy) -> None:
    rows = np.arange(40)
    with pytest.raises(ValueError, match="All labels that clean names are right"):
        fit(METHODS["mentornet"](form="teacher", clean=(rows, noisy.y[rows]), teacher_steps=1))
    with pytest.raises(ValueError, match="clean names row 109, but there are 96 samples"):
        fit(METHODS["mentornet"](form="teacher", clean=(rows + 70, noisy.y[rows])))
