"""Features side by side behave like the array that they would make."""

import numpy as np
import pytest

from rehead._typing import JoinedFeatures, some_rows

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
