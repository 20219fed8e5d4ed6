"""Bad input gives an error that names the problem; odd input never gives NaN."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels
from rehead.gaussian import ESTIMATORS
from rehead.gaussian.options import PRESETS, USAGE

Clf = RobustGaussianClassifier


def fails(match, X, y, error=ValueError, clf=None, **kwargs):
    with pytest.raises(error, match=match):
        (Clf(random_state=0) if clf is None else clf).fit(X, y, **kwargs)


class TestFeatures:
    @pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_nan_and_infinity_are_located(self, blobs, value, name, dtype):
        X, y = blobs(sizes=(2000, 2000))
        X = X.astype(dtype)
        clf = Clf(random_state=0).fit(X, y)
        X[3100, 2] = X[3500, 0] = value
        fails(rf"contains {name} \(row 3100, feature 2 first\)", X, y)
        for method in (clf.predict, clf.predict_proba, clf.score_samples):
            with pytest.raises(ValueError, match=r"row 3100, feature 2"):
                method(X)
        with pytest.raises(ValueError, match=r"row 3100, feature 2"):
            score_labels(clf, X, y)

    def test_the_feature_is_named(self, blobs):
        X, y = blobs()
        X[5, 1] = -np.inf
        frame = pd.DataFrame(X, columns=["length", "width", "height"])
        fails(r"infinity \(row 5, feature 'width' first\)", frame, y)

    def test_infinities_that_cancel_are_found(self, blobs):
        X, y = blobs()
        X[0, 0], X[1, 0] = np.inf, -np.inf
        fails("row 0, feature 0", X, y)

    def test_large_finite_values_are_not_taken_for_infinite(self, blobs):
        X, y = blobs()
        X[:, 0] *= 1e100
        assert Clf(random_state=0).fit(X, y).score(X, y) > 0.9

    @pytest.mark.parametrize(
        ("X", "match"),
        [
            (np.empty((0, 3)), "0 sample"),
            (np.empty((4, 0)), "0 feature"),
            (np.arange(4.0), "2D array"),
            (np.ones((4, 2, 2)), "dim 3"),
            (np.ones((4, 2)) * 1j, "[Cc]omplex"),
            (np.array([["a", "b"]] * 4), "convert"),
        ],
    )
    def test_wrong_shape_or_type(self, X, match):
        fails(match, X, [0, 0, 1, 1][: len(X)])

    @pytest.mark.parametrize("dtype", [np.float16, np.int8, np.int64, np.uint8, bool])
    def test_other_number_types_are_converted(self, blobs, dtype):
        X, y = blobs(distance=20.0)
        X = (X > 0.0) if dtype is bool else (X - X.min()).astype(dtype)
        clf = Clf("sample").fit(X, y)
        assert clf.means_.dtype == (np.float32 if dtype == np.float16 else np.float64)
        np.testing.assert_array_equal(clf.predict(X), clf.predict(X.astype(clf.means_.dtype)))

    def test_lengths_that_differ(self, blobs):
        X, y = blobs()
        fails("180 rows and y has 179 labels", X, y[1:])

    def test_wrong_number_of_features_at_predict(self, fitted):
        clf, X, _ = fitted
        with pytest.raises(ValueError, match=r"2 features.*expecting 3"):
            clf.predict(X[:, :2])


class TestLabels:
    @pytest.mark.parametrize(
        "missing",
        [
            lambda s: [None, *s[1:]],
            lambda s: np.array([np.nan, *s[1:]], object),
            lambda s: np.where(np.arange(len(s)) == 0, np.nan, (s == "a").astype(float)),
            lambda s: pd.Series([pd.NA, *s[1:]]),
            lambda s: pd.Series([pd.NA, *s[1:]], dtype="string"),
            lambda s: pd.Series([pd.NA, *(s[1:] == "a").astype(int)], dtype="Int64"),
            lambda s: pd.Series([None, *s[1:]], dtype="category"),
            lambda s: pl.Series([None, *s[1:]]),
            lambda s: np.array(["NaT", *np.where(s[1:] == "a", "2020", "2021")], "datetime64[Y]"),
        ],
        ids=[
            "None",
            "object nan",
            "float nan",
            "NA",
            "string NA",
            "Int64 NA",
            "category",
            "polars",
            "NaT",
        ],
    )
    def test_missing_labels_are_located(self, blobs, missing):
        X, y = blobs(sizes=(40, 40))
        fails(r"missing labels: 1 in all, row 0 first", X, missing(np.array(["a", "b"])[y]))

    def test_mixed_types_are_explained(self, blobs):
        X, y = blobs(sizes=(40, 40))
        mixed = y.astype(object)
        mixed[7] = "one"
        fails(r"mix types \(int, str\), row 7 first.*str\(label\)", X, mixed)

    @pytest.mark.parametrize(
        ("y", "match"),
        [
            (np.zeros(80, int), "one class only: all labels are"),
            (
                np.linspace(0, 1, 80),
                r"Unknown label type: continuous\. .*row 1\).*78 of 80.*digitize.*astype\(str\)",
            ),
            (np.zeros((80, 2), int), "1d array"),
            (None, "requires y"),
        ],
    )
    def test_labels_that_are_not_classes(self, blobs, y, match):
        fails(match, blobs(sizes=(40, 40))[0], y)

    def test_labels_to_judge_must_be_known(self, fitted):
        clf, X, y = fitted
        with pytest.raises(ValueError, match=r"not fitted on these labels: 9"):
            score_labels(clf, X, np.where(y == 2, 9, y))
        with pytest.raises(ValueError, match="180 rows and y has 5"):
            score_labels(clf, X, y[:5])


class TestParameters:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("support_fraction", v) for v in (0, 0.0, 1.5, -1, "half", True, np.nan, [0.5])),
            *(("max_steps", v) for v in (0, -1, 1.5, "two", True)),
            *(("n_starts", v) for v in (0, 2.0, False)),
            *(("shrinkage", v) for v in (-1, 2, "ledoit", np.nan, True)),
            *(("start", v) for v in ("first", 3)),
            *(("leave_one_out", v) for v in (1, "yes")),
            *(("random_state", v) for v in ("abc", 1.5, -1, [1, 2])),
            *(("priors", v) for v in ([0.5, 0.5], [0.5, 0.6, -0.1], [0.5, 0.3, 0.3], "flat")),
            *(("priors", v) for v in ([0.5, 0.5, np.nan], 3, ["a", "b", "c"], [[0.2, 0.3, 0.5]])),
        ],
    )
    def test_absurd_values_are_named(self, blobs, name, value):
        # The message must name the parameter: a user may have set ten.
        fails(name, *blobs(), clf=Clf("mcd", **{name: value}))

    @pytest.mark.parametrize(
        ("kwargs", "match"),
        [
            ({"estimator": "mdc"}, "Did you mean 'mcd'"),
            ({"estimator": "trimmed_kmeans"}, "Did you mean 'trimmed-kmeans'"),
            ({"preset": "author"}, "Did you mean 'authors'"),
            ({"estimator": "mcd", "start": "determinstic"}, "Did you mean 'deterministic'"),
            ({"priors": "emprical"}, "Did you mean 'empirical'"),
            ({"estimator": 3}, "estimator must be one of"),
        ],
    )
    def test_unknown_names_suggest_the_nearest(self, blobs, kwargs, match):
        fails(match, *blobs(), clf=Clf(**kwargs))

    @pytest.mark.parametrize("preset", sorted(PRESETS))
    def test_a_preset_and_anything_it_sets_clash(self, blobs, preset):
        settings = {
            k: v for k, v in Clf().get_params().items() if k not in ("preset", "random_state")
        }
        assert PRESETS[preset].keys() == settings.keys()
        for name, value in PRESETS[preset].items():
            if value is not None:  # None is how an argument is left unset
                clf = Clf(preset=preset, **{name: value})
                fails(rf"preset='{preset}' already sets {name}\.", *blobs(), clf=clf)

    @pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
    def test_options_that_an_estimator_does_not_use_are_an_error(self, blobs, estimator):
        values = {
            "support_fraction": 0.7,
            "max_steps": 2,
            "n_starts": 1,
            "start": "random",
            "leave_one_out": False,
            "shrinkage": 0.1,
            "priors": "uniform",
        }
        for name, value in values.items():
            clf = Clf(estimator, **{name: value})
            if name in USAGE[estimator].options:
                clf.fit(*blobs())
            else:
                fails(rf"estimator='{estimator}' does not use {name}\.", *blobs(), clf=clf)

    def test_several_starts_of_a_deterministic_kind_are_an_error(self, blobs):
        fails(
            "n_starts=3 needs start='random'",
            *blobs(),
            clf=Clf("mcd", n_starts=3, start="deterministic"),
        )

    def test_the_constructor_checks_nothing_and_keeps_what_it_is_given(self):
        odd = object()
        assert Clf(odd, shrinkage=odd).estimator is odd


class TestMasksAndWeights:
    @pytest.mark.parametrize(
        "trusted",
        [
            np.ones(180),
            np.ones(180, int),
            np.ones(179, bool),
            np.ones((180, 1), bool),
            [1, 5],
            True,
        ],
    )
    def test_trusted_must_be_a_boolean_mask(self, blobs, trusted):
        fails("trusted must be a boolean mask.*180 rows", *blobs(), trusted=trusted)

    def test_trusted_may_be_a_list_or_a_series(self, blobs):
        X, y = blobs()
        mask = np.arange(180) < 9
        for trusted in (mask.tolist(), pd.Series(mask)):
            assert Clf(random_state=0).fit(X, y, trusted=trusted).support_[:9].all()

    @pytest.mark.parametrize(
        ("weights", "match"),
        [
            (-np.ones(180), "[Nn]egative.*row 0 has -1"),
            (np.ones(179), "sample_weight"),
            (np.where(np.arange(180) == 7, np.nan, 1.0), "NaN.*row 7 has nan"),
            (np.where(np.arange(180) == 7, np.inf, 1.0), "infinite.*row 7 has inf"),
            (np.zeros(180), "sample_weight|[Ss]ample weights"),
            (np.ones((180, 1)), r"sample_weight has shape \(180, 1\)"),
        ],
    )
    def test_bad_weights(self, blobs, weights, match):
        fails(match, *blobs(), sample_weight=weights)

    def test_a_class_without_weight_is_named(self, blobs):
        X, y = blobs()
        fails("class 'b' have weight 0", X, np.array([*"abc"])[y], sample_weight=(y != 1) * 1.0)
        fails("one class only", X, y, sample_weight=(y == 1) * 1.0)


class TestLayers:
    @pytest.mark.parametrize("layers", [None, {}, [[1.0]], np.ones((4, 2))])
    def test_layers_must_be_a_mapping(self, layers):
        with pytest.raises(ValueError, match="dict of layer name to features"):
            LayerEnsemble().fit(layers, [0, 1])


@st.composite
def odd_data(draw):
    """Few rows with many ties, constant and duplicate columns, wild scales, tiny classes."""
    d = draw(st.integers(1, 5))

    def per_feature(values):
        return np.array(draw(st.lists(st.sampled_from(values), min_size=d, max_size=d)))

    small = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    X = np.array(draw(st.lists(small, min_size=2, max_size=25)), float)
    jitter = draw(st.sampled_from([0.0, 1e-9, 0.5]))
    X += jitter * np.random.default_rng(0).normal(size=X.shape)
    X = X * per_feature([0.0, 1e-30, 1e-8, 1.0, 1e6, 1e30]) + per_feature([0.0, 1.0, 1e6])
    if draw(st.booleans()):
        X = np.clip(X, -1e15, 1e15).astype(np.float32)  # squares must fit into the type
    options = [{"start": "deterministic"}, {"start": "pooled"}, {"leave_one_out": True}]
    options += [{"shrinkage": "auto"}, {"support_fraction": 0.5, "priors": "empirical"}]
    options = [{"estimator": "mcd", **given} for given in options]
    options += [{"priors": "uniform"}, {"estimator": "mixture", "priors": "uniform"}]
    options += [{"estimator": e} for e in sorted(ESTIMATORS)]
    y = np.arange(len(X)) % draw(st.integers(2, 4))
    return X, y, draw(st.sampled_from(options))


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
class TestNeverNaN:
    @given(data=odd_data())
    @settings(max_examples=200, deadline=None, derandomize=True)
    def test_posterior_of_odd_data(self, data):
        X, y, kwargs = data
        clf = Clf(random_state=0, **kwargs).fit(X, y)
        for Z in (X, X[::-1] * 3, np.zeros((1, X.shape[1]), X.dtype)):
            p = clf.predict_proba(Z)
            assert np.isfinite(p).all()
            np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-5)
            assert not np.isnan(clf.predict_log_proba(Z)).any()
            assert not np.isnan(clf.decision_function(Z)).any()
            assert not np.isnan(clf.score_samples(Z)).any()

    @given(data=odd_data())
    @settings(max_examples=100, deadline=None, derandomize=True)
    def test_label_scores_of_odd_data(self, data):
        X, y, kwargs = data
        report = score_labels(Clf(random_state=0, **kwargs).fit(X, y), X, y)
        assert ((report.quality >= 0) & (report.quality <= 1)).all()
        assert np.isfinite(report.transition).all()

    @pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
    @pytest.mark.parametrize(
        ("dtype", "scale"), [(np.float32, 1e30), (np.float64, 1e100), (np.float64, 1e200)]
    )
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_huge_features_work_or_are_refused(self, blobs, estimator, dtype, scale):
        # Their squares do not fit into the type. A clear ValueError would be fine too.
        X, y = blobs()
        X = (X * scale).astype(dtype)
        try:
            clf = Clf(estimator, random_state=0).fit(X, y)
        except ValueError as error:
            assert re.search("scale|large|overflow", str(error))  # noqa: PT017
        else:
            assert np.isfinite(clf.predict_proba(X)).all()

    def test_label_scores_of_large_float32_features(self, blobs):
        # Distances under I are squares of 1e12; their squares do not fit into float32.
        X, y = blobs()
        X = (X * 1e12).astype(np.float32)
        report = score_labels(Clf("identity").fit(X, y), X, y)
        assert np.isfinite(report.quality).all()

    @pytest.mark.parametrize("estimator", ["mcd", "sample"])
    def test_tiny_features_in_float32_still_tell_classes_apart(self, blobs, estimator):
        # Variances below 1e-38 underflow to 0, and must not be taken for those of constants.
        X, y = blobs()
        clf = Clf(estimator, random_state=0).fit((X * 1e-25).astype(np.float32), y)
        assert clf.score((X * 1e-25).astype(np.float32), y) > 0.9


def test_dates_are_labels_too(blobs):
    X, y = blobs(sizes=(40, 40))
    days = np.array([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], "datetime64[D]")
    assert Clf(random_state=0).fit(X, days[y]).predict(X).dtype == days.dtype
