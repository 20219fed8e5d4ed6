"""MentorNet (A10): its four forms, burn-in and sample dropout."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from rehead.torch.training import METHODS, Pace, Recipe
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
    method = METHODS["mentornet"](form="self-paced", pace=Pace(percentile=0.75, decay=0.0))
    chosen = weights(method, losses) > 0
    assert sorted(chosen.nonzero()[:, 0].tolist()) == sorted(
        losses.argsort()[: n * 3 // 4].tolist()
    )


def test_self_paced_weights_are_parts_of_the_whole_batch() -> None:
    method = METHODS["mentornet"](form="self-paced", pace=Pace(decay=0.0))
    found = weights(method, shuffled_losses(20))
    assert_close(found.unique(), torch.tensor([0, 1 / 20]))


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
    method = METHODS["mentornet"](form="mixture", pace=Pace(percentile=0.5, decay=0.0))
    assert_close(5 * weights(method, losses, step=17), torch.ones(5))
    assert_close(5 * weights(method, losses, step=18), torch.tensor([1.0, 1, 1, 0, 0]))
    assert_close(5 * weights(method, losses, step=89), torch.tensor([1.0, 1, 1, 0, 0]))
    assert_close(5 * weights(method, losses, step=90), torch.tensor([1.0, 1, 1, 0.6, 0]))


def test_dropped_samples_have_no_weight_until_their_time_is_over() -> None:
    method = METHODS["mentornet"](
        form="mixture", pace=Pace(burn_in=1.0), sample_dropout=((0.17, 0.5), (0.95, 0.05))
    )
    torch.manual_seed(0)
    losses = shuffled_losses(4000)
    shares = [float((weights(method, losses, step) > 0).float().mean()) for step in (0, 50, 96)]
    assert shares[0] == pytest.approx(0.5, abs=5 * 0.5 / 4000**0.5)
    assert shares[1] == pytest.approx(0.95, abs=5 * (0.05 * 0.95 / 4000) ** 0.5)
    assert shares[2] == 1.0


def test_no_gradient_reaches_the_weights(fit) -> None:
    method = METHODS["mentornet"](form="mixture")
    seen = []

    def select(losses, *rest):
        (found,) = method.select(losses, *rest)
        seen.append(found.requires_grad)
        return [found]

    fit(replace(method, select=select))
    assert seen
    assert not any(seen)


def test_with_a_teacher_wrong_labels_count_less_after_the_burn_in(fit, noisy) -> None:
    rows = np.arange(0, 96, 2)
    method = METHODS["mentornet"](
        form="teacher",
        clean=(rows, noisy.true[rows]),
        teacher_steps=300,
        pace=Pace(burn_in=0.5),
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


def test_each_form_learns_something_else(fit, noisy, same) -> None:
    rows = np.arange(40)
    methods = [
        METHODS["cross-entropy"](),
        METHODS["mentornet"](noise_rate=0.4),
        METHODS["mentornet"](form="self-paced"),
        METHODS["mentornet"](form="mixture"),
        METHODS["mentornet"](form="teacher", clean=(rows, noisy.true[rows]), teacher_steps=20),
    ]
    nets = [fit(method).net for method in methods]
    assert not any(same(a, b) for a, b in combinations(nets, 2))


def test_a_pace_can_be_given_by_some_of_its_fields() -> None:
    by_name = METHODS["mentornet"](form="mixture", pace={"gamma": 0.5, "decay": 0.1})
    assert (
        by_name.settings
        == METHODS["mentornet"](form="mixture", pace=Pace(gamma=0.5, decay=0.1)).settings
    )
    with pytest.raises(TypeError, match="gama"):
        METHODS["mentornet"](form="mixture", pace={"gama": 0.5})


def test_the_threshold_is_in_the_history(fit) -> None:
    history = fit(METHODS["mentornet"](form="self-paced")).history
    assert all(entry["threshold"] > 0 for entry in history)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"must know the share of wrong labels: METHODS\['mentornet'\]"),
        ({"form": "small loss"}, "Did you mean 'small-loss'"),
        ({"noise_rate": 40}, r"noise_rate must be in \[0, 1\), got 40. For 40 % pass 0.4"),
        ({"form": "self-paced", "pace": {"percentile": 70}}, r"percentile must be in \[0, 1\]"),
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
