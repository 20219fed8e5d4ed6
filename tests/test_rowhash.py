"""Fingerprints tell rows apart, whatever their values look like."""

import numpy as np
import pytest

from rehead._rowhash import fingerprint


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 7, 20])
@pytest.mark.parametrize(
    "values",
    [
        lambda rng, n, d: rng.normal(size=(n, d)),
        lambda rng, n, d: rng.integers(-50, 50, size=(n, d)),
        lambda rng, n, d: rng.integers(0, 2, size=(n, d)),
        lambda rng, n, d: rng.integers(0, 17, size=(n, d)) / 16,
    ],
    ids=["normal", "whole", "binary", "pixels"],
)
def test_different_rows_have_different_fingerprints(values, d, dtype):
    # Whole numbers as floats end in many zero bits; a hash must not lose what is before them.
    X = np.unique(values(np.random.default_rng(0), 3000, d).astype(dtype), axis=0)
    assert len(np.unique(fingerprint(X, np.zeros(len(X), int)))) == len(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_label_is_part_of_it(dtype):
    X = np.repeat(np.random.default_rng(0).integers(0, 3, size=(1, 5)), 100, axis=0).astype(dtype)
    assert len(np.unique(fingerprint(X, np.arange(100)))) == 100


def test_equal_rows_agree_in_any_layout_and_place():
    X = np.random.default_rng(0).normal(size=(3000, 6))
    y = np.arange(3000) % 7
    whole = fingerprint(X, y)
    np.testing.assert_array_equal(fingerprint(np.asfortranarray(X), y), whole)
    np.testing.assert_array_equal(fingerprint(X[1500:], y[1500:]), whole[1500:])


def test_zero_has_one_fingerprint():
    X = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert len(np.unique(fingerprint(X, np.zeros(2, int)))) == 1
