"""Features side by side behave like the array that they would make."""

import numpy as np
import pytest

from rehead._typing import BLOCK, JoinedFeatures, MappedFeatures, some_rows

A, B = np.arange(12.0).reshape(6, 2), -np.arange(18.0, dtype=np.float32).reshape(6, 3)


@pytest.mark.parametrize(
    "index",
    [
        slice(None),
        slice(1, 4),
        np.array([5, 0, 0]),
        np.array([True, False, True, False, False, True]),
        (np.array([4, 1]), slice(1, 4)),
        (slice(0, 3), slice(0, 2)),
        (slice(None), slice(3, 64)),
    ],
)
def test_rows_and_columns_are_those_of_the_joined_array(index):
    whole = np.concatenate([A, B], axis=1)
    joined = JoinedFeatures([A, B])
    assert (joined.shape, joined.dtype, len(joined)) == (whole.shape, whole.dtype, len(whole))
    np.testing.assert_array_equal(joined[index], whole[index])
    assert joined[index].dtype == whole.dtype


@pytest.mark.parametrize("rows", [slice(1, 5, 2), np.array([3, 1]), np.arange(6) > 2])
def test_some_rows_of_some_rows(rows):
    whole = np.concatenate([A, B], axis=1)
    for X in (whole, JoinedFeatures([A, B])):
        some = some_rows(X, rows)
        np.testing.assert_array_equal(np.asarray(some), whole[rows])
        np.testing.assert_array_equal(some_rows(some, np.array([1]))[:], whole[rows][1:2])


class Squares:
    """A map that counts the rows of the largest block it was given."""

    def __init__(self, n_columns=5):
        self.n_columns, self.most = n_columns, 0

    def __call__(self, block):
        self.most = max(self.most, len(block))
        return np.tile(block[:, :1] ** 2, self.n_columns) + np.arange(self.n_columns)


@pytest.mark.parametrize(
    "index",
    [
        slice(None),
        slice(1, 4),
        slice(5, 0, -2),
        np.array([5, 0, 0]),
        np.array([True, False, True, False, False, True]),
        (np.array([4, 1]), slice(1, 4)),
        (slice(0, 3), slice(0, 2)),
        (slice(None), slice(3, 64)),
    ],
)
@pytest.mark.parametrize("X", [A, B, JoinedFeatures([A, B])])
def test_mapped_rows_and_columns_are_those_of_the_mapped_array(X, index):
    mapped = MappedFeatures(X, Squares())
    whole = Squares()(np.asarray(X)).astype(X.dtype)
    assert (mapped.shape, mapped.dtype, len(mapped)) == (whole.shape, whole.dtype, len(whole))
    np.testing.assert_array_equal(mapped[index], whole[index])
    assert mapped[index].dtype == whole.dtype
    np.testing.assert_array_equal(np.asarray(mapped), whole)


@pytest.mark.parametrize("rows", [slice(1, 5, 2), np.array([3, 1]), np.arange(6) > 2])
def test_some_rows_of_mapped_features(rows):
    some = some_rows(MappedFeatures(A, Squares()), rows)
    np.testing.assert_array_equal(some[:], Squares()(A)[rows])
    np.testing.assert_array_equal(some_rows(some, np.array([1]))[:], Squares()(A)[rows][1:2])


def test_rows_are_mapped_block_by_block():
    squares = Squares()
    X = np.arange(3.0 * BLOCK + 7)[:, None]
    np.testing.assert_array_equal(MappedFeatures(X, squares)[:], Squares()(X))
    assert squares.most == BLOCK
