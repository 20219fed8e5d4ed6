"""What estimates are composed of."""

import numpy as np
import pytest

from rehead.gaussian.composition import Composition
from rehead.gaussian.kernels import Subset
from rehead.gaussian.moments import pooled_moments
from rehead.gaussian.rows import group_by_class

CODES = np.array([2, 0, 1, 0, 2, 2])
SUBSETS = [Subset(np.array([1])), Subset(np.array([0])), Subset(np.array([0, 2]))]


def test_rows_of_a_subset_count_and_others_do_not():
    inside = Composition.from_subsets(group_by_class(np.zeros((6, 1)), CODES, 3), SUBSETS)
    assert inside.weights.tolist() == [1, 0, 1, 1, 0, 1]
    assert inside.counted_as.tolist() == CODES.tolist()
    assert inside.class_totals.tolist() == [1, 1, 2]


@pytest.mark.parametrize("weighted", [False, True])
def test_totals_are_the_weights_of_the_moments(weighted):
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=90)
    w = rng.choice([0.0, 0.5, 1.0, 3.0], size=90) if weighted else None
    data = group_by_class(rng.normal(size=(90, 2)), codes, 4, weights=w)
    subsets = [
        Subset(s.positions[::2], s.weights if s.weights is None else s.weights[::2] / 2)
        for s in map(data.whole, range(4))
    ]
    inside = Composition.from_subsets(data, subsets)
    np.testing.assert_allclose(inside.class_totals, pooled_moments(data, subsets).weights)
    assert inside.weights.sum() == pytest.approx(inside.class_totals.sum())


def test_some_rows_keep_the_totals_of_all():
    whole = Composition.from_rows(np.array([1.0, 0.5, 2.0]), np.array([0, 1, 1]), 3)
    assert whole.class_totals.tolist() == [1.0, 2.5, 0.0]
    for rows in (np.array([2, 0]), slice(1, None)):
        part = whole.take(rows)
        assert part.weights.tolist() == whole.weights[rows].tolist()
        assert part.counted_as.tolist() == whole.counted_as[rows].tolist()
        assert part.class_totals is whole.class_totals
    wanted = whole.only(np.array([True, False, True]))
    assert wanted.weights.tolist() == [1.0, 0.0, 2.0]
    assert wanted.counted_as is whole.counted_as
    assert wanted.class_totals is whole.class_totals
