"""Checks of samples and labels that ``test_bad_input.py`` does not reach through an estimator."""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier
from rehead._typing import NamedFeatures
from rehead._validation import (
    check_aligned,
    check_groups,
    check_layers,
    check_weights,
    count_rows,
    is_missing,
    known_codes,
)


@pytest.mark.parametrize(
    "value", [math.nan, np.float32("nan"), np.datetime64("NaT"), pd.NA, pd.NaT]
)
def test_what_is_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", math.inf, False, datetime.date(2020, 1, 1)])
def test_what_is_not(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    "X",
    [np.ones((4, 2)), [[1.0], [2.0], [3.0], [4.0]], pd.DataFrame({"a": range(4)})],
    ids=["array", "list", "pandas"],
)
def test_rows_are_counted(X):
    assert count_rows(X) == 4
    assert count_rows(pl.DataFrame({"a": range(4), "b": range(4)})) == 4


@pytest.mark.parametrize(
    "X", [3.0, np.float64(3.0), None, iter([1])], ids=lambda x: type(x).__name__
)
def test_what_has_no_rows_is_named(X):
    with pytest.raises(TypeError, match=f"one row for each sample, got {type(X).__name__}"):
        count_rows(X)


def test_labels_become_codes_and_strange_ones_are_listed():
    classes = np.array(["ant", "bee", "cat"])
    assert known_codes(np.array(["cat", "ant", "cat"]), classes).tolist() == [2, 0, 2]
    with pytest.raises(
        ValueError, match=r"these labels: 'dog', 'elk'. It knows 'ant', 'bee', 'cat'"
    ):
        known_codes(np.array(["elk", "dog", "ant", "elk"]), classes)


def test_groups_are_codes():
    assert check_groups(None, 3) is None
    assert check_groups(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match=r"groups has shape \(3,\), but there are 4 samples"):
        check_groups([1, 2, 3], 4)
    with pytest.raises(ValueError, match="All samples are in one group"):
        check_groups([1, 1, 1], 3)


def test_one_weight_is_for_all_rows():
    X, codes, classes = np.ones((4, 1)), np.array([0, 0, 1, 1]), np.array([0, 1])
    assert check_weights(None, X, codes, classes) is None
    assert check_weights(2, X, codes, classes).tolist() == [2.0] * 4


def test_layers_that_are_not_those_of_the_fit():
    X = np.ones((3, 2))
    check_layers({"a": X, "b": X}, ["a", "b"])
    with pytest.raises(ValueError, match=r"different numbers of samples: \{'a': 3, 'b': 2\}"):
        check_layers({"a": X, "b": X[:2]})
    with pytest.raises(ValueError, match=r"Layers \['b'\] are missing"):
        check_layers({"a": X}, ["a", "b"])
    with pytest.raises(ValueError, match=r"not fitted on \['c'\], only on \['a'\]"):
        check_layers({"a": X, "c": X}, ["a"])


class TestNamedFeatures:
    def test_names_are_kept_and_held_to(self):
        X, y = np.arange(16.0).reshape(8, 2) % 5, [0, 1] * 4
        model = RobustGaussianClassifier("sample").fit(NamedFeatures(X, ["a", "b"]), y)
        assert model.feature_names_in_.tolist() == ["a", "b"]
        expected = model.predict_proba(pd.DataFrame(X, columns=["a", "b"]))
        found = model.predict_proba(NamedFeatures(X, ["a", "b"])[2:6])
        np.testing.assert_array_equal(found, expected[2:6])
        with pytest.raises(ValueError, match=r"in the same order: 'a', 'b'; got 'b', 'a'"):
            model.predict(NamedFeatures(X, ["b", "a"]))
        model.fit(X, y)
        assert not hasattr(model, "feature_names_in_")
        model.predict(NamedFeatures(X, ["b", "a"]))  # it knows no names
        with pytest.raises(ValueError, match="features"):
            model.predict(NamedFeatures(X[:, :1], ["b"]))


ROWS = pd.RangeIndex(4)
NAMES = pd.Index(["a", "b", "c", "d"])
PART = pd.Index([7, 3, 9, 5])


