"""Well-known classifiers of one layer, on the noisy labels as they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rehead._typing import Array
from rehead.classifier import RobustGaussianClassifier
from rehead.experiments.columns.folds import Classifier, self_confidence
from rehead.experiments.columns.gaussian import Column
from rehead.experiments.columns.nearest import NearestVote
from rehead.experiments.task import Prediction, Task

Layer = Callable[[Task], str]
"""Chooses a layer of a task."""
NEIGHBOURS = 50
STEPS = 200
LDA_SHRUNK, LOGISTIC, KNN = "LDA shrunk", "logistic regression", f"kNN-{NEIGHBOURS}"
NEAREST, BOOSTING = "k-NN", "boosting"


def last_layer(task: Task) -> str:
    """The penultimate layer."""
    return task.last


def first_layer(task: Task) -> str:
    """The layer next to the input, or the input itself."""
    return task.first


def lda_shrunk() -> RobustGaussianClassifier:
    """Sample estimates, shrunk; the paper's LDA is not."""
    return RobustGaussianClassifier("sample", shrinkage="auto")


def logistic() -> Any:
    """Logistic regression on standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=STEPS, tol=1e-3))


def nearest() -> KNeighborsClassifier:
    """A vote of the nearest training samples."""
    return KNeighborsClassifier(NEIGHBOURS)


def nearest_scaled() -> Any:
    """The same on standardised features; how many vote is chosen by the labels."""
    return make_pipeline(StandardScaler(), NearestVote())


def boosting() -> HistGradientBoostingClassifier:
    """Gradient boosting as scikit-learn sets it."""
    return HistGradientBoostingClassifier(random_state=0)


def fit_predict(model: Classifier, X: Array, y: Array, new: Array) -> Array:
    """Fit a classifier, and predict the labels of new samples."""
    with warnings.catch_warnings():
        # Memorised labels can keep logistic regression from settling. It gets its steps, no more.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model().fit(X, y).predict(new))


def on_layer(model: Classifier, layer: Layer = last_layer, *, scored: bool = False) -> Column:
    """A classifier of one layer, as a column.

    Parameters
    ----------
    model : callable
        Makes the classifier.
    layer : callable
    scored : bool
        Whether labels are judged, too: by their posterior under models that did not see them.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.experiments.columns.classic import lda_shrunk, on_layer
    >>> from rehead.experiments.task import Part, Task
    >>> y = np.arange(20) % 2
    >>> part = Part({"only": np.random.default_rng(0).normal(size=(20, 2)) + 9 * y[:, None]}, y)
    >>> task = Task(part, part, part, y, y < 0, ("only",), ("only",), 2)
    >>> bool((on_layer(lda_shrunk)(task).labels == y).all())
    True
    """
    return partial(_predict, model, layer, scored)


def _predict(model: Classifier, layer: Layer, scored: bool, task: Task) -> Prediction:
    name = layer(task)
    X, new = task.train.layers[name], task.test.layers[name]
    return Prediction(
        fit_predict(model, X, task.train.y, new),
        quality=self_confidence(task, model, name) if scored else None,
    )


CLASSIC: dict[str, Column] = {
    LDA_SHRUNK: on_layer(lda_shrunk),
    f"{LDA_SHRUNK}, first": on_layer(lda_shrunk, first_layer),
    LOGISTIC: on_layer(logistic, scored=True),
    KNN: on_layer(nearest),
    NEAREST: on_layer(nearest_scaled, scored=True),
    BOOSTING: on_layer(boosting, scored=True),
}
"""On the penultimate layer, or on the first one."""
