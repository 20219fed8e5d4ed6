"""Labels as codes: classes that do not occur, and labels that cannot be made noisy."""

import numpy as np
import pandas as pd
import pytest

from rehead import noise
from rehead.noise.labels import floor_of, read_labels, shares

KINDS = pytest.mark.parametrize("make", [noise.uniform, noise.flip])
LETTERS = ["b", "a", "b", "a", "long name", "long name"]


def test_labels_are_read_as_positions_in_their_sorted_classes():
    labels = read_labels(LETTERS)
    assert labels.classes.tolist() == ["a", "b", "long name"]
    assert labels.codes.tolist() == [1, 0, 1, 0, 2, 2]
    assert [rows.tolist() for rows in labels.rows_of_classes()] == [[1, 3], [0, 2], [4, 5]]
    assert labels.in_kind(np.array([2, 2, 0])).tolist() == ["long name", "long name", "a"]


def test_the_record_has_what_was_realised():
    noisy = read_labels(LETTERS).noisy(np.array([1, 0, 0, 0, 2, 1]))
    assert noisy.changed.tolist() == [False, False, True, False, False, True]
    assert noisy.rate == 2 / 6
    assert noisy.transition.tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]


def test_a_class_without_samples_has_no_shares():
    found = shares(np.array([0, 0, 0, 0]), np.array([0, 1, 1, 1]), (2, 2))
    np.testing.assert_array_equal(found, [[0.25, 0.75], [np.nan, np.nan]])


@pytest.mark.parametrize(("rate", "n", "expected"), [(0.29, 100, 29), (0.3, 10, 3), (0.999, 10, 9)])
def test_a_share_is_rounded_down_but_not_by_what_floats_lose(rate, n, expected):
    assert floor_of(rate, n) == expected


@KINDS
def test_naming_the_classes_that_occur_changes_nothing(make):
    y = np.array(LETTERS)
    a = make(y, 0.5, random_state=0)
    b = make(y, 0.5, classes=["a", "b", "long name"], random_state=0)
    np.testing.assert_array_equal(a.labels, b.labels)
    assert a.labels.dtype == b.labels.dtype


def test_classes_that_do_not_occur_can_be_reached():
    noisy = noise.uniform(np.zeros(300, np.uint8), 0.9, classes=range(4), random_state=0)
    assert set(noisy.labels.tolist()) == {0, 1, 2, 3}
    assert noisy.labels.dtype == np.uint8
    np.testing.assert_allclose(noisy.transition[0], [0.1, 0.3, 0.3, 0.3], atol=0.1)
    # Nothing is known about classes without samples.
    assert np.isnan(noisy.transition[1:]).all()


def test_the_next_class_is_next_in_the_given_order():
    noisy = noise.flip(["low", "high"], 1.0, classes=["low", "middle", "high"])
    assert noisy.labels.tolist() == ["middle", "low"]
    assert noisy.classes.tolist() == ["low", "middle", "high"]


def test_categories_that_do_not_occur_are_classes_only_if_named():
    y = pd.Categorical(["a", "b"] * 50, categories=["a", "b", "c"])
    assert set(noise.uniform(y, 1.0, random_state=0).labels) == {"a", "b"}
    named = noise.uniform(y, 1.0, classes=y.categories, random_state=0).labels
    assert set(named) == {"a", "b", "c"}
    with pytest.raises(ValueError, match=r"cannot hold the classes \['d'\]"):
        noise.uniform(y, 1.0, classes=["a", "b", "d"])


@pytest.mark.parametrize(
    ("y", "classes", "match"),
    [
        ([0, 5], [0, 1], r"not among classes: \[5\]"),
        (["a"], [0, 1], r"not among classes: \['a'\]"),
        ([0, 0], [0], "at least 2 different labels"),
        ([0, 1], [0, 1, 1], "at least 2 different labels"),
        ([0, 1], [[0, 1], [2, 3]], "at least 2 different labels"),
        ([0, 1], 2, "at least 2 different labels"),
        (np.array([0, 1], np.uint8), [0, 1, 300], r"uint8 cannot hold the classes \[300\]"),
        ([0, 1], [0, 1, 2.5], "cannot hold"),
    ],
)
def test_classes_that_do_not_fit(y, classes, match):
    with pytest.raises(ValueError, match=match):
        noise.uniform(y, 0.5, classes=classes)


@KINDS
@pytest.mark.parametrize(
    ("labels", "match"),
    [
        ([0, 0], "one class, 0"),
        ([None, 1], "missing"),
        (["a", float("nan")], "missing"),
        (pd.Series([1, None], dtype="Int64"), "missing"),
        (["a", 1], "mix types"),
        ([], "y is empty"),
        ([[0, 1], [1, 0]], "1d array"),
        (None, "y is None"),
        ([0.5, 1.5], "continuous"),
    ],
)
def test_labels_that_cannot_be_corrupted(make, labels, match):
    with pytest.raises(ValueError, match=match):
        make(labels, 0.5)
