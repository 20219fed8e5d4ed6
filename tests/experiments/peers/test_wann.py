"""WANN against loops over samples."""

from collections import Counter

import numpy as np
import pytest

from rehead.experiments.peers.wann import neighbours_needed, wann_predict


def commonest(labels):
    counts = Counter(labels)
    return min(counts, key=lambda c: (-counts[c], c))


def brute_needed(S, y):
    needed = []
    for i, row in enumerate(S):
        labels = y[np.argsort(-row)].tolist()
        agree = [k for k in range(11, 50, 2) if commonest(labels[:k]) == y[i]]
        needed.append(agree[0] if agree else 51)
    return np.array(needed)


@pytest.fixture(scope="module")
def overlapping():
    """Classes that overlap, so that all numbers of neighbours occur."""
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=300)
    return rng.normal(size=(300, 5)) + 0.8 * np.eye(3, 5)[y], y


@pytest.mark.parametrize("block", [None, 17])
def test_needed_against_a_loop(overlapping, cosines, block):
    X, y = overlapping
    needed = neighbours_needed(X, y, 3, block)
    np.testing.assert_array_equal(needed, brute_needed(cosines(X), y))
    assert len(set(needed.tolist())) > 10


@pytest.mark.parametrize("block", [None, 17])
def test_predictions_against_a_loop(overlapping, block):
    X, y = overlapping
    needed = neighbours_needed(X, y, 3)
    new = np.random.default_rng(2).normal(size=(80, 5)) + 0.3
    expected = []
    for x in new:
        cosine = X @ x / np.linalg.norm(X, axis=1)
        near = np.argsort(-cosine)
        near = near[: needed[near[0]]]
        expected.append(np.bincount(y[near], 1 / needed[near], minlength=3).argmax())
    np.testing.assert_array_equal(wann_predict((X, y), needed, new, 3, block), expected)


def test_finds_planted_labels_and_predicts(planted, auroc):
    needed = neighbours_needed(planted.X, planted.y, planted.C)
    assert auroc(1 / needed) > 0.95
    predicted = wann_predict((planted.X, planted.y), needed, planted.X, planted.C)
    assert np.mean(predicted == planted.true) > 0.97


def test_fewer_samples_than_neighbours():
    y = np.repeat([0, 1], 8)
    X = np.eye(2)[y] + 0.01
    needed = neighbours_needed(X, y, 2)
    assert needed.shape == (16,)
    assert wann_predict((X, y), needed, X, 2).shape == (16,)
