"""What an audit, typicality and abstention ask of a fitted model: one protocol for all kinds.

A model of another kind can be audited as soon as it has these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

from rehead._typing import Array
from rehead.gaussian import NoiseModel
from rehead.verdicts import LabelVerdicts


class LabelJudge(Protocol):
    """A fitted model that can judge labels.

    ``X`` is whatever the model takes: one array of features, or a mapping of layers. ``codes`` are
    positions in ``classes_``.
    """

    classes_: Array
    noise_: NoiseModel | None

    def count_samples(self, X: Any) -> int:
        """How many samples there are; an error says what to pass where X is of another kind."""

    def check_inputs(self, X: Any) -> None:
        """Raise if some of the features cannot be used; the error has the number of the row."""

    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities of the classes."""

    def judge_labels(self, X: Any, codes: Array, leave_out: Array) -> LabelVerdicts:
        """Judge labels; rows of the fit without themselves where ``leave_out`` says so."""

    def judge_typicality(self, X: Any, codes: Array | None = None) -> Array | None:
        """How usual samples are, as p-values; None where the model cannot tell.

        With codes, rows of the fit are judged without themselves.
        """

    def judging_space(self, X: Any) -> Array:
        """Samples in the space where Euclidean distances are those that labels are judged by."""


class SavedJudge(LabelJudge, Protocol):
    """One that files hold, and that takes what files of features hold."""

    @classmethod
    def load(cls, path: Any) -> Self:
        """Read it from a file."""

    def inputs_of(self, layers: Mapping[str, Any]) -> Any:
        """What it takes of features by layer name."""

    def column_names(self, layer: str) -> Array | None:
        """The names of the columns that a layer was fitted on, where they had any."""
