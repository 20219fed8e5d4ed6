"""Rows at hand are the rows; what is large, and cheap to read again, is left where it is."""

import numpy as np
import pytest

from rehead._typing import JoinedFeatures, MappedFeatures
from rehead.gaussian import at_hand
from rehead.gaussian.at_hand import rows_at_hand

X = np.arange(40.0).reshape(20, 2)
ROWS = np.array([3, 7, 19])


class Same:
    n_columns = 2

    def __call__(self, block):
        return block


@pytest.mark.parametrize("lazy", [JoinedFeatures([X]), MappedFeatures(X, Same())])
def test_few_rows_are_read_once(lazy):
    made, numbers = rows_at_hand(lazy, ROWS)
    assert isinstance(made, np.ndarray)
    assert made.shape == (3, 2)
    np.testing.assert_array_equal(made[numbers], X[ROWS])


def test_arrays_and_large_parts_of_what_is_cheap_to_read_stay_where_they_are(monkeypatch):
    monkeypatch.setattr(at_hand, "IN_MEMORY", 0)
    assert rows_at_hand(X, ROWS)[0] is X
    joined, every = JoinedFeatures([X]), np.arange(20)
    assert rows_at_hand(joined, every)[0] is joined
    assert isinstance(rows_at_hand(joined, ROWS)[0], np.ndarray)  # few of all
    assert isinstance(rows_at_hand(MappedFeatures(X, Same()), every)[0], np.ndarray)
