"""The columns of the accuracy grid: ways to predict, and ways to find wrong labels.

Each takes a task and gives the predicted classes of its test part, or the suspicion of each
training label.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tasks import Part, Task

from rehead import LayerEnsemble, RobustGaussianClassifier

Array = np.ndarray
SOFTMAX = "softmax"
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def first(task: Task) -> str:
    """The layer next to the input, or the input itself."""
    return next(iter(task.train.layers))


def last(task: Task) -> str:
    """The penultimate layer."""
    return list(task.train.layers)[-1]


def lda() -> RobustGaussianClassifier:
    """Sample estimates, shrunk."""
    return RobustGaussianClassifier("sample", shrinkage="auto")


def logistic() -> Any:
    """Logistic regression on standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=200, tol=1e-3))


def single(model: Callable[[], BaseEstimator], layer: Callable[[Task], str]) -> Any:
    """A classifier of one layer."""

    def predict(task: Task) -> Array:
        name = layer(task)
        fitted = model().fit(task.train.layers[name], task.train.y)
        return np.asarray(fitted.predict(task.test.layers[name]))

    return predict


def pruned(model: Callable[[], BaseEstimator], layer: Callable[[Task], str]) -> Any:
    """A classifier of one layer, after cleanlab threw out what it takes for wrong labels."""

    def predict(task: Task) -> Array:
        name = layer(task)
        X, y = task.train.layers[name], task.train.y
        wrong = find_label_issues(y, out_of_sample(task, model, (name,)), n_jobs=1)
        # Where cleanlab leaves nothing of a class, the class stays as it is.
        for c in np.unique(y):
            if wrong[y == c].all():
                wrong[y == c] = False
        return np.asarray(model().fit(X[~wrong], y[~wrong]).predict(task.test.layers[name]))

    return predict


@lru_cache(maxsize=4)
def out_of_sample(task: Task, model: Callable[[], Any], layers: tuple[str, ...]) -> Array:
    """Posteriors of models that did not see the row; pruning and ranking both need them."""
    X = np.concatenate([task.train.layers[name] for name in layers], axis=1)
    return np.asarray(cross_val_predict(model(), X, task.train.y, cv=FOLDS, method="predict_proba"))


def with_softmax(part: Part) -> dict[str, Array]:
    """Layers, and the network's logits where there are any."""
    return part.layers if part.outputs is None else {**part.layers, SOFTMAX: part.outputs}


def layers_only(part: Part) -> dict[str, Array]:
    """Layers without the network's outputs."""
    return part.layers


def fit_ensemble(
    task: Task, view: Callable[[Part], dict[str, Array]] = layers_only, **options: Any
) -> LayerEnsemble:
    """An ensemble of all layers."""
    given = [SOFTMAX] if SOFTMAX in view(task.train) else None
    model = LayerEnsemble(random_state=0, given=given, **options)
    held_out = view(task.validation), task.validation.y
    return model.fit(view(task.train), task.train.y, validation=held_out)


def ensemble(**options: Any) -> Callable[[Task], Array]:
    """An ensemble with some options."""
    return lambda task: np.asarray(fit_ensemble(task, **options).predict(task.test.layers))


def softmax(task: Task) -> Array:
    """The network itself; for frozen features, logistic regression."""
    if task.test.outputs is None:
        return np.asarray(single(logistic, last)(task))
    return task.test.outputs.argmax(axis=1)


@lru_cache(maxsize=1)
def default(task: Task) -> LayerEnsemble:
    """The default, with the network's softmax to choose; it predicts, and judges labels."""
    return fit_ensemble(task, with_softmax)


def auto(task: Task) -> Array:
    """What the default predicts."""
    return np.asarray(default(task).predict(with_softmax(task.test)))


def oracle(task: Task) -> Array:
    """The same Gaussians from truly clean samples only, layers averaged."""
    total = 0.0
    for name, X in task.train.layers.items():
        model = lda().fit(X[~task.changed], task.train.y[~task.changed])
        total = total + model.predict_proba(task.test.layers[name])
    return np.asarray(model.classes_[np.asarray(total).argmax(axis=1)])


def one(estimator: str, **options: Any) -> Callable[[], BaseEstimator]:
    """A classifier with some options."""
    return lambda: RobustGaussianClassifier(estimator, random_state=0, **options)


PEERS: dict[str, Callable[[Task], Array]] = {
    "softmax": softmax,
    "LDA": single(lda, last),
    "RoG": single(one("mcd"), last),
    "RoG ensemble": ensemble(preset="paper"),
    "authors' variant": ensemble(preset="authors"),
    "kNN-50": single(lambda: KNeighborsClassifier(50), last),
    "cleanlab, LDA": pruned(lda, last),
    "cleanlab, LR": pruned(logistic, last),
}
FIRST_LAYER: dict[str, Callable[[Task], Array]] = {
    "LDA, first": single(lda, first),
    "cleanlab, LDA, first": pruned(lda, first),
}
SPECIALISTS: dict[str, Callable[[Task], Array]] = {
    "LDA, equal": ensemble(estimator="sample", shrinkage="auto", weights="equal"),
    "posterior": ensemble(estimator="posterior", shrinkage="auto", weights="equal"),
    "agreement": ensemble(estimator="agreement", shrinkage="auto", weights="equal"),
    "mixture": ensemble(estimator="mixture", weights="equal"),
    "anchored": ensemble(estimator="anchored", weights="equal"),
    "anchored, stacked": ensemble(estimator="anchored", stack=True),
    "anchored, first": single(one("anchored"), first),
}
COLUMNS = {**PEERS, **FIRST_LAYER, **SPECIALISTS, "auto": auto, "oracle": oracle}


def cleanlab_quality(task: Task, judges: list[str]) -> dict[str, Array]:
    """Cleanlab's quality of each training label, with the features that our judge had."""
    return {
        name: get_label_quality_scores(task.train.y, out_of_sample(task, model, tuple(judges)))
        for name, model in (("LDA", lda), ("LR", logistic))
    }
