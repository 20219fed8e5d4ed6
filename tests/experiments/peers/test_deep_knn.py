"""Deep k-NN against all distances."""

import numpy as np
import pytest

from rehead.experiments.peers.deep_knn import deep_knn


@pytest.mark.parametrize("block", [None, 17])
@pytest.mark.parametrize("k", [4, 25])
def test_against_a_loop(planted, cosines, k, block):
    X, y = planted.X, planted.y
    found = deep_knn(X, y, planted.C, k, block)
    for i, row in enumerate(cosines(X)):
        votes = np.bincount(y[np.argsort(-row)[:k]], minlength=planted.C)
        assert found.flagged[i] == (votes[y[i]] < votes.max())
        assert found.quality[i] == votes[y[i]] / k


def test_finds_planted_labels(planted, auroc):
    found = deep_knn(planted.X, planted.y, planted.C)
    assert auroc(found.quality) > 0.95
    assert np.mean(found.flagged == planted.wrong) > 0.97


def test_fewer_samples_than_neighbours():
    y = np.array([0, 0, 0, 1])
    found = deep_knn(np.ones((4, 2)), y, 2, k=100)
    assert found.flagged.tolist() == [False, False, False, True]
    np.testing.assert_allclose(found.quality, [2 / 3, 2 / 3, 2 / 3, 0])
