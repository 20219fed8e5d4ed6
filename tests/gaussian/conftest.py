"""Planted noise, and refitting without each sample."""

from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture(scope="session")
def planted():
    """Scores of Gaussians three apart, true classes of unequal shares, labels drawn with T."""
    rng = np.random.default_rng(0)
    n, priors = 24_000, np.array([0.5, 0.3, 0.2])
    T = np.array([[0.7, 0.2, 0.1], [0.0, 0.9, 0.1], [0.25, 0.15, 0.6]])
    true = rng.choice(3, size=n, p=priors)
    means = 3.0 * np.eye(3)
    x = rng.normal(size=(n, 3)) + means[true]
    scores = -0.5 * ((x[:, None] - means) ** 2).sum(axis=2)
    labels = np.array([rng.choice(3, p=T[c]) for c in true])
    return SimpleNamespace(scores=scores, true=true, labels=labels, T=T, priors=priors)


@pytest.fixture(scope="session")
def refitted(brute):
    """Fit without each sample and its copies, one after another, and judge the sample."""

    def posteriors(X, y, weights=None, keep=True, priors=None):
        full = np.where(keep, np.ones(len(X)) if weights is None else weights, 0.0)
        out = []
        for i in range(len(X)):
            w = full.copy()
            w[i] = 0.0
            out.append(brute.posterior(X[i : i + 1], *brute.tied(X, y, w), priors)[0])
        return np.array(out)

    return posteriors
