"""rehead gives a trained network a new head that wrong labels do not mislead.

Importing it is quick: names are loaded when they are first used, and torch only by
:mod:`rehead.torch`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rehead._validation import ReheadWarning
    from rehead.audit import LabelReport, find_mislabelled, score_labels
    from rehead.classifier import RobustGaussianClassifier
    from rehead.ensemble import LayerEnsemble

__version__ = "0.1.0"

__all__ = [
    "LabelReport",
    "LayerEnsemble",
    "ReheadWarning",
    "RobustGaussianClassifier",
    "__version__",
    "find_mislabelled",
    "score_labels",
]

_HOME = {
    "LabelReport": "audit",
    "LayerEnsemble": "ensemble",
    "ReheadWarning": "_validation",
    "RobustGaussianClassifier": "classifier",
    "find_mislabelled": "audit",
    "score_labels": "audit",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"rehead.{_HOME[name]}"), name)
    if name in ("data", "noise", "torch"):
        return import_module(f"rehead.{name}")
    raise AttributeError(f"module 'rehead' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "data", "noise", "torch"])
