"""Classes of texts: which are kept, and their codes."""

import numpy as np

from rehead.data.text import codes, frequent, objects


def test_classes_with_a_hundred_samples_are_kept():
    labels = ["a"] * 100 + ["b"] * 99 + ["c"] * 101
    assert frequent(labels) == {"a", "c"}
    assert frequent(labels, 101) == {"c"}


def test_samples_of_other_classes_are_left_out_and_codes_follow_the_names():
    rows, y = codes(["c", "x", "a", "c"], ["a", "b", "c"])
    np.testing.assert_array_equal(rows, [0, 2, 3])
    np.testing.assert_array_equal(y, [2, 0, 2])


def test_strings_are_not_padded_to_the_longest():
    texts = objects(["a", "b" * 10_000])
    assert texts.dtype == object
    assert texts.nbytes < 100
