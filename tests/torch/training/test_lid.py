"""Local intrinsic dimensionality, its turning point and the trust in labels (A8)."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from rehead.torch.training.lid import label_trust, lid, turned


def cube(n: int, d: int) -> Tensor:
    return torch.rand(n, d, generator=torch.Generator().manual_seed(d))


@pytest.mark.parametrize(("d", "expected"), [(1, 1.11), (2, 2.19), (3, 3.20), (5, 5.09)])
def test_lid_of_uniform_cubes_is_about_their_dimension(d: int, expected: float) -> None:
    found = float(lid(cube(4000, d)).mean())
    assert found == pytest.approx(expected, rel=0.03)
    assert found == pytest.approx(d, rel=0.15)


@pytest.mark.parametrize(
    ("d", "expected"), [(1, 1.09), (2, 2.03), (3, 2.89), (5, 4.56), (10, 7.68)]
)
def test_lid_in_batches_of_128_is_what_the_card_measured(d: int, expected: float) -> None:
    found = np.mean([float(lid(part).mean()) for part in cube(1280, d).split(128)])
    assert found == pytest.approx(expected, rel=0.05)


def test_lid_is_the_formula_written_out() -> None:
    points = cube(40, 3).double()
    for i, value in enumerate(lid(points, 5)):
        r = sorted(float((points[i] - q).norm()) for j, q in enumerate(points) if j != i)[:5]
        assert float(value) == pytest.approx(-5 / sum(math.log(s / r[-1] + 1e-8) for s in r))


def test_lid_does_not_change_with_scale_rotation_or_place() -> None:
    points = cube(100, 4).double()
    rotation = torch.linalg.qr(torch.randn(4, 4, dtype=torch.float64)).Q
    for moved in (1000 * points, points @ rotation, points + 5, 1e-3 * points @ rotation):
        assert_close(lid(moved), lid(points), rtol=1e-7, atol=0)


def test_lid_permutes_with_the_samples() -> None:
    points, order = cube(60, 3), torch.randperm(60)
    assert_close(lid(points[order]), lid(points)[order])


def test_too_few_samples_for_the_neighbours_are_refused() -> None:
    assert lid(cube(21, 2), 20).shape == (21,)
    with pytest.raises(ValueError, match="20 neighbours need more than 20 samples, got 20"):
        lid(cube(20, 2), 20)


def test_a_falling_series_never_turns() -> None:
    values = [10 * 0.97**e for e in range(60)]
    assert not any(turned(values[:e], first=5) for e in range(1, 61))


@pytest.mark.parametrize("level", [1.0, 0.1, 7.3, 1 / 3])
def test_a_flat_series_never_turns(level: float) -> None:
    assert not any(turned([level] * e, first=0) for e in range(1, 30))


def test_a_jump_after_a_flat_series_turns_in_its_epoch_only() -> None:
    values = [5.0, 5.1] * 5 + [6.0] + [6.0] * 8
    fired = [e for e in range(1, len(values) + 1) if turned(values[:e], first=3)]
    assert fired[0] == 11
    assert fired == [11]


def test_the_limit_is_two_population_standard_deviations() -> None:
    before = [4.0, 5.0, 6.0, 5.0, 4.0]
    limit = np.mean(before) + 2 * np.std(before)
    assert turned([*before, limit + 1e-9], first=0)
    assert not turned([*before, limit - 1e-9], first=0)


def test_the_turning_point_is_looked_for_after_first_plus_window_values() -> None:
    jump = [1.0] * 5 + [2.0]
    assert turned(jump, first=0, window=5)
    assert not turned(jump, first=1, window=5)
    assert turned([9.0, *jump], first=1, window=5)
    assert turned([1.0, 1.0, 2.0], first=0, window=2)


def test_trust_in_labels_is_the_published_formula() -> None:
    assert label_trust([4.0, 2.0, 3.0], epoch=10, epochs=40) == pytest.approx(math.exp(-0.25 * 1.5))


def test_at_the_start_labels_are_trusted_fully_and_less_as_lid_grows() -> None:
    assert label_trust([3.0, 9.0], epoch=0, epochs=10) == 1.0
    trust = [label_trust([2.0, value], epoch=5, epochs=10) for value in (2.0, 3.0, 4.0)]
    assert trust == sorted(trust, reverse=True)
    assert trust[0] == pytest.approx(math.exp(-0.5))
