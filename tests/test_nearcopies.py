"""Copies that were changed a little."""

import numpy as np
import pytest

from rehead import LayerEnsemble, ReheadWarning, RobustGaussianClassifier
from rehead.gaussian import group_by_class
from rehead.nearcopies import doubt_about_copies


def data_of(X, y):
    return group_by_class(X, y, int(y.max()) + 1)


@pytest.fixture
def blobs_of_two():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    return rng.normal(size=(400, 6)) + 3 * np.eye(2, 6)[y], y


@pytest.mark.parametrize("jitter", [1e-9, 1e-4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_near_copies_are_found(blobs_of_two, jitter, dtype):
    X, y = blobs_of_two
    twice = np.vstack([X, X * (1 + jitter)]).astype(dtype)
    if np.array_equal(*np.split(twice, 2)):
        pytest.skip("the same in this precision")
    assert "100% of the rows" in doubt_about_copies(data_of(twice, np.tile(y, 2)))


def test_copies_with_another_label_say_nothing_for_it(blobs_of_two):
    X, y = blobs_of_two
    assert doubt_about_copies(data_of(np.vstack([X, X + 1e-9]), np.append(y, 1 - y))) is None


@pytest.mark.parametrize("d", [1, 2, 3, 30])
@pytest.mark.parametrize("n", [100, 2000, 20000])
def test_rows_that_are_dense_are_no_copies(n, d):
    rng = np.random.default_rng(0)
    assert doubt_about_copies(data_of(rng.normal(size=(n, d)), rng.integers(2, size=n))) is None


def test_rows_of_a_small_group_are_no_copies():
    """They are near each other and far from all others: categories, patterns of missing values."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    X = rng.normal(size=(3000, 10))
    X[rng.random(X.shape) < 0.05] = -999.0
    of_kind = np.c_[np.eye(60)[rng.integers(60, size=3000)], 0.1 * rng.random(3000)]
    assert doubt_about_copies(data_of(X, y)) is None
    assert doubt_about_copies(data_of(of_kind, y)) is None


def test_one_pair_in_a_class_is_not_all_rows():
    rng = np.random.default_rng(0)
    y = np.r_[np.repeat(np.arange(499), 15), np.full(60, 499)]
    X = rng.normal(size=(len(y), 8))
    X[-1] = X[-2] + 1e-7
    assert doubt_about_copies(data_of(X, y)) is None


def test_small_classes_and_silent_units():
    rng = np.random.default_rng(0)
    X, y = np.maximum(rng.normal(size=(500, 32)), 0).astype("f"), np.repeat(np.arange(25), 20)
    assert doubt_about_copies(data_of(X, y)) is None
    assert doubt_about_copies(data_of(np.vstack([X, X * 1.00001]), np.tile(y, 2))) is not None


def test_few_copies_are_not_worth_a_word(blobs_of_two):
    X, y = blobs_of_two
    assert doubt_about_copies(data_of(np.vstack([X, X[:20] + 1e-9]), np.append(y, y[:20]))) is None


def test_fits_say_so(blobs_of_two):
    X, y = blobs_of_two
    X, y = np.vstack([X, X + 1e-9]), np.tile(y, 2)
    with pytest.warns(ReheadWarning, match="Nearly the same as another row"):
        RobustGaussianClassifier(random_state=0).fit(X, y)
    layers = {"a": X, "b": X[:, ::-1]}
    for made_by in ("people", "machine"):
        with pytest.warns(ReheadWarning) as said:
            LayerEnsemble(labels_from=made_by, random_state=0).fit(layers, y)
        assert any("Nearly the same as another row" in str(one.message) for one in said)
