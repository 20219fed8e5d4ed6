"""Features of any scale: the same results, or an error that names the feature; never NaN."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehead import (
    LayerEnsemble,
    ReheadWarning,
    RobustGaussianClassifier,
    score_labels,
    typicality,
)
from rehead.gaussian import ESTIMATORS

pytestmark = [
    pytest.mark.filterwarnings("ignore::rehead.ReheadWarning"),
    pytest.mark.filterwarnings("error::RuntimeWarning"),
]
UNDER_I = {"identity", "lts"}  # what is small beside the covariance I is not told apart
SCALED = sorted(set(ESTIMATORS) - UNDER_I)


@pytest.fixture(scope="module")
def noisy(blobs):
    X, y = blobs(sizes=(50, 50, 50), d=4, distance=2.5)
    wrong = np.random.default_rng(1).random(len(y)) < 0.2
    return X, np.where(wrong, (y + 1) % 3, y), y


def classifier(name):
    return RobustGaussianClassifier(name, random_state=0)


def judged(model, X, y):
    """All that a user sees of a model: posteriors, qualities, p-values."""
    report = score_labels(model, X, y)
    return [model.predict_proba(X), report.quality, typicality(model, X)]


@pytest.mark.parametrize("name", SCALED)
@given(power=st.integers(-455, 455))
@settings(max_examples=6, deadline=None, derandomize=True)
def test_powers_of_two_change_nothing(noisy, name, power):
    X, y, _ = noisy
    for a, b in zip(
        judged(classifier(name).fit(X, y), X, y),
        judged(classifier(name).fit(np.ldexp(X, power), y), np.ldexp(X, power), y),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("power", [-20, 20, -100, 100])
def test_powers_of_two_in_single_precision(noisy, name, power):
    X, y, _ = noisy
    X = X.astype(np.float32)
    Z = np.ldexp(X, power)
    one, other = (judged(classifier(name).fit(A, y), A, y) for A in (X, Z))
    if abs(power) <= 20:  # still in single precision
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one[0].argmax(axis=1), other[0].argmax(axis=1))


def cut(X, rows=slice(None)):
    return {"all": X[rows], "some": X[rows][:, 1:]}


@pytest.mark.parametrize("preset", [None, "paper"])
@pytest.mark.parametrize("power", [-400, 3, 400])
def test_powers_of_two_change_no_ensemble(noisy, preset, power):
    X, y, _ = noisy
    found = []
    for Z in (X, np.ldexp(X, power)):
        model = LayerEnsemble(preset=preset, random_state=0)
        model.fit(cut(Z, slice(0, 100)), y[:100], (cut(Z, slice(100, 150)), y[100:]))
        found.append(judged(model, cut(Z), y))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def odd_features(X):
    """Features as nobody should have them, by name."""
    for scale in (1e-200, 1e-130, 1e-30, 1e78, 1e130, 1e300):
        yield f"all times {scale:g}", X * scale
    for value in (1e78, -1e139, 1e300):
        Z = X.copy()
        Z[5, 2] = value
        yield f"one of {value:g}", Z
    for scales in ((1e-150, 1e100), (1e-130, 1e130), (1e-12, 1e7), (1e-30, 1e30)):
        Z = X.copy()
        Z[:, :2] *= scales
        yield f"columns times {scales}", Z
    for value in (0.0, 7.0, 1e200):
        Z = X.copy()
        Z[:, 0] = value
        yield f"constant {value:g}", Z
    for scale in (1e-310, 1e-42):
        Z = X.copy()
        Z[:, 0] *= scale
        yield f"denormal {scale:g}", Z
    Z = X.copy()
    Z[:, 0] *= 1e-130
    Z[7, 0] = 1e130
    yield "far in a small one", Z
    yield "nothing", 0.0 * X


LARGER = (1e30, 1e100, 1e200, 1e308)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*sorted(ESTIMATORS), "layers", "layers of the paper"])
def test_odd_features_work_or_are_refused_by_name(noisy, name, dtype):
    X, y, _ = noisy
    X = X[:120]
    for what, Z in odd_features(X):
        with np.errstate(over="ignore"):
            Z = Z.astype(dtype)
        if not np.isfinite(Z).all():
            continue
        layers = name.startswith("layers")
        try:
            if layers:
                preset = "paper" if "paper" in name else None
                model = LayerEnsemble(preset=preset, random_state=0)
                model.fit(cut(Z), y[:120])
            else:
                model = classifier(name).fit(Z, y[:120])
        except ValueError as error:
            assert "eature" in str(error), what  # noqa: PT017
            assert "scale" in str(error), what  # noqa: PT017
            continue
        assert_finite(model, cut(Z) if layers else Z, y[:120], what)
        for large in LARGER:
            new = np.array([[large] * 4, [-large, large, 0.0, 1.0]])
            assert_finite(model, cut(new) if layers else new, [0, 1], f"{what}, {large}")


def assert_finite(model, X, y, what):
    for found in [*judged(model, X, y), model.score_samples(X)]:
        assert np.isfinite(found).all(), what


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"identity", "mixture"}))
@pytest.mark.parametrize("giant", [1e20, 1e78, 1e139])
def test_one_giant_value_costs_no_accuracy(noisy, name, giant):
    X, y, truth = noisy
    X = X.copy()
    X[5, 2] = giant
    assert classifier(name).fit(X, y).score(X, truth) > 0.85


@pytest.mark.parametrize("name", ["auto", "mcd", "sample"])
def test_a_small_feature_counts_in_single_precision(noisy, name):
    # Its squares underflow there, and it would be taken for a constant one.
    _, y, truth = noisy
    rng = np.random.default_rng(0)
    X = rng.normal(size=(len(y), 2))
    X[:, 0] = 1e-25 * (X[:, 0] + 6.0 * truth)
    X = X.astype(np.float32)
    model = classifier(name).fit(X, y)
    assert model.score(X, truth) > 0.9
    assert (model.predict(X[:1]) == model.predict(X)[:1]).all()


@pytest.mark.parametrize("name", sorted(UNDER_I))
def test_nothing_beside_the_identity_is_told(noisy, name):
    X, y, _ = noisy
    with pytest.warns(ReheadWarning, match="nothing compared with the covariance I"):
        classifier(name).fit(X * 1e-30, y)


def test_the_name_of_the_column_is_told(noisy):
    pd = pytest.importorskip("pandas")
    X, y, _ = noisy
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    for scale, what in ((1e-200, "varies by no more than"), (1e200, "has values as large as")):
        with pytest.raises(ValueError, match=f"Feature 'c' {what}"):
            classifier("auto").fit(frame.assign(c=frame.c * scale), y)


class TestSecondOpinion:
    """With regressions beside the Gaussians, on features as they are and after a map."""

    @pytest.fixture(params=["none", "kernel"])
    def taken(self, request, skewed):
        X, y = skewed(500)

        def fit(Z):
            clf = RobustGaussianClassifier(feature_map=request.param, random_state=0)
            clf.fit(Z, y)
            assert clf.fitted_.second is not None
            return clf

        return fit, X, y

    @pytest.mark.parametrize("power", [-455, -20, 20, 455])
    def test_powers_of_two_change_nothing(self, taken, power):
        fit, X, y = taken
        Z = np.ldexp(X, power)
        for a, b in zip(judged(fit(X), X, y), judged(fit(Z), Z, y), strict=True):
            np.testing.assert_array_equal(a, b)

    @pytest.mark.parametrize("power", [-100, -20, 20, 100])
    def test_powers_of_two_in_single_precision(self, taken, power):
        fit, X, y = taken
        X = X.astype(np.float32)
        Z = np.ldexp(X, power)
        one, other = judged(fit(X), X, y), judged(fit(Z), Z, y)
        if abs(power) <= 20:
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(one[0].argmax(axis=1), other[0].argmax(axis=1))

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_far_rows_are_judged_by_numbers(self, taken, dtype):
        fit, X, y = taken
        X = X.astype(dtype)
        model = fit(X)
        for large in (*LARGER, *-np.array(LARGER)):
            new = np.array([[large] * 5, [-large, large, 0.0, 1.0, large]])
            assert_finite(model, new, [0, 1], large)
        Z = X.copy()
        Z[5, 2], Z[9] = (1e38, -1e37) if dtype is np.float32 else (1e139, -1e100)
        model = fit(Z)
        assert_finite(model, Z, y, "far in the fit")
        assert model.score(X, y) > 0.9

    def test_features_of_different_scale(self, taken):
        fit, X, y = taken
        Z = X * 10.0 ** np.array([-120, -5, 0, 5, 120])
        model = fit(Z)
        assert_finite(model, Z, y, "columns")
        assert model.score(Z, y) > fit(X).score(X, y) - 0.02

    def test_constant_features(self, taken):
        fit, X, y = taken
        Z = np.column_stack([X, np.full(len(X), 1e6), np.zeros(len(X))])
        model = fit(Z)
        assert_finite(model, Z, y, "constant")
        assert model.score(Z, y) > fit(X).score(X, y) - 0.02
