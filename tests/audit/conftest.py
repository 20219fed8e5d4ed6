"""Noisy labels, a model that was fitted on them, and what it thinks of them."""

import pytest

from rehead import RobustGaussianClassifier, noise, score_labels


@pytest.fixture(scope="session")
def noisy(blobs):
    """Clear classes, a tenth of the labels wrong: features, given labels, which are wrong."""
    X, y = blobs(sizes=(150, 150, 150), d=4, distance=4.0)
    corrupted = noise.uniform(y, 0.1, random_state=0)
    return X, corrupted.labels, corrupted.changed


@pytest.fixture(scope="session")
def model(noisy):
    """The default, fitted on the noisy labels."""
    return RobustGaussianClassifier(random_state=0).fit(*noisy[:2])


@pytest.fixture(scope="session")
def report(model, noisy):
    """What it thinks of the labels that it was fitted on."""
    return score_labels(model, *noisy[:2])
