"""The kernel map against its formula and scikit-learn's, and for features of any size."""

import tracemalloc

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

from rehead._typing import JoinedFeatures, MappedFeatures
from rehead.gaussian.kernel_map import (
    FARTHEST,
    KernelMap,
    make_kernel_map,
    map_of_rows,
    squared_distances,
)
from rehead.gaussian.kernels import BLOCK
from rehead.gaussian.rows import group_by_class


@pytest.fixture(scope="module", name="X")
def features():
    rng = np.random.default_rng(0)
    return rng.normal(size=(700, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, -2.0, 100.0]


def make(X, n_landmarks=40, width=1.0, seed=0, **options):
    return make_kernel_map(X, n_landmarks, width, np.random.default_rng(seed), **options)


def test_it_is_what_the_formula_says(X):
    m = make(X)
    for x, found in zip(X[:20], m(X[:20]), strict=True):
        z = (x - m.centre) / m.scale
        similar = [np.exp(-m.gamma * ((z - landmark) ** 2).sum()) for landmark in m.landmarks]
        np.testing.assert_allclose(found, similar @ m.projection, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(m.centre, X.mean(axis=0))
    np.testing.assert_allclose(m.scale, X.std(axis=0))


@pytest.mark.parametrize("width", [0.3, 1.0, 3.0])
def test_inner_products_are_those_of_scikit_learns_nystroem(X, width):
    m = make(X, width=width)
    Z = (X - m.centre) / m.scale
    theirs = Nystroem(gamma=m.gamma, n_components=len(m.landmarks))
    theirs.fit(m.landmarks)
    expected = theirs.transform(Z[:50])
    np.testing.assert_allclose(m(X[:50]) @ m(X[:50]).T, expected @ expected.T, atol=5e-3)
    # Of the landmarks themselves they are exact, but for what was dropped.
    landmarks = m.landmarks * m.scale + m.centre
    np.testing.assert_allclose(
        m(landmarks) @ m(landmarks).T, rbf_kernel(m.landmarks, gamma=m.gamma), atol=1e-4
    )


def test_landmarks_are_distinct_rows_and_gamma_is_for_their_median_distance(X):
    m = make(X, 50, width=2.0)
    rows = m.landmarks * m.scale + m.centre
    at = [int(np.abs(X - row).sum(axis=1).argmin()) for row in rows]
    np.testing.assert_allclose(X[at], rows)
    assert len(set(at)) == 50
    pairs = [((a - b) ** 2).sum() for i, a in enumerate(m.landmarks) for b in m.landmarks[:i]]
    assert m.gamma == pytest.approx(2.0 / np.median(pairs))


def test_it_is_made_of_the_given_rows_alone(X):
    some = np.arange(100, 130)
    m = make(X, 1000, rows=some)
    assert m.landmarks.shape == (30, 4)
    np.testing.assert_allclose(m.centre, X[some].mean(axis=0))


def test_the_seed_decides(X):
    first, again, other = make(X), make(X), make(X, seed=1)
    for name, value in first.to_arrays("").items():
        np.testing.assert_array_equal(value, again.to_arrays("")[name])
    assert not np.array_equal(first.landmarks, other.landmarks)


def test_joined_features_make_the_same_map(X):
    whole, joined = make(X), make(JoinedFeatures([X[:, :1], X[:, 1:]]))
    np.testing.assert_array_equal(whole.projection, joined.projection)


def test_single_precision_is_kept_and_costs_no_digits(X):
    # The offset of the last feature is large; double precision is used inside.
    m = make(X.astype("f4") + np.float32(1e4))
    X = X.astype("f4") + np.float32(1e4)
    assert m(X).dtype == np.float32
    np.testing.assert_allclose(m(X), m(X.astype("f8")), rtol=1e-6, atol=1e-7)


def test_landmarks_that_are_alike_are_one_direction():
    X = np.repeat(np.arange(6.0)[:, None], 30, axis=0)
    m = make(X, 100)
    assert m.n_columns == 6
    assert np.isfinite(m(X)).all()
    constant = make(np.full((9, 2), 0.1), 100)
    assert (constant.scale == 1.0).all()
    np.testing.assert_allclose(np.abs(constant(np.full((2, 2), 0.1))), 1.0)
    assert np.isfinite(make(np.array([[3.0]]), 5)(np.array([[3.0], [4.0]]))).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("power", [-1.0, -0.5, 0.0, 0.5, 1.0])
def test_values_of_any_size_are_mapped_to_numbers(X, dtype, power):
    """As large and as small as numbers go; what is absurdly far away becomes 0."""
    limits = np.finfo(dtype)
    small = (X / 200.0 * float(limits.max) ** power).astype(dtype)
    m = make(small)
    assert all(np.isfinite(value).all() for value in m.to_arrays("").values())
    extremes = np.array([[s * limits.max] * 4 for s in (1, -1)] + [[limits.tiny] * 4], dtype)
    assert np.isfinite(m(small)).all()
    assert np.isfinite(m(extremes)).all()
    assert np.isfinite(m.remoteness(extremes)).all()
    if power <= 0:
        assert (m(extremes[:2]) == 0).all()


def test_distances_are_never_negative():
    a = np.random.default_rng(0).normal(size=(50, 3)) + 1e6
    assert (squared_distances(a, a) >= 0).all()
    assert squared_distances(np.full((1, 1), FARTHEST), np.full((1, 1), -FARTHEST)) == 4e30


def test_remoteness_is_how_far_the_landmarks_are(X):
    m = make(X)
    Z = (X[:30] - m.centre) / m.scale
    similar = np.exp(-m.gamma * ((Z[:, None] - m.landmarks) ** 2).sum(axis=2))
    usual = np.where(similar > 1 - 1e-9, 0.0, similar)  # a landmark does not speak for itself
    np.testing.assert_allclose(m.remoteness(X[:30]), -np.log(usual.mean(axis=1)))
    far = m.remoteness(m.centre + m.scale * np.array([[5.0], [50.0], [500.0]]))
    assert m.remoteness(X).max() < far[0] < far[1] < far[2]
    assert far[2] == pytest.approx(m.gamma * 4 * 500**2, rel=0.05)


def test_landmarks_are_not_more_usual_than_other_rows(X):
    m = make(X, 350)
    landmarks = m.landmarks * m.scale + m.centre
    assert m.remoteness(landmarks).mean() == pytest.approx(m.remoteness(X).mean(), rel=0.1)


def test_lazily_mapped_is_mapped(X):
    m = make(X)
    lazy, whole = MappedFeatures(X, m), m(X)
    assert (lazy.shape, lazy.dtype, len(lazy)) == (whole.shape, whole.dtype, len(whole))
    order = np.random.default_rng(0).permutation(700)
    for index in (slice(None), slice(5, 600), order, order > 300, (order, slice(3, 7))):
        np.testing.assert_allclose(lazy[index], whole[index], rtol=1e-9, atol=1e-12)


def test_rows_are_mapped_in_blocks():
    X = np.random.default_rng(0).normal(size=(100 * BLOCK, 2))
    m = make(X, 200, width=20.0)
    tracemalloc.start()
    some = MappedFeatures(X, m)[:, :1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(some) == len(X)
    assert peak < 0.15 * len(X) * 200 * 8


def test_rows_that_do_not_count_make_no_landmarks():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(200, 3)), np.arange(200) % 2
    X[7] = 1e6
    weights = np.where(np.arange(200) < 150, 1.0, 0.0)
    m = map_of_rows(group_by_class(X, codes, 2, weights=weights), rng, 300, 1.0)
    assert len(m.landmarks) == 149
    assert np.abs(m.landmarks).max() < 10
    usual = map_of_rows(group_by_class(X, codes, 2), rng, 40, 1.0)
    assert len(usual.landmarks) == 40


def test_arrays_hold_everything(X):
    m = make(X)
    again = KernelMap.from_arrays(m.to_arrays("kernel_map."), "kernel_map.")
    assert again.gamma == m.gamma
    np.testing.assert_array_equal(again(X), m(X))


def test_columns_count_by_their_importance(X):
    """As if they were narrower: the same distances, and so the same map."""
    columns = np.array([1.0, 0.5, 0.01, 0.2])
    weighed, usual = make(X, importance=columns), make(X)
    np.testing.assert_allclose(weighed.scale, usual.scale / columns)
    np.testing.assert_allclose(weighed.landmarks, usual.landmarks * columns)
    Z = (X[:20] - usual.centre) / usual.scale * columns
    similar = rbf_kernel(Z, usual.landmarks * columns, gamma=weighed.gamma)
    np.testing.assert_allclose(weighed(X[:20]), similar @ weighed.projection, atol=1e-10)
    alike = make(X, importance=np.ones(4))
    np.testing.assert_array_equal(alike(X), usual(X))
    again = KernelMap.from_arrays(weighed.to_arrays("a."), "a.")
    np.testing.assert_array_equal(again.importance, columns)
    np.testing.assert_array_equal(again(X), weighed(X))
    assert "importance" not in usual.to_arrays("")


def test_landmarks_are_drawn_by_the_weights_of_rows():
    X = np.arange(400.0)[:, None]
    weights = np.where(np.arange(400) < 100, 9.0, 1.0)
    m = make_kernel_map(X, 60, 1.0, np.random.default_rng(0), weights=weights)
    drawn = np.sort((m.landmarks * m.scale + m.centre).round().ravel())
    assert len(set(drawn)) == 60
    assert 30 <= (drawn < 100).sum() <= 55
    assert m.centre[0] == pytest.approx(np.average(X[:, 0], weights=weights))
    assert m.scale[0] == pytest.approx(np.sqrt(np.cov(X[:, 0], aweights=weights, ddof=0)))
    one, other = (
        make_kernel_map(X, 60, 1.0, np.random.default_rng(0), weights=w)
        for w in (None, np.full(400, 2.0))
    )
    np.testing.assert_array_equal(one.landmarks, other.landmarks)
