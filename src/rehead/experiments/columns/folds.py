"""Posteriors of training samples by models that did not see them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from rehead._typing import Array
from rehead.experiments.task import Task

Classifier = Callable[[], Any]
"""Makes a classifier as scikit-learn knows them."""
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
SMALL_CLASS = "The least populated class"
"""How scikit-learn's warning begins where a class is in fewer folds than there are."""


@lru_cache(maxsize=8)
def out_of_sample(task: Task, model: Classifier, layers: tuple[str, ...]) -> Array:
    """Posteriors of models that did not see the row; pruning and ranking both need them."""
    X = np.concatenate([task.train.layers[name] for name in layers], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", SMALL_CLASS)
        return np.asarray(
            cross_val_predict(model(), X, task.train.y, cv=FOLDS, method="predict_proba")
        )


def self_confidence(task: Task, model: Classifier, layer: str) -> Array:
    """The out-of-sample posterior of each training sample's own label; low is suspect."""
    posterior = out_of_sample(task, model, (layer,))
    # Columns are of the labels that occur.
    column = np.unique(task.train.y, return_inverse=True)[1]
    found: Array = posterior[np.arange(len(column)), column]
    return found