class TestAlignment:
    @pytest.mark.parametrize(
        ("of_X", "of_y", "shared"),
        [
            (ROWS, ROWS, None),
            (ROWS, None, None),
            (NAMES, NAMES, NAMES),
            (NAMES, None, NAMES),
            (None, NAMES, NAMES),
            (NAMES, ROWS, NAMES),
            (PART, ROWS, PART),  # a new frame of these rows
            (pd.Index([2, 0, 3, 1]), None, [2, 0, 3, 1]),
            (pd.Index([np.nan, 1.0, 2.0, 3.0]), pd.Index([np.nan, 1.0, 2.0, 3.0]), None),
        ],
    )
    def test_indexes_that_go_together(self, of_X, of_y, shared):
        X, y = (
            np.zeros(4) if index is None else pd.Series(np.zeros(4), index=index)
            for index in (of_X, of_y)
        )
        found = check_aligned(X, y=y, trusted=None)
        if shared is not None:
            assert found.tolist() == list(shared)

    @pytest.mark.parametrize(
        ("of_X", "of_y"),
        [
            (NAMES, NAMES[::-1]),
            (ROWS, ROWS[::-1]),
            (ROWS[::-1], ROWS),
            (PART, PART[::-1]),
            (PART, NAMES),
            (NAMES, pd.Index(["a", "b", "c", "e"])),
        ],
    )
    def test_indexes_that_contradict_each_other(self, of_X, of_y):
        X, y = (pd.Series(np.zeros(4), index=index) for index in (of_X, of_y))
        with pytest.raises(ValueError, match=r"different pandas indexes.*reindex.*to_numpy\(\)"):
            check_aligned(X, y=y)
        with pytest.raises(ValueError, match=r"^(late|y) and (late|y) have different pandas"):
            check_aligned({"early": np.zeros(4), "late": X}, y=y)

    def test_another_number_of_rows_is_for_other_checks(self):
        assert check_aligned(pd.Series([1, 2], NAMES[:2]), y=pd.Series([1], ["z"])) is not None

    @pytest.mark.parametrize("what", ["y", "sample_weight", "trusted"])
    def test_of_the_classifier(self, what):
        frame = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8.0) % 3}, list("abcdefgh"))
        given = {
            "y": pd.Series([0, 1] * 4, frame.index),
            "sample_weight": pd.Series(np.ones(8), frame.index),
            "trusted": pd.Series(np.ones(8, bool), frame.index),
        }
        RobustGaussianClassifier("sample").fit(frame, **given)
        given[what] = given[what].iloc[::-1]
        with pytest.raises(ValueError, match=f"X and {what} have different pandas indexes"):
            RobustGaussianClassifier("sample").fit(frame, **given)

    @pytest.mark.filterwarnings("ignore:No held-out samples were given")
    @pytest.mark.parametrize("what", ["late", "y", "trusted", "groups", "ids"])
    def test_of_the_ensemble(self, what):
        frame = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8.0) % 3}, list("abcdefgh"))
        given = {
            name: pd.Series(values, frame.index)
            for name, values in {
                "y": [0, 1] * 4,
                "trusted": np.ones(8, bool),
                "groups": np.arange(8),
                "ids": np.arange(8),
            }.items()
        }
        layers = {"early": frame, "late": frame}
        LayerEnsemble("sample").fit(layers, **given)
        if what == "late":
            layers["late"] = frame.iloc[::-1]
        else:
            given[what] = given[what].iloc[::-1]
        with pytest.raises(ValueError, match=f"early and {what} have different pandas indexes"):
            LayerEnsemble("sample").fit(layers, **given)

    def test_of_held_out_samples(self):
        X = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8.0) % 3}, list("abcdefgh"))
        y = pd.Series([0, 1] * 4, X.index)
        with pytest.raises(ValueError, match="only and y have different pandas indexes"):
            LayerEnsemble("sample").fit({"only": X}, y, validation=({"only": X + 1}, y.iloc[::-1]))
