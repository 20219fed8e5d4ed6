"""Gaussian classes that overlap, with their exact posterior, and what it says about labels."""

import numpy as np
from scipy.special import softmax


def gaussians(n=1200, C=4, d=6, distance=2.0, seed=0, unequal=False):
    """Samples, true classes (those that they were drawn from) and the exact posterior."""
    rng = np.random.default_rng(seed)
    priors = 1.0 / np.arange(1, C + 1) if unequal else np.ones(C)
    priors = priors / priors.sum()
    means = distance * rng.normal(size=(C, d)) / np.sqrt(2)
    # Two of each class at least.
    y = rng.permutation([*np.arange(C).repeat(2), *rng.choice(C, size=n - 2 * C, p=priors)])
    X = means[y] + rng.normal(size=(n, d))
    scores = -0.5 * ((X[:, None] - means) ** 2).sum(axis=2) + np.log(priors)
    return X, y, softmax(scores, axis=1)


def margins_of(posterior, y):
    """Posterior of the true class minus that of the best other one."""
    return np.array([p[c] - np.delete(p, c).max() for p, c in zip(posterior, y, strict=True)])


def tenths(posterior, y, changed):
    """Share of wrong labels in each tenth of the samples, from the hardest to the easiest."""
    order = np.argsort(margins_of(posterior, y))
    return np.array([changed[part].mean() for part in np.array_split(order, 10)])
