"""Reports as tables, files, and in the shape that cleanlab gives."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rehead import _validation as check
from rehead._typing import Array

if TYPE_CHECKING:
    from rehead.audit.report import LabelReport

RANKINGS = ("self_confidence", "normalized_margin")


def columns(report: LabelReport, *, worst_first: bool) -> dict[str, Array]:
    """The columns of a report, ids first."""
    by = report.order if worst_first else np.arange(len(report))
    name = "row" if report.ids is None else "id"
    return {
        name: report.names[by],
        "given": report.given[by],
        "suggested": report.suggested[by],
        "quality": report.quality[by],
        "suggested_probability": report.suggested_probability[by],
        "kind": report.kind[by],
        "typicality": report.typicality[by],
    }


def as_text(columns: dict[str, Array]) -> dict[str, Array]:
    """The same columns for a file: times as text, which else may become numbers of nanoseconds."""
    return {k: v.astype(str) if v.dtype.kind in "mM" else v for k, v in columns.items()}


def pandas() -> Any:
    """The module pandas, or what to install."""
    try:
        return import_module("pandas")
    except ImportError:
        raise ImportError(
            "A DataFrame needs pandas. Install it with: pip install pandas. Without it, "
            "report.table() gives the same columns as arrays."
        ) from None


def cleanlab_columns(report: LabelReport) -> dict[str, Array]:
    """The columns of cleanlab's ``CleanLearning.get_label_issues()``, in input order."""
    codes = {
        name: np.searchsorted(report.classes, labels)
        for name, labels in (("given", report.given), ("suggested", report.suggested))
    }
    return {
        "is_label_issue": report.suspect,
        "label_quality": report.quality,
        "given_label": codes["given"],
        "predicted_label": codes["suggested"],
    }


def ranked_issues(report: LabelReport, ranked_by: str) -> Array:
    """Row numbers of probably wrong labels, worst first, by one of cleanlab's scores."""
    check.check_choice(ranked_by, RANKINGS, "ranked_by")
    rows = np.flatnonzero(report.suspect)
    score = report.quality[rows]
    if ranked_by == "normalized_margin":
        # Another label is the best one, so its probability is the best of all others.
        score = score - report.suggested_probability[rows]
    ranked: Array = rows[np.argsort(score, kind="stable")]
    return ranked
