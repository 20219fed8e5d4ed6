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


def test_few_copies_are_not_worth_a_word(blobs_of_two):
    X, y = blobs_of_two
    assert doubt_about_copies(data_of(np.vstack([X, X[:20] + 1e-9]), np.append(y, y[:20]))) is None


def test_fits_say_so(blobs_of_two):
    X, y = blobs_of_two
    X, y = np.vstack([X, X + 1e-9]), np.tile(y, 2)
    with pytest.warns(ReheadWarning, match="Nearly the same as another row"):
        RobustGaussianClassifier(random_state=0).fit(X, y)
    with pytest.warns(ReheadWarning, match="Nearly the same as another row"):
        LayerEnsemble(random_state=0).fit({"a": X[:700]}, y[:700], ({"a": X[700:]}, y[700:]))
