"""Fingerprints tell rows apart, whatever their values look like."""

import numpy as np
import pytest

from rehead.fingerprint import KnownRows, fingerprint
from rehead.gaussian import Composition


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


def test_known_rows_are_found_in_any_order():
    X = np.arange(12.0).reshape(6, 2)
    codes, weights = np.array([0, 1, 2, 0, 1, 2]), np.array([1.0, 0.5, 0.0, 0.25, 1.0, 1.0])
    rows = KnownRows.from_training(X, codes, Composition.from_rows(weights, (codes + 1) % 3, 3))
    order = np.array([4, 2, 0, 3])
    known, found, counted_as, folds = rows.look_up(X[order], codes[order])
    assert known.all()
    np.testing.assert_array_equal(found, weights[order])
    # Of a row that did not count at all, nothing has to be taken out of its class.
    np.testing.assert_array_equal(counted_as, [2, 2, 1, 1])
    assert (folds == -1).all()


def test_known_rows_know_their_folds():
    X, codes = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    whole = Composition.from_rows(np.ones(6), codes, 2)
    rows = KnownRows.from_training(X, codes, whole, np.array([0, 1, 2, 0, -1, 2]))
    np.testing.assert_array_equal(rows.look_up(X[::-1], codes[::-1]).folds, [2, -1, 0, 2, 1, 0])
    # With another label it is another row, which no fold has seen.
    assert (rows.look_up(X, 1 - codes).folds == -1).all()
