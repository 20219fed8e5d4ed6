"""rehead gives a trained network a new head that wrong labels do not mislead.

Importing it never imports torch; :mod:`rehead.torch` does.
"""

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
