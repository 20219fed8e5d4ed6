"""Grouping by class and pooled moments."""

import numpy as np

from rehead._typing import Known
from rehead.gaussian.rows import group_by_class


def test_rows_of_a_class_are_sorted_and_without_those_of_weight_zero():
    codes = np.array([2, 0, 0, 2, 1, 0])
    w = np.array([1.0, 0.0, 2.0, 1.0, 1.0, 3.0])
    data = group_by_class(np.zeros((6, 1)), codes, 3, weights=w)
    assert [r.tolist() for r in data.rows] == [[2, 5], [4], [0, 3]]
    assert [data.class_size(c) for c in range(3)] == [5.0, 1.0, 2.0]
    assert data.codes.tolist() == [2, 0, 0, 2, 1, 0]


def test_the_shift_of_a_constant_feature_is_its_value_to_the_last_bit():
    # Otherwise a constant feature gets a variance of rounding errors.
    X = np.full((70, 2), 0.1, np.float32)
    assert (group_by_class(X, np.zeros(70, int), 1).shifts == np.float32(0.1)).all()


def test_trusted_rows_are_counted_with_their_weights_and_come_first():
    codes, trusted = np.array([0, 0, 1]), np.array([True, False, True])
    data = group_by_class(
        np.zeros((3, 1)), codes, 2, weights=np.array([2.0, 1.0, 5.0]), trusted=trusted
    )
    assert [data.trusted_size(c) for c in (0, 1)] == [2.0, 5.0]
    assert data.favour_trusted(0, np.array([3.0, 1.0])).tolist() == [-np.inf, 1.0]
    known = group_by_class(np.zeros((3, 1)), codes, 2).with_known(Known(trusted))
    assert known.trusted is trusted
    assert known.with_known(Known()) is known


def test_far_rows_are_not_near_unless_they_are_trusted_or_all_there_is():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(200, 3)), np.repeat([0, 1, 2], [100, 95, 5])
    X[[0, 1, 110]] = 1e6
    X[195:] = -1e6
    data = group_by_class(X, codes, 3)
    assert np.flatnonzero(~data.near).tolist() == [0, 1, 110]
    trusted = np.arange(200) == 1
    assert np.flatnonzero(~data.with_known(Known(trusted)).near).tolist() == [0, 110]


class Hidden:
    """A map that hides what is far."""

    n_columns = 2

    def __call__(self, block):
        return np.tanh(block[:, :2]) + 5.0


def test_mapped_rows_are_the_same_rows_and_far_where_they_were_far_before():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(90, 4)), np.arange(90) % 3
    X[4] = 1e5
    weights, trusted = np.ones(90), np.arange(90) == 8
    data = group_by_class(X, codes, 3, weights=weights, trusted=trusted)
    mapped = data.mapped(Hidden())
    assert mapped.n_features == 2
    assert mapped.rows is data.rows
    np.testing.assert_array_equal(mapped.X[:], Hidden()(X))
    again = group_by_class(Hidden()(X), codes, 3, weights=weights, trusted=trusted)
    np.testing.assert_array_equal(mapped.shifts, again.shifts)
    assert again.near.all()
    assert np.flatnonzero(~mapped.near).tolist() == [4]
    np.testing.assert_array_equal(mapped.near, data.near)
    # Trust that comes later counts all the same.
    assert mapped.with_known(Known(np.arange(90) == 4)).near.all()
    assert not data.near[4]


def test_some_classes_stand_for_themselves():
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=90)
    X, w, trusted = rng.normal(size=(90, 2)), rng.random(90), rng.random(90) < 0.2
    w[:5] = 0.0
    data = group_by_class(X, codes, 4, weights=w, trusted=trusted)
    part = data.of_classes(slice(1, 3))
    assert part.n_classes == 2
    for c in (1, 2):
        np.testing.assert_array_equal(part.X[part.rows[c - 1]], X[data.rows[c]])
        assert (part.codes[part.rows[c - 1]] == c - 1).all()
        np.testing.assert_array_equal(part.class_weights(c - 1), data.class_weights(c))
        assert part.trusted_size(c - 1) == data.trusted_size(c)
        np.testing.assert_array_equal(part.shifts[c - 1], data.shifts[c])
