"""Classifiers after cleanlab threw out what it takes for wrong labels.

``cleanlab, LDA`` has shrunk LDA and ``cleanlab, LR`` logistic regression, before and after; the
others have the classifier that they name.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.metrics import roc_auc_score

from rehead.experiments.columns.classic import (
    BOOSTING,
    NEAREST,
    Layer,
    boosting,
    first_layer,
    fit_predict,
    last_layer,
    lda_shrunk,
    logistic,
    nearest_scaled,
)
from rehead.experiments.columns.folds import Classifier, out_of_sample
from rehead.experiments.columns.gaussian import Column, fit_default
from rehead.experiments.peers.verdict import spare_classes
from rehead.experiments.task import Prediction, Task

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
    f"cleanlab, {NEAREST}": pruned(nearest_scaled),
    f"cleanlab, {BOOSTING}": pruned(boosting),
}
"""On the penultimate layer, or on the first one."""
