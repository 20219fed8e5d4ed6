"""A head that knows of the decisions, and what they were worth."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.audit.report import LabelReport
from rehead.audit.scoring import score_labels
from rehead.ensemble import LayerEnsemble
from rehead.report.contents import truth_codes
from rehead.review.corrected import Corrected, known_after
from rehead.review.subject import Subject, take


class Gain(NamedTuple):
    """What a review has changed.

    Attributes
    ----------
    relabelled, kept, out_of_scope : int
        How many labels were corrected or kept, and how many samples left out.
    noise : (float, float)
        Estimated share of wrong labels, before and after.
    suspects : (int, int)
        Suspects before; after, those that nobody has decided.
    right_labels, accuracy : (float, float) or None
        Where true labels are known: share of labels that are right, and of predictions for the
        samples under review, before and after.
    """

    relabelled: int
    kept: int
    out_of_scope: int
    noise: tuple[float, float]
    suspects: tuple[int, int]
    right_labels: tuple[float, float] | None = None
    accuracy: tuple[float, float] | None = None

    def __str__(self) -> str:
        if not (self.relabelled or self.kept or self.out_of_scope):
            return "Nothing is decided yet, so nothing changes. Decisions: rehead review."
        lines = [
            f"{self.relabelled} labels corrected, {self.kept} kept, {self.out_of_scope} out "
            "of scope.",
            f"Estimated wrong labels: {_change(self.noise)}.",
            f"Suspects: {self.suspects[0]} by the old head; by the new one {self.suspects[1]} "
            "that nobody has decided.",
        ]
        if self.right_labels is not None and self.accuracy is not None:
            lines.append(f"Labels that are right: {_change(self.right_labels)}.")
            lines.append(f"Accuracy of the head on these samples: {_change(self.accuracy)}.")
        return "\n".join(lines)


class Refitted(NamedTuple):
    """A new head, and its report on the corrected labels, in the order of the samples."""

    model: Any
    report: LabelReport


def refit(subject: Subject, corrected: Corrected, validation: Any = None) -> Refitted:
    """Fit the head again, with the same settings, on corrected labels.

    Decided labels are trusted; those of random draws may also choose how to fit. The noise is that
    of the labels as they were, before any was corrected. Samples out of scope are left out, but
    judged with the others.

    Parameters
    ----------
    subject : Subject
    corrected : Corrected
    validation : (layers, labels), optional
        Held-out samples, for a head of several layers.
    """
    counts = corrected.weights > 0
    rows = np.flatnonzero(counts)
    if set(np.unique(corrected.labels[rows]).tolist()) != set(subject.report.classes.tolist()):
        raise ValueError(
            "After these decisions a class has no samples left. Correct fewer, or fit a new head "
            "on the corrected labels: rehead fit DATA --labels CORRECTED:label."
        )
    old = subject.model
    X, labels = take(subject.X, rows), corrected.labels[rows]
    found = known_after(corrected, subject.known)
    told = {"trusted": found.trusted, "uncorrected": found.uncorrected}
    known = {name: of_all[rows] for name, of_all in told.items() if of_all is not None}
    new = type(old)(**old.get_params(deep=False))
    if isinstance(new, LayerEnsemble):
        new.fit(X, labels, validation=validation, progress=False, **known)
        new.inputs_.network = old.inputs_.network
    else:
        new.fit(X, labels, **known)
    report = score_labels(new, subject.X, corrected.labels, ids=subject.report.ids)
    return Refitted(new, report)


def gain_of(
    subject: Subject, corrected: Corrected, refitted: Refitted, truth: Array | None = None
) -> Gain:
    """What decisions and the new head have changed."""
    before, after = subject.report, refitted.report
    undecided = ~corrected.trusted & (corrected.weights > 0)
    gain = Gain(
        relabelled=int(corrected.changed.sum()),
        kept=int((corrected.trusted & ~corrected.changed).sum()),
        out_of_scope=int((corrected.weights == 0).sum()),
        noise=(before.noise_rate, _noise_left(after, corrected)),
        suspects=(int(before.suspect.sum()), int((after.suspect & undecided).sum())),
    )
    if truth is None:
        return gain
    codes = truth_codes(subject.report, truth)
    known = codes >= 0
    true = subject.report.classes[codes[known]]
    right = [float((each[known] == true).mean()) for each in (corrected.given, corrected.labels)]
    hit = [
        float((model.classes_[_predicted(model, subject.X)][known] == true).mean())
        for model in (subject.model, refitted.model)
    ]
    return gain._replace(right_labels=(right[0], right[1]), accuracy=(hit[0], hit[1]))


def _predicted(model: Any, X: Any) -> Array:
    codes: Array = model.predict_proba(X).argmax(axis=1)
    return codes


def _noise_left(report: LabelReport, corrected: Corrected) -> float:
    """Decided labels are right, and samples out of scope are no longer counted."""
    counts = corrected.weights > 0
    wrong = np.where(corrected.trusted, 0.0, 1.0 - report.quality)
    return float(wrong[counts].mean()) if counts.any() else 0.0


def _change(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.1%} -> {pair[1]:.1%}"
