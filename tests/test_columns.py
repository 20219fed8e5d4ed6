"""Columns keep what they hold: types, digits, and what is missing."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

from rehead._columns import as_column, is_missing, join_columns, library, missing_rows

BIG = 2**53 + 1


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (torch.zeros(2), "torch"),
        (pd.Series([1]), "pandas"),
        (pl.Series([1]), "polars"),
        (pa.array([1]), "pyarrow"),
        (np.zeros(2), ""),
        ([1], ""),
    ],
)
def test_libraries_are_recognised(values, name):
    assert library(values) == name


@pytest.mark.parametrize(
    "values",
    [
        ["a", 1, 2.5],
        ["a", None],
        [True, 1],
        [BIG, 0.5],
        [-1, 2**63],
        ["a\0", "a"],
        [b"a", "a"],
        [(1, 2), "a"],
    ],
)
def test_values_are_not_brought_to_one_type(values):
    found = as_column(values)
    assert found.tolist() == values
    assert [type(v) for v in found.tolist()] == [type(v) for v in values]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], np.int64),
        ([1, 2.0], np.float64),
        ([np.int8(1), np.int8(2)], np.int8),
        (["a", "bc"], "<U2"),
        ([True, np.True_], bool),
        ([np.datetime64("2020-01-01")], "datetime64[D]"),
        (pd.array([BIG, 1], dtype="Int64"), np.int64),
        (pl.Series([BIG, 1]), np.int64),
        (np.array(["a", "b"], np.dtypes.StringDType()), "<U1"),
    ],
)
def test_values_of_one_type_have_it(values, dtype):
    assert as_column(values).dtype == dtype


@pytest.mark.parametrize(
    "values",
    [
        [BIG, None],
        pd.array([BIG, None], dtype="Int64"),
        pd.Series([BIG, None], dtype=pd.ArrowDtype(pa.int64())),
        pl.Series([BIG, None]),
        pa.array([BIG, None]),
        np.ma.array([BIG, 7], mask=[False, True]),
        [BIG, np.ma.masked],
    ],
    ids=lambda v: type(v).__module__,
)
def test_a_gap_costs_no_digits(values):
    found = as_column(values)
    assert found[0] == BIG
    assert missing_rows(found).tolist() == [False, True]


def test_a_row_that_is_masked_is_missing_in_a_matrix_too():
    matrix = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert missing_rows(as_column(matrix)).tolist() == [[False, True], [False, False]]


def test_rows_of_different_lengths_stay_rows():
    assert as_column([[1], [1, 2]]).shape == (2,)
    assert as_column([[1, 2], [3, 4]]).shape == (2, 2)


def test_joined_columns_are_not_brought_to_one_type():
    assert join_columns([np.array([1, 2]), np.array(["a"])]).tolist() == [1, 2, "a"]
    assert join_columns([np.array(["a"]), np.array(["long"])]).tolist() == ["a", "long"]


def test_an_index_of_tuples_stays_one():
    index = pd.MultiIndex.from_tuples([(1, "a"), (2, "b")])
    assert as_column(index).tolist() == [(1, "a"), (2, "b")]
    assert not is_missing((1, "a"))
