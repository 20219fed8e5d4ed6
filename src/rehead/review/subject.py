"""What is reviewed: samples, what a head says of them, and what they look like."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from rehead._typing import Array
from rehead._warnings import warn
from rehead.audit.files import audit_source
from rehead.audit.known import KnownRows, known_again
from rehead.audit.memory import was_told
from rehead.audit.protocol import SavedJudge
from rehead.audit.report import LabelReport
from rehead.audit.scores import LabelScores
from rehead.files.cleaned import CleanedFolder
from rehead.files.samples import Source
from rehead.report.shown import Looks, Shown, open_shown
from rehead.review.log import Run, label_to_json

DECISIONS = "decisions.sqlite"
"""The log's name, beside the head."""


@dataclass(frozen=True, eq=False)
class Subject:
    """Samples under review.

    Attributes
    ----------
    report : LabelReport
        What the head says of the given labels.
    X : features, or mapping of layers
        As the head takes them.
    shown : Shown or None
        What samples look like.
    head : str
        Fingerprint of the head's file.
    beside : Path
        The folder of the head, where decisions are kept unless another place is named.
    known : KnownRows or None
        What the head was told of these labels.
    """

    report: LabelReport
    X: Any
    shown: Shown | None
    head: str
    beside: Path
    known: KnownRows | None = None

    def __len__(self) -> int:
        return len(self.report)

    @property
    def model(self) -> Any:
        """The head."""
        return self.report.model

    @property
    def title(self) -> str:
        """For the page."""
        return self.beside.resolve().name

    @cached_property
    def names(self) -> list[str]:
        """The id of each sample as the log has it."""
        return _as_json(self.report.names)

    @cached_property
    def suspects(self) -> Array:
        """Rows of the suspects, worst first."""
        return suspects_of(self.report)

    @cached_property
    def run(self) -> Run:
        """What the decisions are about."""
        return Run(fingerprint_of(self.report), self.head, self.suspects)

    def with_report(self, report: LabelReport, head: str) -> Subject:
        """The same samples, judged by another head."""
        return replace(self, report=report, head=head)


def open_subject(
    head: str | os.PathLike[str], source: Source, looks: Looks | None = None
) -> Subject:
    """Judge labels on disk, and open what their samples look like.

    Parameters
    ----------
    head : path
        A head that ``rehead fit`` wrote, or a saved classifier.
    source : Source
        Features, labels and ids.
    looks : Looks, optional
        Images, texts or a table.
    """
    path = Path(head)
    report, samples = audit_source(path, source)
    model = cast(SavedJudge, report.model)  # files hold no other
    unnamed = report.ids is None
    shown = open_shown(report.names, looks or Looks(), numbered=unnamed, data=source.data)
    X = model.inputs_of(samples.layers)
    known = known_again(report, source, samples.layers)
    if known is None and was_told(model):
        warn(
            "The head was fitted with trusted labels, and those of these samples are not found, or "
            "have changed. This review does not know of them, and a head that is fitted again "
            "forgets them. Start it where the head was fitted, with the same files and labels."
        )
    return Subject(report, X, shown, file_fingerprint(path), path.parent, known)


def folder_parts(folder: str | os.PathLike[str]) -> tuple[Path, Source, Looks]:
    """Head, samples and looks of a folder that `rehead clean` made."""
    cleaned = CleanedFolder(folder)
    source = cleaned.source()  # an error says so if it is no such folder
    if not cleaned.head.is_file():
        raise FileNotFoundError(
            f"There is no {cleaned.head}: `rehead clean` was not finished. The same command goes "
            "on with it."
        )
    return cleaned.head, source, Looks(**cleaned.looks())


def suspects_of(scores: LabelScores) -> Array:
    """Rows whose label is probably wrong, worst first."""
    rows: Array = scores.order[scores.suspect[scores.order]]
    return rows


def file_fingerprint(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint_of(scores: LabelScores) -> str:
    """SHA-256 of ids and given labels, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, score_labels
    >>> X, y = np.array([[0.0], [1.0], [8.0], [9.0]]), ["a", "a", "b", "b"]
    >>> report = score_labels(RobustGaussianClassifier("sample").fit(X, y), X, y)
    >>> fingerprint_of(report) == fingerprint_of(report), len(fingerprint_of(report))
    (True, 64)
    """
    found = hashlib.sha256()
    for column in (scores.names, scores.given):
        for value in _as_json(column):
            found.update(value.encode() + b"\n")
        found.update(b"\0")
    return found.hexdigest()


def _as_json(column: Array) -> list[str]:
    """Ids or labels as the log has them; times as text."""
    values = column.astype(str) if column.dtype.kind in "mM" else column
    return [label_to_json(value) for value in values.tolist()]


def take(X: Any, rows: Array) -> Any:
    """Some rows of features, or of all layers, in memory."""
    if isinstance(X, dict):
        return {name: take(values, rows) for name, values in X.items()}
    return X[rows] if hasattr(X, "names") else np.asarray(X[rows])
