"""Reports as tables, files, and in the shape that cleanlab gives."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.audit.scores import LabelScores

RANKINGS = ("self_confidence", "normalized_margin")


def columns(scores: LabelScores, *, worst_first: bool) -> dict[str, Array]:
    """The columns of a report, ids (or row numbers) first."""
    by = scores.order if worst_first else np.arange(len(scores))
    return {
        "id": scores.names[by],
        "given": scores.given[by],
        "suggested": scores.suggested[by],
        "quality": scores.quality[by],
        "suggested_probability": scores.suggested_probability[by],
        "kind": scores.kind[by],
        "typicality": scores.typicality[by],
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
            "scores.table() gives the same columns as arrays."
        ) from None


def cleanlab_columns(scores: LabelScores) -> dict[str, Array]:
    """The columns of cleanlab's ``CleanLearning.get_label_issues()``, in input order."""
    codes = {
        name: np.searchsorted(scores.classes, labels)
        for name, labels in (("given", scores.given), ("suggested", scores.suggested))
    }
    return {
        "is_label_issue": scores.suspect,
        "label_quality": scores.quality,
        "given_label": codes["given"],
        "predicted_label": codes["suggested"],
    }


def ranked_issues(scores: LabelScores, ranked_by: str) -> Array:
    """Row numbers of probably wrong labels, worst first, by one of cleanlab's scores."""
    check.check_choice(ranked_by, RANKINGS, "ranked_by")
    rows = np.flatnonzero(scores.suspect)
    score = scores.quality[rows]
    if ranked_by == "normalized_margin":
        # Another label is the best one, so its probability is the best of all others.
        score = score - scores.suggested_probability[rows]
    ranked: Array = rows[np.argsort(score, kind="stable")]
    return ranked
