"""k-NN whose k is chosen: against votes counted by hand."""

import numpy as np
import pytest
from sklearn.base import clone

from rehead.experiments.columns.nearest import NearestVote


@pytest.fixture
def noisy(blobs):
    """Three classes that overlap, one label in three wrong."""
    X, y = blobs((60, 50, 40), d=3, distance=2.5)
    rng = np.random.default_rng(0)
    return X, np.where(rng.random(len(y)) < 0.3, (y + 1) % 3, y)


def left_out_votes(X, y, k):
    """Of each sample, by its k nearest other samples."""
    found = []
    for i in range(len(y)):
        order = np.argsort(((X - X[i]) ** 2).sum(axis=1), kind="stable")
        found.append(np.bincount(y[order[order != i][:k]], minlength=3).argmax())
    return np.array(found)


@pytest.mark.parametrize("candidates", [(1, 3, 20), (20, 3, 1), (2, 7)])
def test_the_votes_that_agree_most_often_choose(noisy, candidates):
    X, y = noisy
    agreed = [(left_out_votes(X, y, k) == y).mean() for k in candidates]
    assert NearestVote(candidates).fit(X, y).n_neighbors_ == candidates[np.argmax(agreed)]


def test_shares_of_the_votes_are_the_posterior(noisy):
    X, y = noisy
    names = np.array(["c", "a", "b"])
    model = NearestVote((10,)).fit(X[:100], names[y[:100]])
    posterior = model.predict_proba(X[100:])
    near = np.argsort(((X[100:, None] - X[:100]) ** 2).sum(axis=2), axis=1)[:, :10]
    expected = np.stack([(names[y[near]] == c).mean(axis=1) for c in ("a", "b", "c")], axis=1)
    np.testing.assert_allclose(posterior, expected)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(X[100:]), model.classes_[posterior.argmax(axis=1)])


def test_more_neighbours_than_samples_are_not_asked(noisy):
    X, y = noisy
    assert NearestVote().fit(X[:12], y[:12]).n_neighbors_ == 5
    assert NearestVote().fit(X[:3], y[:3]).n_neighbors_ == 1


def test_it_can_be_cloned():
    assert clone(NearestVote((2, 9))).candidates == (2, 9)
