"""How much columns tell, against differences of scores; and what must not matter."""

import numpy as np
import pytest

from rehead.gaussian.importance import LEAST, importance
from rehead.gaussian.kernel_map import make_kernel_map


@pytest.fixture(scope="module", name="X")
def features():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, -2.0, 100.0]


def make(X, columns=None):
    return make_kernel_map(X, 20, 1.0, np.random.default_rng(0), importance=columns)


def by_differences(kernel_map, slopes, X, counts):
    """Mean squares of numeric slopes along each column, in units of its standard deviation."""
    slopes = slopes - slopes.mean(axis=0)
    deviation = X.std(axis=0)
    found = np.empty(X.shape[1])
    for j in range(X.shape[1]):
        step = np.zeros(X.shape[1])
        step[j] = 1e-4 * deviation[j]
        change = (kernel_map(X + step) - kernel_map(X - step)) @ slopes.T / 2e-4
        found[j] = np.sqrt(counts @ (change**2).sum(axis=1))
    return np.maximum(found / found.max(), LEAST)


@pytest.mark.parametrize("columns", [None, np.array([0.3, 1.0, 0.05, 0.5])])
@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_it_is_the_mean_slope_of_the_scores(X, columns, n_classes):
    rng = np.random.default_rng(1)
    kernel_map, counts = make(X, columns), rng.integers(3, size=60).astype(float)
    slopes = rng.normal(size=(n_classes, kernel_map.n_columns))
    found = importance(kernel_map, slopes, X, counts)
    np.testing.assert_allclose(found, by_differences(kernel_map, slopes, X, counts), rtol=1e-5)
    assert found.max() == 1.0


def test_many_classes_that_differ_in_few_directions_lose_nothing(X):
    rng = np.random.default_rng(2)
    kernel_map = make(X)
    slopes = rng.normal(size=(40, 5)) @ rng.normal(size=(5, kernel_map.n_columns))
    found = importance(kernel_map, slopes, X, np.ones(60))
    expected = by_differences(kernel_map, slopes, X, np.ones(60))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_what_all_classes_have_in_common_does_not_matter(X):
    rng = np.random.default_rng(3)
    kernel_map = make(X)
    slopes, common = (rng.normal(size=(n, kernel_map.n_columns)) for n in (3, 1))
    one, other = (importance(kernel_map, s, X, np.ones(60)) for s in (slopes, slopes + 9 * common))
    np.testing.assert_allclose(one, other)


def test_rows_count_as_often_as_they_do(X):
    rng = np.random.default_rng(4)
    kernel_map, counts = make(X), rng.integers(3, size=60)
    slopes = rng.normal(size=(3, kernel_map.n_columns))
    one = importance(kernel_map, slopes, X, counts)
    rows = np.repeat(np.arange(60), counts)
    np.testing.assert_allclose(
        one, importance(kernel_map, slopes, X[rows], np.ones(len(rows))), rtol=1e-12
    )


def test_columns_that_tell_nothing_keep_a_little(X):
    X = np.column_stack([X, np.full(60, 7.0)])
    kernel_map = make(X)
    slopes = np.random.default_rng(5).normal(size=(2, kernel_map.n_columns))
    assert importance(kernel_map, slopes, X, np.ones(60))[-1] == LEAST
    assert (importance(kernel_map, 0 * slopes, X, np.ones(60)) == 1.0).all()
