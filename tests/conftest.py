"""Shared data and reference implementations, as fixtures.

References are written for clarity: one sample at a time, explicit inverses, scipy for densities.
"""

import os
import shutil
from types import SimpleNamespace

# The processes of pytest-xdist, which inherit this, already share the cores; threads inside each
# would double the time. Tests of threads ask for their own number.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import multivariate_normal

from rehead import RobustGaussianClassifier


@pytest.fixture(scope="session")
def blobs():
    """Make one Gaussian a class, with correlated features and shuffled labels 0 .. C-1."""

    def make(sizes=(60, 60, 60), d=3, distance=4.0, seed=0):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
        mix = np.eye(d) + 0.3 * rng.normal(size=(d, d))
        means = distance * rng.normal(size=(len(sizes), d))
        return rng.normal(size=(len(y), d)) @ mix + means[y], y

    return make


@pytest.fixture(scope="session")
def skewed():
    """Make three classes that lines tell apart, of features with long tails: not Gaussian.

    What follows is made for ``seed=0``: logistic regression is a second opinion there, on the
    features and on a map of them.
    """

    def make(n=800, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.exponential(size=(n, 5)) ** 2
        scores = X @ rng.normal(size=(3, 5)).T
        return X, (scores - np.median(scores, axis=0)).argmax(axis=1)

    return make


@pytest.fixture(scope="session")
def brute():
    """Tied Gaussians, their posterior and distances, straight from the definitions."""

    def tied(X, y, weights=None):
        w = np.ones(len(X)) if weights is None else np.asarray(weights, float)
        means = np.stack([np.average(X[y == c], axis=0, weights=w[y == c]) for c in np.unique(y)])
        residuals = X - means[y]
        return means, (w[:, None] * residuals).T @ residuals / w.sum()

    def posterior(X, means, covariance, priors=None):
        priors = np.full(len(means), 1 / len(means)) if priors is None else priors
        log_joint = [
            multivariate_normal(mu, covariance).logpdf(X) + np.log(beta)
            for mu, beta in zip(means, priors, strict=True)
        ]
        return softmax(np.atleast_2d(np.transpose(log_joint)), axis=1)

    def distances(X, means, covariance):
        P = np.linalg.inv(covariance)
        return np.array([[(x - mu) @ P @ (x - mu) for mu in means] for x in X])

    def smallest(score, k):
        return np.sort(np.argsort(score)[: int(k)])

    return SimpleNamespace(tied=tied, posterior=posterior, distances=distances, smallest=smallest)


@pytest.fixture(scope="session")
def same_model():
    """Assert that two fitted classifiers have equal parameters."""

    def check(a, b, rtol=1e-9, atol=1e-9):
        for name in ("means_", "covariance_", "priors_", "coef_", "intercept_", "log_det_"):
            np.testing.assert_allclose(
                getattr(a, name), getattr(b, name), rtol=rtol, atol=atol, err_msg=name
            )

    return check


@pytest.fixture
def fitted(blobs):
    """A small fitted classifier, its features and its labels."""
    X, y = blobs()
    return RobustGaussianClassifier(random_state=0).fit(X, y), X, y


PATIENCE = 120_000
"""Milliseconds: what comes late on a busy machine is no fault of a page."""


@pytest.fixture(scope="session")
def chromium():
    """A browser; the tests of pages need a real one."""
    sync_api = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("there is no Chromium. Get it (Debian: apt install chromium), and run again")
    with sync_api.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=PATIENCE
        )
        yield browser
        browser.close()


@pytest.fixture
def new_context(chromium):
    """Open windows of the browser that wait long enough, and are closed afterwards."""
    opened = []

    def start(**options):
        # Nothing glides: where something is now, it is a moment later.
        context = chromium.new_context(**{"reduced_motion": "reduce", **options})
        context.set_default_timeout(PATIENCE)
        opened.append(context)
        return context

    yield start
    for context in opened:
        context.close()
