"""What users pass as a model: one that can judge labels, or a Pipeline that ends in one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.exceptions import NotFittedError

from rehead._typing import Array
from rehead.audit.protocol import LabelJudge
from rehead.gaussian import NoiseModel
from rehead.verdicts import LabelVerdicts


class PipelineJudge:
    """Asks the last step of a pipeline about what the others make of the samples.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Fitted; its last step is a LabelJudge.
    """

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline
        self._judge: LabelJudge = pipeline[-1]
        self.classes_: Array = self._judge.classes_
        self.noise_: NoiseModel | None = self._judge.noise_

    def _transformed(self, X: Any) -> Any:
        return self.pipeline[:-1].transform(X) if len(self.pipeline) > 1 else X

    def count_samples(self, X: Any) -> int:
        """How many samples there are."""
        return self._judge.count_samples(self._transformed(X))

    def check_inputs(self, X: Any) -> None:
        """Raise if some of the features cannot be used."""
        self._judge.check_inputs(self._transformed(X))

    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities of the classes."""
        return self._judge.predict_proba(self._transformed(X))

    def judge_labels(self, X: Any, codes: Array, leave_out: Array) -> LabelVerdicts:
        """Judge labels; rows of the fit without themselves where ``leave_out`` says so."""
        return self._judge.judge_labels(self._transformed(X), codes, leave_out)

    def judge_typicality(self, X: Any, codes: Array | None = None) -> Array | None:
        """How usual samples are, as p-values."""
        return self._judge.judge_typicality(self._transformed(X), codes)

    def judging_space(self, X: Any) -> Array:
        """Samples in the space where Euclidean distances are those that labels are judged by."""
        return self._judge.judging_space(self._transformed(X))


def is_pipeline(model: Any) -> bool:
    """Whether a model is a scikit-learn Pipeline."""
    return hasattr(model, "steps") and hasattr(model, "named_steps")


METHODS = (
    "count_samples",
    "check_inputs",
    "predict_proba",
    "judge_labels",
    "judge_typicality",
    "judging_space",
)
"""Of a LabelJudge; ``classes_`` and ``noise_`` are there once it is fitted."""


def as_judge(model: Any, need: str, of_head: str) -> LabelJudge:
    """The model, if it is fitted and can judge; ``of_head`` is what a RobustHead has instead."""
    if is_pipeline(model):
        as_judge(model[-1], need, of_head)
        return PipelineJudge(model)
    kind = type(model).__name__
    missing = [name for name in METHODS if not callable(getattr(model, name, None))]
    if missing:
        hint = f" {of_head}" if kind == "RobustHead" else ""
        if hasattr(model, "best_estimator_"):
            hint = " Pass its best_estimator_."
        if isinstance(model, Mapping) or (_is_data(model) and not hasattr(model, "fit")):
            hint = " The model comes first: (model, X, y) or (model, X)."
        raise TypeError(
            f"{need} by a RobustGaussianClassifier, a LayerEnsemble, or another model with the "
            f"methods of rehead.audit.protocol.LabelJudge; a {kind} has no {missing[0]}.{hint}"
        )
    if not hasattr(model, "classes_"):
        raise NotFittedError(f"This {kind} is not fitted yet. Call fit first.")
    if not hasattr(model, "noise_"):
        raise TypeError(f"This {kind} has no noise_. It must be a NoiseModel, or None.")
    judge: LabelJudge = model
    return judge


def _is_data(given: Any) -> bool:
    """Whether it looks like samples or labels."""
    return isinstance(given, (list, tuple)) or hasattr(given, "shape")
