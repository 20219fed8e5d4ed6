"""Moments in one pass over the rows."""

import numpy as np
import pytest

from rehead.gaussian.kernels import BLOCK, Rows, Subset, moments
from rehead.gaussian.moments import Total, from_sums, pooled_moments
from rehead.gaussian.rows import group_by_class


@pytest.mark.parametrize("weighted", [False, True])
def test_pooled_moments_are_those_of_each_class(brute, weighted):
    rng = np.random.default_rng(0)
    n = 2 * BLOCK + 100  # blocks span classes, and classes span blocks
    codes = rng.choice(5, size=n, p=[0.6, 0.3, 0.05, 0.04, 0.01])
    X = rng.normal(size=(n, 3)) + 10 * codes[:, None]
    w = rng.integers(0, 3, size=n).astype(float) if weighted else None
    data = group_by_class(X, codes, 5, weights=w)
    subsets = []
    for c in range(5):
        at = np.sort(rng.permutation(len(data.rows[c]))[: len(data.rows[c]) // 2 + 1])
        of_class = data.class_weights(c)
        subsets.append(Subset(at, None if of_class is None else of_class[at]))
    m = pooled_moments(data, subsets)
    kept = np.zeros(n)
    for c, s in enumerate(subsets):
        kept[data.rows[c][s.positions]] = 1.0 if s.weights is None else s.weights
    means, covariance = brute.tied(X, codes, kept)
    np.testing.assert_allclose(m.weights, np.bincount(codes, weights=kept))
    np.testing.assert_allclose(m.means, means, rtol=1e-12)
    np.testing.assert_allclose(np.tril(m.covariance), np.tril(covariance), rtol=1e-9, atol=1e-12)
    # The moments of the classes, one at a time, add up to the same.
    parts = [
        moments(Rows(X), data.rows[c][s.positions], data.shifts[c], s.weights)
        for c, s in enumerate(subsets)
    ]
    weights, totals, grams = (np.array(column) for column in zip(*parts, strict=True))
    for a, b in zip(from_sums(data, weights, totals, grams.sum(axis=0)), m, strict=True):
        np.testing.assert_allclose(np.tril(a), np.tril(b), rtol=1e-9, atol=1e-9)


def test_the_scatter_within_classes_follows_from_the_total():
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(200, 3)) + 5.0, rng.integers(3, size=200)
    data = group_by_class(X, codes, 3)
    pooled = pooled_moments(data, [data.whole(c) for c in range(3)])
    total = Total.from_pooled(pooled)
    np.testing.assert_allclose(total.mean, X.mean(axis=0))
    scatter = 200 * np.cov(X, rowvar=False, bias=True)
    np.testing.assert_allclose(np.tril(total.scatter), np.tril(scatter))
    r = rng.dirichlet(np.ones(3), size=len(X))
    weights = r.sum(axis=0)
    means = r.T @ X / weights[:, None]
    brute = sum((r[:, c, None] * (X - means[c])).T @ (X - means[c]) for c in range(3))
    found = total.within(weights, means).scatter
    np.testing.assert_allclose(np.tril(found), np.tril(brute), rtol=1e-9, atol=1e-9)
