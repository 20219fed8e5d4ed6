"""Softmax, each layer and the robust ensemble, scored side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.ensemble.estimator import LayerEnsemble
from rehead.evaluation.metrics import Scores, scores

SOFTMAX, ROG = "softmax", "RoG (the paper)"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of several ways to predict the same samples; ``print`` shows a table.

    Attributes
    ----------
    rows : dict of name to Scores (accuracy, nll, calibration_error)
        "softmax" first where the network's output is known, "robust" last; before it the paper's
        method, where it was estimated as well.
    n_samples : int
    """

    rows: dict[str, Scores]
    n_samples: int

    def __str__(self) -> str:
        width = max(len(name) for name in self.rows)
        lines = [f"{'':{width}}  accuracy     NLL  calibration error   ({self.n_samples} samples)"]
        for name, s in self.rows.items():
            lines.append(
                f"{name:{width}}  {s.accuracy:8.4f}  {s.nll:6.3f}  {s.calibration_error:17.4f}"
            )
        return "\n".join(lines)


def compare_ensemble(
    model: LayerEnsemble,
    layers: Mapping[str, Any],
    y: Any,
    outputs: Array | None = None,
    rog: LayerEnsemble | None = None,
) -> Comparison:
    """Score an ensemble, its members, and the softmax of the network's ``outputs``.

    ``rog`` is another ensemble of (some of) the same layers, as the paper has it.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import LayerEnsemble
    >>> y = np.repeat([0, 1], 30)
    >>> layers = {"last": np.random.default_rng(0).normal(size=(60, 2)) + 9 * y[:, None]}
    >>> comparison = compare_ensemble(LayerEnsemble("sample").fit(layers, y), layers, y)
    >>> comparison.rows["robust"].accuracy
    1.0
    """
    posteriors = model.member_posteriors(layers)
    codes = check.known_codes(check.check_labels(y, len(posteriors[0])), model.classes_)
    rows = {}
    if outputs is not None:
        rows[SOFTMAX] = scores(own_softmax(outputs, model.classes_), codes)
    for name, posterior in zip(model.layers_, posteriors, strict=True):
        if name not in rows:
            rows[name] = scores(posterior, codes)
    if rog is not None:
        rows[ROG] = scores(rog.predict_proba({name: layers[name] for name in rog.layers_}), codes)
    rows["robust"] = scores(model.predict_proba(layers), codes)
    return Comparison(rows, len(codes))


def columns_of_classes(n_outputs: int, classes: Array) -> Array | None:
    """Which output of a network is which class, or None if that is not clear."""
    if classes.dtype.kind in "iu" and classes.min() >= 0 and classes.max() < n_outputs:
        return classes
    return np.arange(n_outputs) if len(classes) == n_outputs else None


def own_softmax(outputs: Array, classes: Array) -> Array:
    """The network's own posterior of the given classes.

    Whole-numbered classes are columns of the output; others are its columns in sorted order.
    """
    columns = columns_of_classes(outputs.shape[1], classes)
    if columns is None:
        raise ValueError(
            f"The network has {outputs.shape[1]} outputs and there are {len(classes)} classes "
            f"({list(classes[:5])} ...): it is not clear which output is which class. Use whole "
            "numbers, as in training, for the labels."
        )
    z: Array = outputs[:, columns].astype(np.float64)
    z = np.exp(z - z.max(axis=1, keepdims=True))
    z /= z.sum(axis=1, keepdims=True)
    return z
