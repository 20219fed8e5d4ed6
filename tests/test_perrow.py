"""Sums and numbers of many rows, a span at a time, are what they are of all rows at once."""

import numpy as np

from rehead import _perrow
from rehead._perrow import AllBut, class_totals, number_type, rows_by_class, rows_where

N, C = 3 * _perrow.SPAN + 17, 7
rng = np.random.default_rng(0)
codes, weights, others = rng.integers(C, size=N), rng.random(N), rng.random(N)


def test_totals_are_those_of_bincount_to_the_last_bit():
    np.testing.assert_array_equal(class_totals(codes, C), np.bincount(codes))
    np.testing.assert_array_equal(class_totals(codes, C, weights), np.bincount(codes, weights))
    both = class_totals(codes.astype("i4"), C + 2, weights, others)
    np.testing.assert_array_equal(both, np.bincount(codes, weights * others, minlength=C + 2))


def test_rows_by_class_are_in_order():
    kept = weights > 0.3
    for mask, found in ((None, rows_by_class(codes, C)), (kept, rows_by_class(codes, C, kept))):
        for c, rows in enumerate(found):
            of_class = codes == c if mask is None else (codes == c) & mask
            np.testing.assert_array_equal(rows, np.flatnonzero(of_class))
            assert rows.dtype == np.int32


def test_rows_of_no_class_are_in_none():
    assert [r.tolist() for r in rows_by_class(np.array([-1, 1, 0, -1]), 2)] == [[2], [1]]


def test_rows_where_a_mask_says():
    mask = weights > 0.9
    which = np.arange(0, mask.sum(), 11)
    np.testing.assert_array_equal(rows_where(mask, which), np.flatnonzero(mask)[which])


def test_all_but_some():
    left_out = np.unique(rng.integers(N, size=5000))
    mask = np.ones(N, bool)
    mask[left_out] = False
    found = AllBut(left_out, N)
    assert len(found) == mask.sum()
    np.testing.assert_array_equal(found[:], np.flatnonzero(mask))
    np.testing.assert_array_equal(found[100:900], np.flatnonzero(mask)[100:900])


def test_four_bytes_unless_there_are_too_many():
    assert number_type(10) is np.int32
    assert number_type(2**31) is np.int64
