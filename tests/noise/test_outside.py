"""Open-set noise: inputs from outside under old labels."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rehead import noise


def images(n, seed, dtype=np.uint8, shape=(3, 4, 4)):
    return np.random.default_rng(seed).integers(0, 255, size=(n, *shape)).astype(dtype)


@pytest.fixture
def data():
    y = np.random.default_rng(0).permutation(np.repeat([0, 1, 5], [20, 30, 50]))
    return images(100, 1), y


def test_labels_stay_and_an_exact_share_of_each_class_is_replaced(data):
    X, y = data
    noisy = noise.open_set(X, y, 0.6, images(200, 2), random_state=0)
    np.testing.assert_array_equal(noisy.labels, y)
    assert [int(noisy.changed[y == c].sum()) for c in (0, 1, 5)] == [12, 18, 30]
    assert noisy.rate == 0.6


def test_replaced_inputs_are_from_the_source_once_and_others_are_the_same_bytes(data):
    X, y = data
    before, source = X.copy(), images(60, 2)
    noisy = noise.open_set(X, y, 0.6, source, random_state=0)
    np.testing.assert_array_equal(X, before)
    assert not np.shares_memory(noisy.X, X)
    assert noisy.X.dtype == X.dtype
    assert noisy.X[~noisy.changed].tobytes() == X[~noisy.changed].tobytes()
    number, row = noisy.source_rows[noisy.changed].T
    assert (number == 0).all()
    assert sorted(row) == list(range(60))  # all 60 are needed, each once
    np.testing.assert_array_equal(noisy.X[noisy.changed], source[row])
    assert (noisy.source_rows[~noisy.changed] == -1).all()


@settings(deadline=None, derandomize=True)
@given(
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    rate=st.floats(0, 1),
    n_sources=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_whatever_the_sizes_sources_have_equal_shares(sizes, rate, n_sources, seed):
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.zeros((len(y), 1))
    sources = [np.full((80, 1), i + 1.0) for i in range(n_sources)]
    noisy = noise.open_set(X, y, rate, sources, random_state=seed)
    for c, n in enumerate(sizes):
        assert noisy.changed[y == c].sum() == int(rate * n + 1e-9)
        shares = np.bincount(noisy.source_rows[noisy.changed & (y == c), 0], minlength=n_sources)
        assert np.ptp(shares) <= 1
    np.testing.assert_array_equal(noisy.X[:, 0], noisy.source_rows[:, 0] + 1)
    used = noisy.source_rows[noisy.changed]
    assert len(np.unique(used, axis=0)) == len(used)


def test_matrix_has_a_last_row_for_the_outside(data):
    X, y = data
    noisy = noise.open_set(X, y, 0.6, images(60, 2), random_state=0)
    np.testing.assert_allclose(noisy.transition, [*np.eye(3), [0.2, 0.3, 0.5]])
    np.testing.assert_array_equal(noisy.classes, [0, 1, 5])
    assert np.isnan(noise.open_set(X, y, 0.0, images(1, 2)).transition[-1]).all()
    assert np.isnan(noise.open_set(X, y, 1.0, images(100, 2)).transition[:-1]).all()


def test_same_seed_same_inputs(data):
    X, y = data
    a, b, c = (noise.open_set(X, y, 0.5, images(90, 2), random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(a.X, b.X)
    assert (a.changed != c.changed).any()


def test_tensors_stay_tensors(data):
    X, y = (torch.as_tensor(a) for a in data)
    expected = noise.open_set(*data, 0.6, images(60, 2), random_state=0)
    for source in (images(60, 2), torch.as_tensor(images(60, 2))):
        noisy = noise.open_set(X, y, 0.6, source, random_state=0)
        assert isinstance(noisy.X, torch.Tensor)
        assert noisy.X.dtype == torch.uint8
        assert isinstance(noisy.labels, torch.Tensor)
        np.testing.assert_array_equal(noisy.X.numpy(), expected.X)
    np.testing.assert_array_equal(X.numpy(), data[0])


def test_frames_stay_frames():
    X = pd.DataFrame(np.zeros((4, 2)), columns=["u", "v"], index=list("abcd"))
    y = pd.Series([0, 0, 1, 1], index=X.index)
    noisy = noise.open_set(X, y, 0.5, np.ones((9, 2)), random_state=0)
    pd.testing.assert_index_equal(noisy.X.index, X.index)
    assert list(noisy.X.columns) == ["u", "v"]
    np.testing.assert_array_equal(noisy.X["v"], noisy.changed)
    pd.testing.assert_series_equal(noisy.labels, y)
    assert (X == 0).all(axis=None)


@pytest.mark.parametrize(
    ("given", "into"),
    [
        (np.float64, np.float32),
        (np.uint8, np.float32),
        (np.uint8, np.int16),
    ],
)
def test_dtypes_that_fit(given, into):
    noisy = noise.open_set(images(10, 1, into), [0] * 10, 0.5, images(9, 2, given))
    assert noisy.X.dtype == into


def frame(*columns, dtype=float):
    return pd.DataFrame(np.zeros((6, len(columns))), columns=columns).astype(dtype)


@pytest.mark.parametrize(
    ("X", "source", "match"),
    [
        (images(6, 0), images(2, 1), "source is too small: 4 of its inputs.* there are 2"),
        (images(6, 0), [images(9, 1), images(1, 1)], r"source\[1\] is too small: 2 .* are 1"),
        (images(6, 0), images(9, 1, shape=(3, 5, 5)), r"\(9, 3, 5, 5\), X is \(6, 3, 4, 4\)"),
        (images(6, 0), [images(9, 1), np.zeros(9)], r"source\[1\] and of X differ in shape"),
        (images(6, 0), images(9, 1, np.float32), "float32 does not fit into X of dtype uint8"),
        (images(6, 0), images(9, 1, np.int64), "int64 does not fit"),
        (images(6, 0), [], "empty list"),
        (images(5, 0), images(9, 1), r"X has shape \(5, 3, 4, 4\) and y has 6 labels"),
        (frame("u", "v"), frame("v", "u"), "different columns"),
        (frame("u", "v", dtype={"u": int}), np.zeros((9, 2)), "several dtypes"),
    ],
)
def test_what_cannot_be_replaced(X, source, match):
    with pytest.raises(ValueError, match=match):
        noise.open_set(X, [0, 0, 0, 1, 1, 1], 0.7, source)


def test_a_rate_outside_of_0_to_1_is_an_error(data):
    with pytest.raises(ValueError, match="rate must be in"):
        noise.open_set(*data, 60, images(99, 2))
