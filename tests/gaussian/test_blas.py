"""BLAS and LAPACK routines against numpy, and the two routes to them against one another."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from rehead.gaussian import blas

DTYPES = [np.float32, np.float64]


def spd(d, dtype=np.float64, seed=0):
    A = np.random.default_rng(seed).normal(size=(d, 2 * d))
    return np.asfortranarray((A @ A.T / d).astype(dtype))


@pytest.fixture(params=["ctypes", "scipy wrappers"])
def route(request, monkeypatch):
    """Both ways to call a routine; the fallback must not rot unseen."""
    if request.param == "scipy wrappers":
        monkeypatch.setattr(blas, "_routine", lambda *signature: None)
    else:
        assert blas._routine("d", "blas", "syrk", 10) is not None
    return request.param


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 7), (40, 5)])
class TestBlas:
    def test_syrk(self, route, dtype, n, d):
        block = np.random.default_rng(0).normal(size=(n, d)).astype(dtype)
        gram = spd(d, dtype)
        expected = np.tril(gram - 0.5 * block.T @ block)
        blas.syrk(gram, block, -0.5)
        np.testing.assert_allclose(np.tril(gram), expected, rtol=1e-4, atol=1e-5)

    def test_trsm(self, route, dtype, n, d):
        block = np.random.default_rng(0).normal(size=(n, d)).astype(dtype)
        lower = np.asfortranarray(np.linalg.cholesky(spd(d)).astype(dtype))
        expected = solve_triangular(lower, block.T, lower=True).T
        blas.trsm(lower, block)
        np.testing.assert_allclose(block, expected, rtol=1e-3, atol=1e-5)

    def test_potrf(self, route, dtype, n, d):
        a = spd(d, dtype)
        expected = np.linalg.cholesky(a)
        assert blas.potrf(a)
        np.testing.assert_allclose(np.tril(a), expected, rtol=1e-3, atol=1e-5)


def test_potrf_tells_a_matrix_that_is_not_positive_definite(route):
    assert not blas.potrf(np.asfortranarray(np.array([[1.0, 2.0], [2.0, 1.0]])))


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_routes_to_blas_give_the_same_bits(dtype, monkeypatch):
    block = np.random.default_rng(1).normal(size=(50, 6)).astype(dtype)

    def all_three():
        gram, white, lower = np.zeros((6, 6), dtype, order="F"), block.copy(), spd(6, dtype)
        blas.syrk(gram, block, 1.0)
        assert blas.potrf(lower)
        blas.trsm(lower, white)
        return np.tril(gram), np.tril(lower), white

    direct = all_three()
    monkeypatch.setattr(blas, "_routine", lambda *signature: None)
    for a, b in zip(direct, all_three(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("square", "block"),
    [
        (np.zeros((3, 3), order="F"), np.zeros((4, 3), np.float32)),
        (np.zeros((3, 3), order="F"), np.zeros((4, 2))),
        (np.zeros((3, 3), order="F"), np.zeros((8, 3))[::2]),
        (np.zeros((3, 3), order="F"), np.zeros((4, 3), order="F")),
        (np.zeros((6, 6), order="F")[::2, ::2], np.zeros((4, 3))),
    ],
    ids=["dtype", "columns", "strided block", "block by columns", "strided square"],
)
def test_blas_refuses_arrays_it_would_misread(route, square, block):
    with pytest.raises(ValueError, match="contiguous"):
        blas.syrk(square, block, 1.0)
    with pytest.raises(ValueError, match="contiguous"):
        blas.trsm(square, block)


def test_potrf_refuses_a_part_of_a_matrix(route):
    with pytest.raises(ValueError, match="contiguous"):
        blas.potrf(spd(6)[:3, :3])
