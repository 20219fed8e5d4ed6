"""Neighbours by cosine, against the matrix of all cosines."""

import numpy as np
import pytest

from rehead.experiments.peers.neighbours import (
    label_votes,
    nearest,
    nearest_others,
    nearest_within,
    row_blocks,
    unit_rows,
)


@pytest.fixture(scope="module")
def features():
    return np.random.default_rng(0).normal(size=(150, 6)) + 0.5


def brute(S, k):
    rows = np.argsort(-S, axis=1, kind="stable")[:, :k]
    return rows, np.take_along_axis(S, rows, axis=1)


@pytest.mark.parametrize("k", [1, 7, 149, 500])
@pytest.mark.parametrize("block", [None, 1, 64, 1000])
def test_others_against_brute_force(features, cosines, k, block):
    found = nearest_others(unit_rows(features), k, block=block)
    rows, similarity = brute(cosines(features), min(k, 149))
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_allclose(found.similarity, similarity, atol=1e-12)


@pytest.mark.parametrize("block", [None, 1, 13])
def test_of_new_points_and_of_the_rows_themselves(features, cosines, block):
    U = unit_rows(features)
    found = nearest(U[:20], U[20:], 5, block=block)
    np.testing.assert_array_equal(found.rows, brute(cosines(features)[:20, 20:], 5)[0])
    itself = nearest(U, U, 1, block=block)
    np.testing.assert_array_equal(itself.rows[:, 0], np.arange(150))
    np.testing.assert_allclose(itself.similarity, 1.0)
    assert nearest(U[:3], U[:2], 9).rows.shape == (3, 2)


def test_of_equal_rows_the_first_come_first():
    found = nearest_others(unit_rows(np.ones((6, 2))), 3)
    assert found.rows.tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3]] + [[0, 1, 2]] * 3


def test_unit_rows_keep_the_precision_and_rows_of_zeros(features):
    X = features.copy()
    X[4] = 0
    assert unit_rows(X.astype(np.float32)).dtype == np.float32
    assert unit_rows((10 * X).astype(int)).dtype == np.float64
    length = np.linalg.norm(unit_rows(X), axis=1)
    np.testing.assert_allclose(length, np.arange(150) != 4)
    assert nearest_others(unit_rows(X), 1).similarity[4] == 0


@pytest.mark.parametrize("known", [5, 6, 40])
def test_within_a_subsample_as_if_there_were_no_others(features, cosines, known):
    # With 5 known neighbours nearly every row has to be looked up anew, with 40 none.
    chosen = np.random.default_rng(1).random(150) < 0.7
    numbers = np.flatnonzero(chosen)
    U = unit_rows(features)
    found = nearest_within(nearest_others(U, known), U, chosen, 5)
    rows, similarity = brute(cosines(features)[np.ix_(chosen, chosen)], 5)
    np.testing.assert_array_equal(found.rows, numbers[rows])
    np.testing.assert_allclose(found.similarity, similarity, atol=1e-12)


def test_within_a_subsample_of_few(features):
    U = unit_rows(features)
    chosen = np.arange(150) < 3
    found = nearest_within(nearest_others(U, 20), U, chosen, 9)
    assert [sorted(row) for row in found.rows.tolist()] == [[1, 2], [0, 2], [0, 1]]
    with pytest.raises(ValueError, match=r"2 neighbours are known. Find 9 or more"):
        nearest_within(nearest_others(U, 2), U, np.ones(150, bool), 9)


def test_within_a_subsample_of_equal_rows_none_finds_itself():
    U = unit_rows(np.ones((30, 2)))
    chosen = np.arange(30) >= 15
    found = nearest_within(nearest_others(U, 4), U, chosen, 4)
    assert (found.rows != np.flatnonzero(chosen)[:, None]).all()
    assert chosen[found.rows].all()
    assert all(len(set(row)) == 4 for row in found.rows.tolist())


def test_votes_against_a_loop():
    rng = np.random.default_rng(0)
    labels, weights = rng.integers(4, size=(9, 5)), rng.random((9, 5))
    votes = np.zeros((9, 4))
    for i in range(9):
        for j in range(5):
            votes[i, labels[i, j]] += weights[i, j]
    np.testing.assert_allclose(label_votes(labels, weights, 4), votes)
    np.testing.assert_allclose(label_votes(labels.astype(np.uint8), weights, 4), votes)


def test_blocks_cover_the_rows_and_are_bounded():
    for n, columns in ((10, 5), (10_000, 10_000), (1000, 10**9)):
        spans = list(row_blocks(n, columns))
        rows = np.concatenate([np.arange(n)[s] for s in spans])
        np.testing.assert_array_equal(rows, np.arange(n))
        assert max(s.stop - s.start for s in spans) <= max(2**23 // columns, 64)
