"""The paper's ways to predict, those it compares with, and the default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.audit import score_labels
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble import LayerEnsemble
from rehead.evaluation.comparison import SOFTMAX
from rehead.experiments.task import Part, Prediction, Task
from rehead.gaussian.options import PRESETS, LabelsFrom

Column = Callable[[Task], Prediction]


def softmax(task: Task) -> Prediction:
    """The network itself."""
    if task.test.outputs is None:
        raise ValueError("Frozen features have no softmax.")
    return Prediction(task.test.outputs.argmax(axis=1))


def single(estimator: str, **options: Any) -> Column:
    """Gaussians of the penultimate layer."""

    def predict(task: Task) -> Prediction:
        model = _classifier(estimator, options).fit(task.train.layers[task.last], task.train.y)
        return Prediction(
            model.predict(task.test.layers[task.last]), details=_kept({task.last: model}, task)
        )

    return predict


def ensemble(estimator: str, *, weights: str | None = "nll", **options: Any) -> Column:
    """Gaussians of the paper's layers, weighted by held-out labels."""

    def predict(task: Task) -> Prediction:
        model = fit_taps(task, estimator, weights=weights, **options)
        found = dict(zip(model.members_, model.weights_.tolist(), strict=True))
        details = {"weights": found, **_kept(model.estimators_, task)}
        return Prediction(model.predict(at(task.taps, task.test)), details=details)

    return predict


def fit_taps(task: Task, estimator: str, **options: Any) -> LayerEnsemble:
    """An ensemble of the paper's layers; ``estimator`` may be a preset."""
    if estimator in PRESETS:
        options.pop("weights", None)  # a preset brings its own
    model = LayerEnsemble(random_state=0)
    model.set_params(**_named(estimator), **options)
    held_out = at(task.taps, task.validation), task.validation.y
    return model.fit(at(task.taps, task.train), task.train.y, validation=held_out)


def blocks(task: Task) -> Prediction:
    """MCD of each layer on its own; the last one predicts."""
    accuracy, models = {}, {}
    predicted = np.zeros(0)
    for name, X in task.train.layers.items():
        models[name] = _classifier("mcd", {}).fit(X, task.train.y)
        predicted = models[name].predict(task.test.layers[name])
        accuracy[name] = float((predicted == task.test.y).mean())
    return Prediction(predicted, details={"accuracy": accuracy, **_kept(models, task)})


def auto(task: Task) -> Prediction:
    """The default, as a network's head: the layers it chooses, its witness, the softmax."""
    model = fit_default(task)
    report = score_labels(model, default_inputs(task.auto, task.train), task.train.y)
    found = dict(zip(model.members_, model.weights_.tolist(), strict=True))
    judges = [] if model.consensus_ is None else list(model.consensus_.judges)
    known = not np.isnan(report.noise_least)
    details = {
        "weights": found,
        "judges": judges,
        "noise_error": report.noise_rate_error,
        "noise_range": [report.noise_least, report.noise_most] if known else None,
    }
    predicted = model.predict(default_inputs(task.auto, task.test))
    return Prediction(predicted, report.quality, report.noise_rate, details)


def auto_same_layers(task: Task) -> Prediction:
    """The default with the paper's layers, and the softmax."""
    model = fit_default_on(task, task.taps)
    return Prediction(model.predict(default_inputs(task.taps, task.test)))


@lru_cache(maxsize=1)
def fit_default(task: Task) -> LayerEnsemble:
    """The default; it predicts, and judges labels."""
    return fit_default_on(task, task.auto)


def fit_default_on(
    task: Task,
    layers: tuple[str, ...],
    *,
    labels_from: LabelsFrom | None = None,
    trusted: Array | None = None,
) -> LayerEnsemble:
    """The default of some layers; rows that are ``trusted`` have their true label."""
    inputs, y = default_inputs(layers, task.train), task.train.y
    if trusted is not None:
        y = np.where(trusted, task.truth, y)
    given = [SOFTMAX] if SOFTMAX in inputs else None
    held_out = default_inputs(layers, task.validation), task.validation.y
    model = LayerEnsemble(labels_from=labels_from, random_state=0, given=given)
    return model.fit(inputs, y, validation=held_out, trusted=trusted)


def oracle(task: Task) -> Prediction:
    """Gaussians of truly clean samples only, the paper's layers averaged."""
    total: Any = 0.0
    clean = ~task.changed
    for name in task.taps:
        model = RobustGaussianClassifier("sample", shrinkage="auto")
        model.fit(task.train.layers[name][clean], task.train.y[clean])
        total = total + model.predict_proba(task.test.layers[name])
    return Prediction(model.classes_[np.asarray(total).argmax(axis=1)])


def at(layers: tuple[str, ...], part: Part) -> dict[str, Array]:
    """Some layers of a part."""
    return {name: part.layers[name] for name in layers}


def default_inputs(layers: tuple[str, ...], part: Part) -> dict[str, Array]:
    """Layers, and the network's logits where there are any."""
    found = at(layers, part)
    return found if part.outputs is None else {**found, SOFTMAX: part.outputs}


def _classifier(estimator: str, options: Mapping[str, Any]) -> RobustGaussianClassifier:
    model = RobustGaussianClassifier(random_state=0)
    model.set_params(**_named(estimator), **options)
    return model


def _named(estimator: str) -> dict[str, str]:
    return {"preset" if estimator in PRESETS else "estimator": estimator}


def _kept(models: Mapping[str, RobustGaussianClassifier], task: Task) -> dict[str, Any]:
    """How many samples each layer kept, and the share of them whose label is right."""
    supports = {name: model.support_ for name, model in models.items()}
    return {
        "kept": {name: len(task.changed[s]) for name, s in supports.items()},
        "clean_kept": {name: float((~task.changed[s]).mean()) for name, s in supports.items()},
    }
