"""The relation graph against the matrix of all relations."""

import numpy as np
import pytest

from rehead.experiments.peers.relation_graph import relation_graph


@pytest.fixture(scope="module")
def probabilities(planted):
    """Posteriors that know the class, more or less."""
    rng = np.random.default_rng(3)
    return 0.6 * np.eye(planted.C)[planted.true] + 0.4 * rng.dirichlet(np.ones(planted.C), 600)


def brute(S, y, P):
    agree = np.where(y[:, None] == y, 1.0, -1.0)
    r = agree * np.maximum(S, 0) * (P @ P.T)
    r[np.abs(r) <= 0.03] = 0
    edges = np.sign(r) * r**4
    first = edges.sum(axis=1)
    noisy = first / np.abs(first).max() < -0.05
    return first, first - 2 * edges[:, noisy].sum(axis=1)


@pytest.mark.parametrize("block", [None, 1, 37])
def test_against_all_relations(planted, probabilities, cosines, block):
    first, score = brute(cosines(planted.X), planted.y, probabilities)
    found = relation_graph(planted.X, planted.y, probabilities, block)
    np.testing.assert_allclose(found.quality, score, atol=1e-9)
    np.testing.assert_array_equal(found.flagged, score < 0)
    assert np.abs(score - first).max() > 0.1  # the second pass did something


def test_in_single_precision(planted, probabilities, cosines):
    score = brute(cosines(planted.X), planted.y, probabilities)[1]
    found = relation_graph(planted.X.astype(np.float32), planted.y, probabilities)
    np.testing.assert_allclose(found.quality, score, atol=1e-3)


def test_finds_planted_labels(planted, probabilities, auroc):
    found = relation_graph(planted.X, planted.y, probabilities)
    assert auroc(found.quality) > 0.95
    assert np.mean(found.flagged == planted.wrong) > 0.97


def test_without_any_relation_nothing_is_flagged():
    found = relation_graph(np.eye(3), np.array([0, 1, 1]), np.full((3, 2), 0.5))
    assert not found.flagged.any()
    assert (found.quality == 0).all()


def test_probabilities_of_other_samples(planted):
    with pytest.raises(ValueError, match="600 labels, but probabilities of 599 samples"):
        relation_graph(planted.X, planted.y, np.ones((599, 4)))
