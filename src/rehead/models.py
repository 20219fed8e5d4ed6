"""What an audit, typicality and abstention ask of a fitted model of either kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from rehead import _validation as check
from rehead._typing import Array
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble.estimator import LayerEnsemble
from rehead.fingerprint import fingerprint
from rehead.gaussian.labelnoise import NoiseModel
from rehead.gaussian.posterior import Kept

Model = RobustGaussianClassifier | LayerEnsemble


def check_model(model: Any, need: str, of_head: str) -> None:
    """A fitted model of ours; ``of_head`` is what a RobustHead has instead."""
    if not isinstance(model, Model):
        hint = f" {of_head}" if type(model).__name__ == "RobustHead" else ""
        raise TypeError(
            f"{need} by a RobustGaussianClassifier or a LayerEnsemble, got "
            f"{type(model).__name__}.{hint}"
        )
    check_is_fitted(model)


def n_samples(model: Model, X: Any) -> int:
    """How many samples there are; layers where features belong are an error."""
    if isinstance(model, LayerEnsemble):
        check.check_layers(X, expected=model._inputs)
        return int(_num_samples(next(iter(X.values()))))
    if isinstance(X, Mapping):
        raise ValueError(
            f"The model was fitted on one array of features, got a dict of {list(X)}. Pass the "
            "features themselves, or fit a LayerEnsemble."
        )
    return int(_num_samples(X))


def noise_of(model: Model) -> NoiseModel | None:
    """What the model found out about the noise, if it measured it."""
    if isinstance(model, LayerEnsemble):
        return None if model.judgement_ is None else model.judgement_.noise
    return model.noise_


def recognised(model: RobustGaussianClassifier, X: Array, codes: Array) -> tuple[Array, Kept]:
    """Which rows the model was fitted on with these labels, and how much of each it contains.

    Nothing of it where a row is new.
    """
    hashes = fingerprint(X.astype(model.means_.dtype, copy=False), codes)
    at = np.searchsorted(model._seen, hashes).clip(max=len(model._seen) - 1)
    known: Array = model._seen[at] == hashes
    counted = known & (model._seen_weights[at] > 0)
    rows = np.where(counted, model._seen_weights[at], 0.0)
    members = np.where(counted, model._seen_members[at], codes)
    return known, Kept(rows, members, class_weights(model))


def class_weights(model: RobustGaussianClassifier) -> Array:
    """How much of each class the estimates contain."""
    weights: Array = np.bincount(
        model._seen_members + 1, weights=model._seen_weights, minlength=len(model.classes_) + 1
    )[1:]
    return weights
