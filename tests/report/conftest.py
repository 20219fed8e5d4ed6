"""A browser, and judged labels to write pages of."""

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, noise, score_labels


@pytest.fixture(scope="session")
def judged():
    """Judge labels of Gaussian classes of which some are wrong: report, features, truth."""

    def make(n_classes=3, n=300, rate=0.15, labels=None, ids=None, **settings):
        rng = np.random.default_rng(0)
        truth = rng.permutation(np.arange(n) % n_classes)
        means = 5 * rng.normal(size=(n_classes, 6))
        X = rng.normal(size=(n, 6)) + means[truth]
        y = noise.uniform(truth, rate, random_state=0).labels
        names = np.arange(n_classes) if labels is None else np.asarray(labels)
        model = RobustGaussianClassifier(**(settings or {"random_state": 0})).fit(X, names[y])
        return score_labels(model, X, names[y], ids=ids), X, names[truth]

    return make
