"""Features are numbers; what would become numbers silently is refused."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy.sparse import csr_array

from rehead import (
    LayerEnsemble,
    ReheadWarning,
    RobustGaussianClassifier,
    find_mislabelled,
    noise,
    score_labels,
)

Y = np.arange(20) % 2
X = np.random.default_rng(0).normal(size=(20, 3)) + 3 * Y[:, None]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def with_column(values):
    return FRAME.assign(b=values)


def with_cell(value):
    objects = X.astype(object)
    objects[4, 1] = value
    return objects


MASKED = np.ma.array(X, mask=np.zeros_like(X, bool))
MASKED[4, 1] = np.ma.masked
GAP = FRAME.astype("Float64")
GAP.iloc[4, 1] = pd.NA

BAD = {
    "masked": (MASKED, "row 4, feature 1"),
    "nullable": (GAP, r"row 4, feature 'b'"),
    "None": (with_cell(None), "row 4, feature 1"),
    "NA": (with_cell(pd.NA), "row 4, feature 1"),
    "text in a cell": (with_cell("1"), r"text \('1' in row 4\), feature 1"),
    "text": (X.astype(str), "holds text"),
    "lists of text": (X.astype(str).tolist(), "holds text"),
    "bytes": (X.astype("S"), "holds text"),
    "column of text": (with_column("1"), r"text \('1' in row 0\), column 'b'"),
    "column of categories": (with_column(pd.Categorical(["1", "2"] * 10)), "column 'b'"),
    "column of times": (with_column(pd.Timestamp("2020-01-01")), "times, column 'b'"),
    "times in a zone": (with_column(pd.Timestamp("2020", tz="UTC")), "times, column 'b'"),
    "durations": (with_column(pd.Timedelta(1)), "times, column 'b'"),
    "times": (np.round(X).astype("datetime64[D]"), "holds times"),
    "times of polars": (
        pl.DataFrame({"a": X[:, 0], "b": np.round(X[:, 1]).astype("datetime64[D]")}),
        "times, column 'b'",
    ),
    "complex": (X * 1j, "Complex"),
    "too many digits": (with_cell(10**400), "a number too large for any float"),
    "column of lists": (with_column([[1.0]] * 20), "holds lists, column 'b'"),
    "records": (np.zeros(20, [("a", float)]), "holds records.*structured_to_unstructured"),
    "ragged": ([*X.tolist()[:-1], [1.0]], "differ in length: row 0 has 3 values, and row 19 has 1"),
    "nested": ([[[1.0], *row[1:]] for row in X.tolist()], "hold lists in place of numbers"),
    "meta": (torch.empty(20, 3, device="meta"), "device 'meta' has no values"),
    "a name twice": (FRAME.set_axis(["a", "b", "a"], axis=1), "several columns called 'a'"),
}
GOOD = {
    "masked nowhere": np.ma.array(X),
    "objects": X.astype(object),
    "tensor with gradients": torch.tensor(X, requires_grad=True),
    "nullable": FRAME.astype("Float64"),
    "polars": pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}),
    "lists": X.tolist(),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_number_is_refused(case):
    features, match = BAD[case]
    with pytest.raises(ValueError, match=match):
        RobustGaussianClassifier("sample").fit(features, Y)
    with pytest.raises(ValueError, match=f"Layer only: .*{match}"):
        LayerEnsemble("sample").fit({"only": features}, Y)


@pytest.mark.parametrize("case", GOOD)
def test_numbers_are_taken_as_they_are(case):
    found = RobustGaussianClassifier("sample").fit(GOOD[case], Y)
    expected = RobustGaussianClassifier("sample").fit(X, Y)
    np.testing.assert_array_equal(found.means_, expected.means_)


def test_truths_and_categories_of_numbers_are_numbers():
    frame = with_column(np.arange(20) % 3 == 1).assign(c=pd.Categorical([1, 2, 3, 5] * 5))
    model = RobustGaussianClassifier("sample").fit(frame, Y)
    np.testing.assert_allclose(model.means_[0, 1:], [(np.arange(0, 20, 2) % 3 == 1).mean(), 2.0])


@pytest.mark.parametrize(
    "features",
    [
        (X * 2**60).astype(np.int64),
        with_column(np.arange(20) + 2**60),
        with_cell(2**60),
    ],
    ids=["array", "frame", "objects"],
)
def test_whole_numbers_that_are_rounded_are_told(features):
    with pytest.warns(ReheadWarning, match=r"above 2\^53, which are rounded"):
        RobustGaussianClassifier("sample").fit(features, Y)


def test_masked_inputs_are_not_made_noisy():
    for make in (
        lambda: noise.semantic(MASKED, Y, clean=0.5),
        lambda: noise.annotator(MASKED, Y, 0.1),
        lambda: noise.part_dependent(MASKED, Y, 0.1),
        lambda: noise.polynomial_margin(MASKED, Y, 0.1),
        lambda: noise.open_set(MASKED, Y, 0.1, X),
        lambda: noise.open_set(X, Y, 0.1, MASKED),
    ):
        with pytest.raises(ValueError, match="masked values"):
            make()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"sample_weight": np.ma.array(np.ones(20), mask=Y == 1)}, "row 1 has nan"),
        ({"sample_weight": pd.array([None, *[1.0] * 19], dtype="Float64")}, "row 0 has nan"),
        ({"trusted": np.ma.array(Y == 1, mask=Y == 1)}, "boolean mask"),
        ({"trusted": pd.array([None, *[True] * 19], dtype="boolean")}, "boolean mask"),
    ],
)
def test_masks_of_what_goes_with_samples_are_not_dropped(given, match):
    with pytest.raises(ValueError, match=match):
        RobustGaussianClassifier("sample").fit(X, Y, **given)


@pytest.mark.parametrize(
    "groups", [np.ma.array(Y, mask=np.arange(20) == 3), [0, 1, 0, None, *[1] * 16]]
)
def test_a_group_that_is_missing_is_named(groups):
    with pytest.raises(ValueError, match="groups has no value in row 3"):
        LayerEnsemble().fit({"only": X}, Y, groups=groups)


def test_given_posteriors_that_are_masked_are_refused():
    layers = {"x": X, "p": np.ma.array(np.full((20, 2), 0.5), mask=np.eye(20, 2))}
    with pytest.raises(ValueError, match="Input p contains NaN or masked"):
        LayerEnsemble("sample", given=["p"]).fit(layers, Y)


@pytest.mark.parametrize(
    ("features", "match"),
    [
        (with_cell(1j), r"complex \('1j' in row 4\), feature 1"),
        (with_cell(datetime.date(2020, 1, 1)), "holds date"),
        (with_cell([1.0]), "holds list"),
        (with_column(pd.Period("2020")), r"holds Period.*column 'b'"),
        ({"a": X[:, 0]}, "got dict. Pass an array"),
        ({1.0, 2.0}, "got set"),
        ((row for row in X), "got generator"),
        ("features.npy", "got str"),
        (len, "got builtin_function"),
        (None, "got NoneType"),
        (pl.DataFrame(X).lazy(), r"LazyFrame, not yet computed: pass X.collect\(\)"),
        (torch.tensor(X).to_sparse(), r"Sparse tensors .*to_dense\(\)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_table_of_features(features, match):
    with pytest.raises(TypeError, match=match):
        RobustGaussianClassifier("sample").fit(features, Y)


class OnlyArray:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def __len__(self):
        return len(self.values)


def test_anything_that_becomes_an_array():
    clf = RobustGaussianClassifier("sample").fit(OnlyArray(X), Y)
    np.testing.assert_array_equal(clf.predict_proba(OnlyArray(X)), clf.predict_proba(X))
    quality = [score_labels(clf, F, Y).quality for F in (X, OnlyArray(X), memoryview(X))]
    np.testing.assert_array_equal(quality[1:], [quality[0]] * 2)
    with pytest.raises(ValueError, match="holds text"):
        clf.predict(OnlyArray(X.astype(str)))
    for judge in (score_labels, find_mislabelled):
        with pytest.raises(ValueError, match="differ in length"):
            judge(clf, [*X.tolist()[:-1], [1.0]], Y)
        with pytest.raises(TypeError, match="Sparse tensors"):
            judge(clf, torch.tensor(X).to_sparse(), Y)


@pytest.mark.parametrize("layer", [3.0, pl.DataFrame(X).lazy(), (row for row in X)])
def test_layers_that_have_no_rows(layer):
    with pytest.raises(TypeError, match="Expected features, one row for each sample"):
        LayerEnsemble("sample").fit({"a": X, "b": layer}, Y)


@pytest.mark.parametrize(
    "layer", [csr_array(X), [*X.tolist()[:-1], [1.0]]], ids=["sparse", "ragged"]
)
def test_layers_that_are_no_tables_are_named(layer):
    fitted = LayerEnsemble("sample", weights="equal").fit({"a": X, "b": X}, Y)
    for call in (
        lambda: LayerEnsemble("sample").fit({"a": X, "b": layer}, Y),
        lambda: fitted.predict({"a": X, "b": layer}),
    ):
        with pytest.raises((TypeError, ValueError), match=r"Sparse input|differ in length"):
            call()


@pytest.mark.parametrize("weights", [["1"] * 20, "heavy", np.ones(20) * 1j, ["1", 2.0] * 10])
def test_weights_that_are_no_numbers(weights):
    with pytest.raises(ValueError, match="sample_weight must be numbers, got"):
        RobustGaussianClassifier("sample").fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    "posterior",
    [
        np.eye(2)[Y].astype(str),
        np.eye(2)[Y] * (1 + 0j),
        np.eye(2)[Y].astype("m8[s]"),
        [["a", "b"]] * 20,
        [[0.5, 0.5]] * 19 + [[1.0]],
        torch.empty(20, 2, device="meta"),
    ],
    ids=["text", "complex", "spans", "letters", "ragged", "meta"],
)
def test_given_posteriors_are_numbers(posterior):
    good = {"x": X, "p": np.eye(2)[Y]}
    fitted = LayerEnsemble("sample", given=["p"], weights="equal").fit(good, Y)
    layers = {"x": X[: len(posterior)], "p": posterior}
    match = "holds text|is complex|holds times|differ in length|has no values"
    for call in (fitted.predict_proba, lambda f: LayerEnsemble("sample", given=["p"]).fit(f, Y)):
        with pytest.raises(ValueError, match=match):
            call(layers)


def test_given_posteriors_in_any_container():
    p = np.eye(2)[Y] * 0.5 + 0.25
    fitted = LayerEnsemble("sample", given=["p"], weights="equal").fit({"x": X, "p": p}, Y)
    expected = fitted.predict_proba({"x": X, "p": p})
    tensor = torch.tensor(p, requires_grad=True)
    for given in (p.tolist(), p.astype(object), tensor, tensor.bfloat16(), OnlyArray(p)):
        np.testing.assert_allclose(fitted.predict_proba({"x": X, "p": given}), expected, atol=1e-6)
