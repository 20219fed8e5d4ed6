"""Classifiers of one layer are those of scikit-learn, on the layer that was asked for."""

import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from rehead.experiments.columns import classic
from rehead.experiments.columns.classic import BOOSTING, CLASSIC, KNN, LDA_SHRUNK, LOGISTIC, NEAREST
from rehead.experiments.columns.folds import out_of_sample
from rehead.experiments.task import Part, Task


@pytest.fixture
def task(blobs):
    """Two layers that say different things: one label in five is wrong."""
    X, y = blobs((90, 90, 90), d=4, distance=2.0)
    other, _ = blobs((90, 90, 90), d=3, distance=0.5, seed=1)
    rng = np.random.default_rng(0)
    changed = rng.random(len(y)) < 0.2
    noisy = np.where(changed, (y + 1) % 3, y)
    layers = {"early": other, "late": X}

    def part(rows, labels):
        return Part({name: a[rows] for name, a in layers.items()}, labels[rows])

    train, held_out, test = np.split(np.arange(len(y)), [180, 200])
    names = tuple(layers)
    parts = part(train, noisy), part(held_out, noisy), part(test, y)
    return Task(*parts, y[train], changed[train], names, names, 3)


def votes(X, y, new, k):
    distances = ((new[:, None] - X) ** 2).sum(axis=2)
    nearest = y[np.argsort(distances, axis=1, kind="stable")[:, :k]]
    return np.array([np.bincount(row, minlength=3).argmax() for row in nearest])


def test_nearest_neighbours_vote(task):
    train, new = task.train, task.test.layers["late"]
    expected = votes(train.layers["late"], train.y, new, 50)
    np.testing.assert_array_equal(CLASSIC[KNN](task).labels, expected)


def test_lda_is_that_of_scikit_learn_where_there_is_nothing_to_shrink(task, monkeypatch):
    monkeypatch.setattr(
        classic,
        "lda_shrunk",
        lambda: classic.RobustGaussianClassifier("sample", shrinkage=0.0, priors="empirical"),
    )
    found = classic.on_layer(classic.lda_shrunk)(task).labels
    train = task.train
    theirs = LinearDiscriminantAnalysis().fit(train.layers["late"], train.y)
    np.testing.assert_array_equal(found, theirs.predict(task.test.layers["late"]))


def test_shrunk_lda_is_shrunk(task):
    X, y = task.train.layers["late"][:20], task.train.y[:20]
    plain = classic.RobustGaussianClassifier("sample").fit(X, y).covariance_
    assert np.linalg.cond(classic.lda_shrunk().fit(X, y).covariance_) < np.linalg.cond(plain)


def test_the_first_layer_is_another_one(task):
    first, last = (CLASSIC[name](task).labels for name in (f"{LDA_SHRUNK}, first", LDA_SHRUNK))
    model = classic.lda_shrunk().fit(task.train.layers["early"], task.train.y)
    np.testing.assert_array_equal(first, model.predict(task.test.layers["early"]))
    assert (first != last).any()


@pytest.mark.parametrize("name", [LOGISTIC, NEAREST])
def test_the_scale_of_features_does_not_matter(task, name):
    found = CLASSIC[name](task).labels
    scale = np.array([1.0, 1e3, 1e-3, 7.0])
    for part in (task.train, task.test):
        part.layers["late"] = part.layers["late"] * scale + 5
    np.testing.assert_array_equal(CLASSIC[name](task).labels, found)
    assert (found == task.test.y).mean() > 0.8


def test_boosting_is_that_of_scikit_learn(task):
    theirs = HistGradientBoostingClassifier(random_state=0)
    theirs.fit(task.train.layers["late"], task.train.y)
    expected = theirs.predict(task.test.layers["late"])
    np.testing.assert_array_equal(CLASSIC[BOOSTING](task).labels, expected)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        (LOGISTIC, classic.logistic),
        (NEAREST, classic.nearest_scaled),
        (BOOSTING, classic.boosting),
    ],
)
def test_labels_are_judged_by_models_that_did_not_see_them(task, name, model):
    quality = CLASSIC[name](task).quality
    posterior = out_of_sample(task, model, ("late",))
    np.testing.assert_array_equal(quality, posterior[np.arange(len(quality)), task.train.y])
    assert roc_auc_score(~task.changed, quality) > 0.8


def test_others_do_not_judge(task):
    assert CLASSIC[KNN](task).quality is None
    assert CLASSIC[LDA_SHRUNK](task).quality is None


def test_few_steps_are_no_news(task, monkeypatch):
    monkeypatch.setattr(classic, "STEPS", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        CLASSIC[LOGISTIC](task)
