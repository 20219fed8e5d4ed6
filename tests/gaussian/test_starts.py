"""First subsets."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata, spearmanr

from rehead.gaussian.starts import deterministic_starts, random_start


def test_random_start_is_uniform():
    rng = np.random.default_rng(0)
    n, k, draws = 12, 5, 4000
    counts = np.zeros(n)
    for _ in range(draws):
        positions = random_start(rng, n, k).positions
        assert len(positions) == len(set(positions.tolist())) == k
        counts[positions] += 1
    # Standard deviation of a share is 0.008; five of them.
    assert np.abs(counts / draws - k / n).max() < 0.04


def test_random_start_holds_the_trusted_and_the_weights():
    trusted = np.zeros(30, bool)
    trusted[[3, 17]] = True
    subset = random_start(np.random.default_rng(0), 30, 7.0, np.full(30, 2.0), trusted)
    assert {3, 17} <= set(subset.positions.tolist())
    assert subset.weights.sum() == 7.0


def clustered(seed, n=200, d=4, outliers=80, distance=30.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:outliers] += distance
    return X


def robust_scale(Z):
    return 1.4826 * np.median(np.abs(Z - np.median(Z, axis=0)), axis=0)


def test_deterministic_starts_are_those_of_the_paper(brute):
    # Hubert, Rousseeuw, Verdonck (2012), section 3: S_1, S_2, S_3, S_4 and S_5.
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(60, 4)) @ rng.normal(size=(4, 4)) + 5
    Z = (X - np.median(X, axis=0)) / robust_scale(X)
    length = np.linalg.norm(Z, axis=1)
    scores = norm.ppf((rankdata(Z, axis=0) - 1 / 3) / (60 + 1 / 3))
    matrices = [
        np.corrcoef(np.tanh(Z), rowvar=False),
        spearmanr(Z).statistic,
        np.corrcoef(scores, rowvar=False),
        sum(np.outer(z, z) / (z @ z) for z in Z) / 60,
        np.cov(Z[brute.smallest(length, 30)], rowvar=False, bias=True),
    ]
    starts = list(deterministic_starts(X, 35))
    assert len({s.positions.tobytes() for s in starts}) > 3
    for S, start in zip(matrices, starts, strict=True):
        B = Z @ np.linalg.eigh(S)[1]
        distance = (((B - np.median(B, axis=0)) / robust_scale(B)) ** 2).sum(axis=1)
        np.testing.assert_array_equal(start.positions, brute.smallest(distance, 35))


def test_deterministic_starts_repeat():
    first, second = (list(deterministic_starts(clustered(0), 100)) for _ in range(2))
    assert len(first) == 5
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.positions, b.positions)
        assert len(a.positions) == 100


@pytest.mark.parametrize("seed", range(5))
def test_a_deterministic_start_finds_the_clean_cluster(seed):
    # 40 % of the samples are a far cluster; a random start holds 40 of them.
    caught = [(s.positions < 80).sum() for s in deterministic_starts(clustered(seed), 100)]
    assert min(caught) == 0


def test_deterministic_starts_follow_permutations():
    X = clustered(1)
    order = np.random.default_rng(2).permutation(len(X))
    for a, b in zip(deterministic_starts(X, 100), deterministic_starts(X[order], 100), strict=True):
        np.testing.assert_array_equal(a.positions, np.sort(order[b.positions]))


def test_deterministic_starts_do_not_mind_units():
    X = clustered(1)
    scaled = X * [1e-6, 1.0, 1e3, 1e8] + [0.0, 5.0, -1e4, 1.0]
    for a, b in zip(deterministic_starts(X, 100), deterministic_starts(scaled, 100), strict=True):
        np.testing.assert_array_equal(a.positions, b.positions)


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (5, 8), (6, 1)])
def test_deterministic_starts_of_tiny_or_constant_classes(shape):
    for X in (np.ones(shape), np.random.default_rng(0).normal(size=shape)):
        with np.errstate(all="raise"):
            starts = list(deterministic_starts(X, max(shape[0] - 1, 1)))
        assert all(len(s.positions) == max(shape[0] - 1, 1) for s in starts)


def test_deterministic_starts_hold_the_trusted():
    trusted = np.zeros(200, bool)
    trusted[[0, 1]] = True  # outliers, but the user knows better
    starts = deterministic_starts(clustered(0), 100, None, trusted)
    assert all({0, 1} <= set(s.positions.tolist()) for s in starts)
