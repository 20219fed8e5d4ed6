"""rehead gives a trained network a new head that wrong labels do not mislead.

Importing it is quick: names are loaded when they are first used, and torch only by
:mod:`rehead.torch`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rehead._warnings import ReheadWarning
    from rehead.audit import LabelReport, find_mislabelled, score_labels
    from rehead.audit.abstention import Abstention, abstention_threshold, predict_or_abstain
    from rehead.audit.outliers import typicality
    from rehead.classifier import RobustGaussianClassifier
    from rehead.ensemble import LayerEnsemble

__version__ = "0.4.3"

__all__ = [
    "Abstention",
    "LabelReport",
    "LayerEnsemble",
    "ReheadWarning",
    "RobustGaussianClassifier",
    "__version__",
    "abstention_threshold",
    "find_mislabelled",
    "predict_or_abstain",
    "score_labels",
    "typicality",
]

_HOME = {
    "Abstention": "audit.abstention",
    "LabelReport": "audit",
    "LayerEnsemble": "ensemble",
    "ReheadWarning": "_warnings",
    "RobustGaussianClassifier": "classifier",
    "abstention_threshold": "audit.abstention",
    "find_mislabelled": "audit",
    "predict_or_abstain": "audit.abstention",
    "score_labels": "audit",
    "typicality": "audit.outliers",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"rehead.{_HOME[name]}"), name)
    if name in ("data", "noise", "torch"):
        return import_module(f"rehead.{name}")
    raise AttributeError(f"module 'rehead' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "data", "noise", "torch"])
