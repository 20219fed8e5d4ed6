"""FINE against the singular value decomposition."""

import numpy as np
import pytest

from rehead.experiments.peers.fine import clean_probability, fine, main_direction


@pytest.mark.parametrize("shape", [(40, 6), (6, 40), (9, 9), (1, 3), (3, 1)])
def test_direction_is_the_first_singular_vector(shape):
    X = np.random.default_rng(0).normal(size=shape) + 0.3
    found, expected = main_direction(X), np.linalg.svd(X)[2][0]
    np.testing.assert_allclose(found * np.sign(found @ expected), expected, atol=1e-9)


def test_alignments_against_the_decomposition(planted):
    X, y = planted.X, planted.y
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    found = fine(X, y, planted.C)
    for c in range(planted.C):
        direction = np.linalg.svd(U[y == c])[2][0]
        np.testing.assert_allclose(found.quality[y == c], np.abs(U[y == c] @ direction))


def test_two_normals_are_told_apart():
    rng = np.random.default_rng(0)
    low, high = rng.normal(0.2, 0.03, size=100), rng.normal(0.8, 0.05, size=300)
    p = clean_probability(np.concatenate([low, high]))
    assert (p[:100] < 0.5).all()
    assert (p[100:] > 0.5).all()


def test_small_values_are_told_apart_as_large_ones():
    values = np.concatenate([np.linspace(0, 1, 20), np.linspace(10, 12, 50)])
    np.testing.assert_allclose(
        clean_probability(1e-5 * values), clean_probability(values), atol=1e-6
    )


@pytest.mark.parametrize("values", [[0.5], [0.1, 0.9], [0.7] * 20])
def test_what_cannot_be_told_apart_is_clean(values):
    assert (clean_probability(np.array(values)) == 1).all()


def test_finds_planted_labels(planted, auroc):
    found = fine(planted.X, planted.y, planted.C)
    assert auroc(found.quality) > 0.95
    assert np.mean(found.flagged == planted.wrong) > 0.9


def test_a_class_without_samples(planted):
    found = fine(planted.X, 2 * planted.y, 2 * planted.C)
    np.testing.assert_array_equal(found.quality, fine(planted.X, planted.y, planted.C).quality)
