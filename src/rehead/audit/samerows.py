"""Whether features and labels belong to one another: what a model knows of rows tells.

Arrays have no names, so rows in another order pass every check of shapes. But a model judges a row
as it did before, and recognises the rows that it was fitted on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rehead._typing import Array
from rehead._warnings import warn
from rehead.audit.inputs import check_same_rows, count_labels, rows_of
from rehead.audit.protocol import LabelJudge
from rehead.audit.scores import LabelScores
from rehead.gaussian.kernels import evenly_spaced

ASKED = 200
"""Rows that are judged again, to see whether they are those of a report."""
CLOSE = 0.1
"""Qualities and p-values that differ by more are not of the same row. Rows that are rounded since
the fit are no longer recognised, and judged as new ones, which changes less."""
OTHERS = 0.5
"""Share of rows that do not look the same, above which they are others: p-values of two rows differ
by more than the above in 4 of 5 cases."""
JUDGED = 5000
"""Rows times classes that are judged to see whether labels are those of the fit."""
FEWEST = 10
"""Rows of the fit that it takes to say that their labels are others."""


def check_judged(report: LabelScores, X: Any) -> None:
    """Raise if features are not those that a report is about, in its order.

    Some rows are judged again. If many get another quality, or are as usual as other rows were,
    they are other rows.

    Parameters
    ----------
    report : LabelScores
        With its model.
    X : array-like, or mapping of layers
        Features that are said to be those that were judged.
    """
    model = report.model
    assert model is not None
    n = count_labels(model, X)
    if n != len(report):
        raise ValueError(
            f"X must be the features that were judged, {len(report)} rows; got {n}. Pass those."
        )
    check_same_rows(X, report.ids)
    rows = evenly_spaced(n, ASKED)
    some, codes = rows_of(X, rows), _codes(report)[rows]
    leave_out = report.in_sample[rows]
    differs = np.abs(model.judge_labels(some, codes, leave_out).quality - report.quality[rows])
    typical = _typicality(model, some, codes, leave_out)
    if typical is not None:
        differs = np.fmax(differs, np.abs(typical - report.typicality[rows]))
    strange = np.flatnonzero(differs > CLOSE)
    if len(strange) > OTHERS * len(rows):
        raise ValueError(
            "The rows of X are not those that were judged, or are in another order: of "
            f"{len(rows)} rows that were judged again, {len(strange)} are not what the report says "
            f"(row {int(rows[strange[0]])} first). Pass the X that score_labels was given, or "
            "judge these rows: score_labels(model, X, y)."
        )


def warn_of_other_labels(model: LabelJudge, X: Any, codes: Array, known: Array) -> None:
    """Say so if a model was fitted on these rows, but most of them had other labels then.

    Parameters
    ----------
    model : LabelJudge
    X : array-like, or mapping of layers
    codes : array of shape (n_samples,)
        Of the labels that are judged now.
    known : boolean array of shape (n_samples,)
        Rows that the model was fitted on with these labels.
    """
    if known.mean() > 0.5:
        return
    n_classes = len(model.classes_)
    rows = evenly_spaced(len(codes), int(np.clip(JUDGED // n_classes, FEWEST, ASKED)))
    some, nothing = rows_of(X, rows), np.zeros(len(rows), bool)
    with_any_label = known[rows].copy()
    for code in range(n_classes):
        of_one = np.full(len(rows), code)
        with_any_label |= model.judge_labels(some, of_one, nothing).known
    fitted, other = int(with_any_label.sum()), int((with_any_label & ~known[rows]).sum())
    if fitted >= FEWEST and other > fitted / 2:
        warn(
            f"The model was fitted on these rows, but {other} of {fitted} that were looked at had "
            "another label then. If y is in another order than X, bring both into one. If labels "
            "were corrected since, fit the model again with them."
        )


def _codes(report: LabelScores) -> Array:
    code_of = {label: code for code, label in enumerate(report.classes.tolist())}
    return np.array([code_of[label] for label in report.given.tolist()], np.int64)


def _typicality(model: LabelJudge, X: Any, codes: Array, leave_out: Array) -> Array | None:
    without, plain = model.judge_typicality(X, codes), model.judge_typicality(X)
    if without is None or plain is None:
        return None
    typical: Array = np.where(leave_out, without, plain)
    return typical
