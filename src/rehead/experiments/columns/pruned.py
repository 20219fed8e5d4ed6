"""Classifiers after cleanlab threw out what it takes for wrong labels.

``cleanlab, LDA`` has shrunk LDA and ``cleanlab, LR`` logistic regression, before and after.
"""

from __future__ import annotations

import warnings
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from rehead._typing import Array
from rehead.experiments.columns.classic import (
    Classifier,
    Layer,
    first_layer,
    fit_predict,
    last_layer,
    lda_shrunk,
    logistic,
)
from rehead.experiments.columns.gaussian import Column, fit_default
from rehead.experiments.peers.verdict import spare_classes
from rehead.experiments.task import Prediction, Task

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
WITH_JUDGES = "auroc_with_judges_features"
"""Detail: how well wrong labels are found with the features that the default's judges had."""


def pruned(model: Classifier, layer: Layer = last_layer, *, judging: bool = False) -> Column:
    """A classifier of one layer, as a column, after cleanlab.

    Parameters
    ----------
    model : callable
        Makes the classifier.
    layer : callable
    judging : bool
        Whether cleanlab also ranks labels with the features of the default's judges, as the detail
        ``auroc_with_judges_features``. The first column of a task that asks pays for the default.
    """
    return partial(_predict, model, layer, judging)


def _predict(model: Classifier, layer: Layer, judging: bool, task: Task) -> Prediction:
    cleanlab = load_cleanlab()
    name = layer(task)
    X, y = task.train.layers[name], task.train.y
    posterior = out_of_sample(task, model, (name,))
    wrong = spare_classes(cleanlab.filter.find_label_issues(y, posterior, n_jobs=1), y)
    return Prediction(
        fit_predict(model, X[~wrong], y[~wrong], task.test.layers[name]),
        quality=cleanlab.rank.get_label_quality_scores(y, posterior),
        details={
            "kept": {name: int((~wrong).sum())},
            "clean_kept": {name: float((~task.changed[~wrong]).mean())},
            **(_with_judges(task, model) if judging else {}),
        },
    )


def _with_judges(task: Task, model: Classifier) -> dict[str, Any]:
    """How well cleanlab finds wrong labels with what the default's judges see."""
    if not task.changed.any():
        return {}
    posterior = out_of_sample(task, model, judging_layers(task))
    quality = load_cleanlab().rank.get_label_quality_scores(task.train.y, posterior)
    return {WITH_JUDGES: float(roc_auc_score(~task.changed, quality))}


def judging_layers(task: Task) -> tuple[str, ...]:
    """The layers by which the default judges labels: all of them where it finds no consensus."""
    consensus = fit_default(task).consensus_
    return task.auto if consensus is None else tuple(consensus.judges)


@lru_cache(maxsize=4)
def out_of_sample(task: Task, model: Classifier, layers: tuple[str, ...]) -> Array:
    """Posteriors of models that did not see the row; pruning and ranking both need them."""
    X = np.concatenate([task.train.layers[name] for name in layers], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(
            cross_val_predict(model(), X, task.train.y, cv=FOLDS, method="predict_proba")
        )


def load_cleanlab() -> Any:
    """The package, which only these columns need."""
    try:
        import cleanlab.filter
        import cleanlab.rank
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "The columns with cleanlab need the package. Install it with: pip install cleanlab",
            name=error.name,
        ) from error
    return cleanlab


PRUNED: dict[str, Column] = {
    "cleanlab, LDA": pruned(lda_shrunk, judging=True),
    "cleanlab, LR": pruned(logistic, judging=True),
    "cleanlab, LDA, first": pruned(lda_shrunk, first_layer),
}
"""On the penultimate layer, or on the first one."""
