"""Dense operations, each against numpy."""

import numpy as np
import pytest

from rehead.gaussian.kernels import (
    BLOCK,
    IllConditionedError,
    Rows,
    cholesky,
    evenly_spaced,
    mahalanobis,
    moments,
    select_smallest,
    squared_norms,
    update_moments,
    whiten,
)


def spd(d):
    A = np.random.default_rng(0).normal(size=(d, 2 * d))
    return np.asfortranarray(A @ A.T / d)


@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
@pytest.mark.parametrize("dtype", [None, np.float64])
def test_blocks_put_together_are_the_centred_rows(n, dtype):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(max(n, 1), 3)).astype(np.float32)
    centre = rng.normal(size=3).astype(np.float32)
    index = rng.permutation(len(X))[:n]
    for rows, expected in ((index, X[index]), (slice(0, n), X[:n])):
        out = np.zeros((n, 3), dtype or np.float32)
        for where, block in Rows(X, dtype).blocks(rows, centre):
            out[where] = block
        np.testing.assert_allclose(out, expected.astype(out.dtype) - centre, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_of_numpy(weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 4)) + 50
    index = np.sort(rng.permutation(2500)[:2200])
    w = rng.integers(1, 4, size=2200).astype(float) if weighted else None
    m = moments(Rows(X), index, X[:5].mean(axis=0), w)
    repeated = X[index] if w is None else np.repeat(X[index], w.astype(int), axis=0)
    assert m.weight == len(repeated)
    np.testing.assert_allclose(m.mean + X[:5].mean(axis=0), repeated.mean(axis=0))
    covariance = np.cov(repeated, rowvar=False, bias=True)
    np.testing.assert_allclose(
        np.tril(m.scatter()) / m.weight, np.tril(covariance), rtol=1e-9, atol=1e-12
    )


def test_rows_taken_away_again_leave_the_moments():
    X = np.random.default_rng(0).normal(size=(40, 3))
    rows, shift = Rows(X), np.zeros(3)
    m = moments(rows, np.arange(40), shift)
    m = update_moments(rows, m, np.arange(30, 40), shift, sign=-1.0)
    expected = moments(rows, np.arange(30), shift)
    assert m.weight == expected.weight
    np.testing.assert_allclose(m.total, expected.total, atol=1e-12)
    np.testing.assert_allclose(np.tril(m.gram), np.tril(expected.gram), atol=1e-12)


def test_cholesky_gives_factor_log_det_and_slack():
    S = spd(5)
    factor = cholesky(np.tril(S))
    L = np.linalg.cholesky(S)
    np.testing.assert_allclose(np.tril(factor.lower), L, atol=1e-12)
    np.testing.assert_allclose(factor.log_det, np.linalg.slogdet(S)[1])
    # The share of a feature's variance that a regression on those before it leaves over.
    left = [S[j, j] - S[j, :j] @ np.linalg.solve(S[:j, :j], S[:j, j]) for j in range(1, 5)]
    np.testing.assert_allclose(factor.slack, min(left / S.diagonal()[1:]))


def test_slack_does_not_mind_the_scale_of_features():
    D = np.diag([1e-8, 1.0, 1e3, 1e10])
    np.testing.assert_allclose(cholesky(D @ spd(4) @ D).slack, cholesky(spd(4)).slack)


@pytest.mark.parametrize(("dtype", "epsilon"), [(np.float32, 1e-6), (np.float64, 1e-15)])
def test_cholesky_refuses_a_matrix_too_close_to_singular(dtype, epsilon):
    with pytest.raises(IllConditionedError):
        cholesky(np.array([[1.0, 1.0], [1.0, 1.0 + epsilon]], dtype))


def test_a_constant_feature_gets_the_average_variance():
    S = np.diag([2.0, 0.0, 4.0])
    np.testing.assert_allclose(np.tril(cholesky(S).lower), np.diag(np.sqrt([2.0, 3.0, 4.0])))
    np.testing.assert_array_equal(np.tril(cholesky(np.zeros((2, 2))).lower), np.eye(2))


@pytest.mark.parametrize("n", [0, 5, BLOCK + 7])
def test_mahalanobis_is_the_quadratic_form(brute, n):
    rng = np.random.default_rng(0)
    X, centre, S = rng.normal(size=(n, 4)), rng.normal(size=4), spd(4)
    got = mahalanobis(Rows(X), np.arange(n), centre, cholesky(S))
    np.testing.assert_allclose(got, brute.distances(X, [centre], S).reshape(-1), rtol=1e-9)


def test_whitened_rows_have_covariance_identity():
    X = np.random.default_rng(0).normal(size=(60, 3)) @ np.triu(np.ones((3, 3)))
    X -= X.mean(axis=0)
    white = whiten(X.copy(), cholesky(X.T @ X / 60))
    np.testing.assert_allclose(white.T @ white / 60, np.eye(3), atol=1e-12)


def test_squared_norms():
    np.testing.assert_array_equal(squared_norms(np.array([[3.0, 4.0], [0.0, 2.0]])), [25.0, 4.0])


@pytest.mark.parametrize("k", [1, 5, 19, 20, 25])
def test_select_smallest_is_a_sort(brute, k):
    score = np.random.default_rng(k).normal(size=20)
    subset = select_smallest(score, k)
    assert subset.weights is None
    np.testing.assert_array_equal(subset.positions, brute.smallest(score, k))


@pytest.mark.parametrize("k", [1, 4, 9.0, 17])
def test_whole_weights_select_like_repeated_rows(brute, k):
    rng = np.random.default_rng(0)
    score, w = rng.normal(size=12), rng.integers(0, 4, size=12).astype(float)
    subset = select_smallest(score, k, w)
    copies = np.repeat(np.arange(12), w.astype(int))
    counts = np.bincount(copies[brute.smallest(score[copies], k)], minlength=12)
    np.testing.assert_array_equal(subset.positions, np.flatnonzero(counts))
    np.testing.assert_array_equal(subset.weights, counts[counts > 0])
    assert subset.weights.sum() == min(k, w.sum())


def test_the_last_selected_row_may_count_in_part():
    subset = select_smallest(np.array([3.0, 1.0, 2.0]), 1.5, np.array([5.0, 1.0, 2.0]))
    np.testing.assert_array_equal(subset.positions, [1, 2])
    np.testing.assert_array_equal(subset.weights, [1.0, 0.5])


@pytest.mark.parametrize(("n", "most"), [(1, 5), (7, 7), (10, 3), (1000, 15)])
def test_evenly_spaced_rows_are_different_and_reach_both_ends(n, most):
    rows = evenly_spaced(n, most)
    assert len(set(rows.tolist())) == min(n, most)
    assert (rows[0], rows[-1]) == (0, n - 1)
