"""What users pass as a model: our own, and pipelines that end in them."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rehead import (
    RobustGaussianClassifier,
    abstention_threshold,
    find_mislabelled,
    noise,
    predict_or_abstain,
    score_labels,
    typicality,
)


@pytest.fixture(scope="module")
def piped():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=600)
    X = (rng.normal(size=(600, 8)) + 3 * np.eye(3, 8)[true]) * np.logspace(0, 4, 8)
    y = noise.uniform(true, 0.3, random_state=0).labels
    steps = StandardScaler(), PCA(4, random_state=0), RobustGaussianClassifier(random_state=0)
    return make_pipeline(*steps).fit(X[:400], y[:400]), X, y


def test_a_pipeline_is_audited_as_its_last_step(piped):
    pipe, X, y = piped
    Z = pipe[:-1].transform(X)
    for part in (slice(0, 400), slice(400, None)):
        found = score_labels(pipe, X[part], y[part])
        expected = score_labels(pipe[-1], Z[part], y[part])
        np.testing.assert_array_equal(found.quality, expected.quality)
        np.testing.assert_array_equal(found.in_sample, expected.in_sample)
        np.testing.assert_array_equal(
            find_mislabelled(pipe, X[part], y[part]), expected.mislabelled()
        )
    assert score_labels(pipe, X[:400], y[:400]).in_sample.all()
    np.testing.assert_array_equal(typicality(pipe, X), typicality(pipe[-1], Z))
    near = score_labels(pipe, X, y).neighbours(0, X, k=3)
    np.testing.assert_array_equal(near.rows, score_labels(pipe[-1], Z, y).neighbours(0, Z, 3).rows)


def test_it_abstains_too(piped):
    pipe, X, y = piped
    sure = abstention_threshold(pipe, X[400:], y[400:], error=0.5, checked=True)
    Z = pipe[:-1].transform(X)
    expected = predict_or_abstain(pipe[-1], Z, sure, -1)
    np.testing.assert_array_equal(predict_or_abstain(pipe, X, sure, -1), expected)


def test_other_pipelines_and_those_that_are_not_fitted():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(TypeError, match="a LogisticRegression has no"):
        score_labels(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        score_labels(make_pipeline(StandardScaler(), RobustGaussianClassifier()), X, y)


def test_a_grid_search_is_told_to_pass_its_best_model():
    search = GridSearchCV(RobustGaussianClassifier("sample"), {"shrinkage": [0.1, 0.5]}, cv=2)
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    search.fit(X, y)
    with pytest.raises(TypeError, match=r"Pass its best_estimator_\.$"):
        score_labels(search, X, y)
    assert len(score_labels(search.best_estimator_, X, y).quality) == 40


def test_the_model_comes_first():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    model = RobustGaussianClassifier("sample").fit(X, y)
    for ask in (score_labels, find_mislabelled):
        for swapped in (X, {"x": X}, X.tolist()):
            with pytest.raises(TypeError, match="The model comes first"):
                ask(swapped, y, model)
