"""SimiFeat against loops over samples."""

import numpy as np
import pytest

from rehead.experiments.peers.hoc import hoc
from rehead.experiments.peers.neighbours import Neighbours
from rehead.experiments.peers.simifeat import (
    Rounds,
    simifeat_rank,
    simifeat_vote,
    weighted_votes,
)

ONCE = Rounds(times=1, share=1.0)


def votes_of(S, y, C):
    """Ten voters: the sample, and the nine most similar ones."""
    votes = np.zeros((len(y), C))
    for i, row in enumerate(S):
        near = np.argsort(-row)[:9]
        votes[i, y[i]] += max(2 * row[near[0]] - row[near[1]], 0)
        for j in near:
            votes[i, y[j]] += max(row[j], 0)
    return votes / np.linalg.norm(votes, axis=1, keepdims=True)


def test_votes_by_hand():
    found = Neighbours(np.array([[1, 2, 3]]), np.array([[0.8, 0.7, -0.5]]))
    votes = weighted_votes(found, np.array([2]), np.array([2, 0, 1, 1]), 3)
    np.testing.assert_allclose(votes[0], np.array([0.8, 0.7, 0.9]) / np.sqrt(1.94))


def test_one_round_of_votes_against_a_loop(planted, cosines):
    votes = votes_of(cosines(planted.X), planted.y, planted.C)
    found = simifeat_vote(planted.X, planted.y, planted.C, ONCE)
    np.testing.assert_array_equal(found.flagged, votes.argmax(axis=1) != planted.y)
    np.testing.assert_allclose(found.quality, votes[np.arange(600), planted.y], atol=1e-9)


def test_one_round_of_ranks_against_a_loop(planted, cosines):
    X, y, C = planted.X, planted.y, planted.C
    own = votes_of(cosines(X), y, C)[np.arange(600), y]
    wrong = np.clip(1 - hoc(X, y, C).precision, 0.05, 0.95)
    found = simifeat_rank(X, y, C, ONCE)
    for c in range(C):
        rows = np.flatnonzero(y == c)
        worst = rows[np.argsort(own[rows])[: round(wrong[c] * len(rows))]]
        np.testing.assert_array_equal(np.flatnonzero(found.flagged & (y == c)), np.sort(worst))
    np.testing.assert_allclose(found.quality, np.log(own), atol=1e-6)


def test_rounds_are_those_of_subsamples_looked_at_alone(planted, cosines):
    # Classes overlap more here, so that a label is flagged in some rounds only.
    X = planted.X[:120] + 2 * np.random.default_rng(6).normal(size=(120, 12))
    y, C = planted.y[:120], planted.C
    S, rng = cosines(X), np.random.default_rng(5)
    times, flags, quality = np.zeros((3, 120))
    for _ in range(7):
        rows = np.sort(rng.permutation(120)[:72])
        votes = votes_of(S[np.ix_(rows, rows)], y[rows], C)
        times[rows] += 1
        flags[rows] += votes.argmax(axis=1) != y[rows]
        quality[rows] += votes[np.arange(72), y[rows]]
    found = simifeat_vote(X, y, C, Rounds(7, 0.6, 5))
    seen = times > 0
    np.testing.assert_array_equal(found.flagged[seen], (flags / times.clip(1) > 0.5)[seen])
    np.testing.assert_allclose(found.quality[seen], (quality / times.clip(1))[seen], atol=1e-9)


@pytest.mark.parametrize("method", [simifeat_vote, simifeat_rank])
def test_finds_planted_labels(planted, auroc, method):
    found = method(planted.X, planted.y, planted.C)
    assert auroc(found.quality) > 0.95
    assert np.mean(found.flagged == planted.wrong) > 0.93


@pytest.mark.parametrize("method", [simifeat_vote, simifeat_rank])
def test_blocks_change_nothing(planted, method):
    found = method(planted.X, planted.y, planted.C)
    again = method(planted.X, planted.y, planted.C, block=11)
    np.testing.assert_array_equal(found.flagged, again.flagged)
    np.testing.assert_allclose(found.quality, again.quality, atol=1e-9)


def test_the_noise_rate_is_that_of_hoc(planted):
    found = simifeat_rank(planted.X, planted.y, planted.C)
    assert found.noise_rate == pytest.approx(hoc(planted.X, planted.y, planted.C).rate, abs=1e-9)
    assert simifeat_vote(planted.X, planted.y, planted.C).noise_rate is None


def test_ranks_flag_a_twentieth_of_clean_labels_that_are_all_alike():
    """Every vote is unanimous: a threshold on the score would flag all."""
    y = np.repeat([0, 1], 100)
    found = simifeat_rank(np.eye(2)[y], y, 2, ONCE)
    assert found.flagged.sum() == 10
