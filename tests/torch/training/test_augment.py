"""Augmentation of whole batches."""

import pytest
import torch
from torch import Tensor

from rehead.torch.training.augment import AUGMENTATIONS, random_crop, random_flip


def pictures(n: int = 40, dtype: torch.dtype = torch.uint8) -> Tensor:
    return torch.randint(1, 256, (n, 3, 8, 8), generator=torch.Generator().manual_seed(0)).to(dtype)


@pytest.mark.parametrize("padding", [2, 4])
def test_each_crop_is_a_shifted_window_with_zeros_outside(padding: int) -> None:
    x = pictures()
    shifts = set()
    for before, after in zip(x, random_crop(x, padding), strict=True):
        padded = torch.zeros(3, 8 + 2 * padding, 8 + 2 * padding, dtype=x.dtype)
        padded[:, padding:-padding, padding:-padding] = before
        found = [
            (i, j)
            for i in range(2 * padding + 1)
            for j in range(2 * padding + 1)
            if torch.equal(padded[:, i : i + 8, j : j + 8], after)
        ]
        assert len(found) == 1
        shifts.update(found)
    assert len(shifts) > 10


def test_every_shift_occurs_equally_often() -> None:
    x = torch.zeros(20_000, 1, 3, 3)
    x[:, 0, 1, 1] = 1
    counts = random_crop(x, 1).sum(dim=(0, 1)).flatten()
    expected = 20_000 / 9
    assert ((counts - expected).abs() < 5 * (expected * 8 / 9) ** 0.5).all()


def test_a_flip_mirrors_left_and_right_or_does_nothing_half_of_the_time_each() -> None:
    x = pictures(2000)
    flipped = random_flip(x)
    mirrored = (flipped == x.flip(3)).flatten(1).all(1)
    left_alone = (flipped == x).flatten(1).all(1)
    assert bool((mirrored ^ left_alone).all())
    assert abs(int(mirrored.sum()) - 1000) < 5 * 500**0.5


@pytest.mark.parametrize("name", AUGMENTATIONS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_shape_and_dtype_stay_and_the_input_is_left_alone(name: str, dtype: torch.dtype) -> None:
    x = pictures(dtype=dtype)
    before = x.clone()
    after = AUGMENTATIONS[name](x)
    assert after.dtype == dtype
    assert after.shape == x.shape
    assert torch.equal(x, before)
    assert not torch.equal(after, before)


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_one_seed_gives_one_augmentation(name: str) -> None:
    results = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        results.append(AUGMENTATIONS[name](pictures()))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])


def test_images_need_not_be_square() -> None:
    assert random_flip(random_crop(torch.rand(5, 1, 6, 9))).shape == (5, 1, 6, 9)
