"""MentorNet's parts (A10): the threshold, known labels, and the teacher that learns from them."""

import numpy as np
import pytest
import torch

from rehead.torch.training import Pace
from rehead.torch.training.mentor import KnownLabels, Teacher, fit_teacher, moving_threshold


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"percentile": 70}, r"percentile must be in \[0, 1\], got 70"),
        ({"decay": -0.1}, r"decay must be in \[0, 1\]"),
        ({"burn_in": 18}, r"burn_in must be in \[0, 1\]"),
        ({"gamma": 0.0}, "gamma must be above 0"),
        ({"gamma": float("nan")}, "gamma must be above 0"),
    ],
)
def test_a_pace_that_cannot_be_followed_is_refused(fields: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pace(**fields)


def test_the_threshold_is_a_moving_average_from_zero() -> None:
    memory: dict = {}
    for expected in (1.0, 1.5, 1.75):
        found = moving_threshold(memory, torch.full((10,), 2.0), Pace(percentile=0.7, decay=0.5))
        assert float(found) == expected
    assert float(memory["threshold"]) == 1.75


def test_known_labels_are_rows_or_a_mask_and_never_counted_from_the_end() -> None:
    mask, labels = np.arange(96) % 2 == 0, np.arange(96) % 3
    by_mask, by_rows = (KnownLabels.of(rows, labels[mask]) for rows in (mask, np.flatnonzero(mask)))
    assert by_mask.rows.tolist() == by_rows.rows.tolist() == list(range(0, 96, 2))
    assert by_mask.checksum == by_rows.checksum
    assert by_mask.checksum != KnownLabels.of(mask, labels[~mask]).checksum
    with pytest.raises(ValueError, match="equal length"):
        KnownLabels.of(mask, labels)
    with pytest.raises(ValueError, match=r"names row -96\. Rows are counted from 0"):
        KnownLabels.of(np.arange(96) - 96, labels)


def planted(epochs: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Right labels have losses about 0.5, wrong ones about 3."""
    generator = torch.Generator().manual_seed(0)
    right = (torch.arange(80) % 4 > 0).float()
    noise = 0.2 * torch.randn(epochs, 80, generator=generator)
    return (torch.where(right > 0, 0.5, 3.0) + noise).clamp_min(0), right


def test_the_teacher_learns_to_tell_planted_losses_apart() -> None:
    recorded, right = planted()
    teacher = fit_teacher(recorded, right, Pace(), steps=300, seed=0)
    loss = torch.tensor([0.3, 0.5, 0.7, 2.7, 3.0, 3.3])
    percent = torch.full((6,), 18)
    with torch.no_grad():
        found = torch.sigmoid(teacher(loss, loss - 0.7, percent))
    assert (found[:3] > 0.9).all()
    assert (found[3:] < 0.1).all()


def test_the_teacher_does_not_disturb_global_randomness_and_obeys_its_seed(same) -> None:
    recorded, right = planted()
    before = torch.get_rng_state()
    a, b, c = (fit_teacher(recorded, right, Pace(), steps=5, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    assert same(a, b)
    assert not same(a, c)


def test_the_teachers_embedding_of_time_is_not_trained() -> None:
    recorded, right = planted()
    few, more = (fit_teacher(recorded, right, Pace(), steps, seed=0) for steps in (1, 20))
    assert torch.equal(few.epoch.weight, more.epoch.weight)
    assert not torch.equal(few.hidden.weight, more.hidden.weight)
    assert Teacher().hidden.weight.shape == (20, 9)
