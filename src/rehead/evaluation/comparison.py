"""Softmax, each layer and the robust ensemble, scored side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rehead import _validation as check
from rehead._typing import Array
from rehead.ensemble import LayerEnsemble
from rehead.ensemble.fitted import mixture
from rehead.evaluation.baselines import TITLES
from rehead.evaluation.metrics import Scores, scores
from rehead.evaluation.outputs import ClassOutputs, check_class_names, read_outputs_as

SOFTMAX, ROBUST = "softmax", "robust"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of several ways to predict the same samples; ``print`` shows a table.

    Attributes
    ----------
    rows : dict of name to Scores (accuracy, nll, calibration_error)
        "softmax" first where the network's output is known, then the members, the baselines where
        there are any, and "robust" last.
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
    baselines: Mapping[str, LayerEnsemble] = MappingProxyType({}),
    *,
    class_names: Iterable[Any] | None = None,
    read_as: ClassOutputs | None = None,
) -> Comparison:
    """Score an ensemble, its members, and the softmax of the network's ``outputs``.

    ``baselines`` are other ensembles of (some of) the same layers. ``class_names`` are the labels
    of the outputs, in their order; without them the labels ``y`` tell whether the order is clear,
    and where it is not, a warning does. ``read_as`` says it all, where it was found out before.

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
    if outputs is not None and outputs.shape[1] == 0:
        outputs = None  # an encoder without logits
    if outputs is not None and read_as is None:
        names = check_class_names(class_names)
        read_as = read_outputs_as(outputs, model.classes_[codes], model.classes_, names)
    if outputs is not None and read_as is not None:
        rows[SOFTMAX] = scores(read_as.posterior(outputs), codes)
    for name, posterior in zip(model.members_, posteriors, strict=True):
        if name not in rows:
            rows[name] = scores(posterior, codes)
    for name, other in baselines.items():
        own = {layer: layers[layer] for layer in other.inputs_.names}
        rows[_title(name, rows)] = scores(other.predict_proba(own), codes)
    if ROBUST in rows:  # a layer of that name
        rows[f"{ROBUST} (layer)"] = rows.pop(ROBUST)
    rows[ROBUST] = scores(mixture(model.weights_, posteriors), codes)
    return Comparison(rows, len(codes))


def _title(baseline: str, rows: Mapping[str, Scores]) -> str:
    title = TITLES.get(baseline, baseline)
    return title if title not in rows else f"{title} (baseline)"
