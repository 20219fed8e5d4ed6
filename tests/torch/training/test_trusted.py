"""Trusted samples that are drawn at random."""

import numpy as np
import pytest

from rehead.torch.training import draw_trusted


def test_drawn_trusted_samples_have_every_class_and_the_share_asked_for() -> None:
    y = np.repeat([0, 1, 2], [900, 99, 1])
    for seed in range(5):
        mask = draw_trusted(y, 0.05, random_state=seed)
        assert mask.sum() == 50
        assert set(y[mask]) == {0, 1, 2}
    few = draw_trusted(y, 0.001, random_state=0)
    assert few.sum() == 3
    assert draw_trusted(y, 1.0).all()


def test_trusted_samples_are_drawn_at_random_from_a_seed() -> None:
    y = np.arange(300) % 3
    a, b, c = (draw_trusted(y, 0.2, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()
    assert draw_trusted(y.astype(str), 0.2).sum() == 60


@pytest.mark.parametrize("share", [0, 1.5, -0.1])
def test_a_share_of_trusted_samples_outside_0_to_1_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match=r"For 1 % pass 0\.01"):
        draw_trusted([0, 1, 2], share)


def test_rare_classes_may_be_missing_where_that_is_asked_for() -> None:
    y = np.repeat([0, 1], [9990, 10])
    masks = [draw_trusted(y, 0.001, every_class=False, random_state=s) for s in range(30)]
    assert {int(mask.sum()) for mask in masks} == {10}
    assert np.mean([y[mask].any() for mask in masks]) < 0.2
