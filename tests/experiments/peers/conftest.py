"""Separated classes with planted wrong labels."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score


@pytest.fixture(scope="session")
def planted():
    """Four Gaussians in different directions, a fifth of the labels moved to another class."""
    rng = np.random.default_rng(0)
    n, C, d = 600, 4, 12
    true = rng.integers(C, size=n)
    X = 6.0 * np.eye(C, d)[true] + rng.normal(size=(n, d))
    wrong = rng.random(n) < 0.2
    y = np.where(wrong, (true + rng.integers(1, C, size=n)) % C, true)
    return SimpleNamespace(X=X, y=y, true=true, wrong=wrong, C=C)


@pytest.fixture(scope="session")
def auroc(planted):
    """How well qualities tell the planted wrong labels."""
    return lambda quality: roc_auc_score(~planted.wrong, quality)


@pytest.fixture(scope="session")
def cosines():
    """All cosines, rows of zeros having none, the diagonal at minus infinity."""

    def matrix(X):
        length = np.linalg.norm(X, axis=1)
        U = X / np.where(length > 0, length, 1)[:, None]
        S = U @ U.T
        np.fill_diagonal(S, -np.inf)
        return S

    return matrix
