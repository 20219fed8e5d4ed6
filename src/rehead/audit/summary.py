"""A report in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rehead._typing import Array
from rehead.audit.kinds import KINDS, OK

if TYPE_CHECKING:
    from rehead.audit.report import LabelReport

SHOWN = 5
"""So many of the worst labels and of the confusions are shown."""
FEW = 0.01
"""Labels are about clean if fewer than this share are suspect, and the rate may well be 0."""


def summary(report: LabelReport, show: int = SHOWN) -> str:
    """How many labels are wrong, how many to review, the worst ones, the usual confusions."""
    lines = [f"{len(report)} labels: {_noise(report)}.", f"Kinds: {_kinds(report.kind)}."]
    lines.append(_review(report))
    worst = report.order[:show]
    if report.n_review() and len(worst):
        lines += ["Worst:", *_indented(_worst_rows(report, worst))]
    confused = confusions(report)[:SHOWN]
    if confused:
        pairs = ", ".join(f"{given} -> {better} ({n})" for given, better, n in confused)
        lines.append(f"Most common confusions, given -> suggested: {pairs}.")
    return "\n".join(lines)


def headline(report: LabelReport) -> str:
    """One line."""
    return f"LabelReport({len(report)} labels: {_noise(report)})"


def confusions(report: LabelReport) -> list[tuple[object, object, int]]:
    """Pairs of given and suggested label that differ, with their count, most common first."""
    given, suggested = (
        np.searchsorted(report.classes, labels[report.suspect])
        for labels in (report.given, report.suggested)
    )
    pair, count = np.unique(given * len(report.classes) + suggested, return_counts=True)
    ranked = np.argsort(-count, kind="stable")
    a, b = np.divmod(pair[ranked], len(report.classes))
    labels = report.classes.tolist()
    return [(labels[i], labels[j], int(n)) for i, j, n in zip(a, b, count[ranked], strict=True)]


def _noise(report: LabelReport) -> str:
    rate, error = report.noise_rate, report.noise_rate_error
    if np.isnan(error):
        return f"{rate:.1%} wrong by the posterior alone (the noise was not measured)"
    # Few samples leave the rate open, yet some labels may be wrong beyond doubt.
    if rate <= 2 * error and report.suspect.mean() < FEW:
        return f"about clean ({rate:.1%} wrong, standard error {error:.1%})"
    return f"{rate:.1%} wrong (standard error {error:.1%})"


def _kinds(kind: Array) -> str:
    names, counts = np.unique(kind, return_counts=True)
    found = dict(zip(names.tolist(), counts.tolist(), strict=True))
    return ", ".join(
        f"{found.get(name, 0)} {name}" for name in KINDS if name in found or name == OK
    )


def _review(report: LabelReport) -> str:
    n = report.n_review()
    if n == 0:
        return "Nothing to review: no label is wrong with a chance of one in ten."
    found, total = report.expected_wrong(n), report.expected_wrong()
    return (
        f"Review the {n} worst: {found:.0f} of them are wrong in expectation, {found / total:.0%} "
        "of all that are."
    )


def _worst_rows(report: LabelReport, rows: Array) -> list[Sequence[str]]:
    head = ["row" if report.ids is None else "id", "given", "suggested", "quality", "kind"]
    body = [
        [
            str(report.names[i]),
            str(report.given[i]),
            f"{report.suggested[i]} ({report.suggested_probability[i]:.2f})",
            f"{report.quality[i]:.3f}",
            str(report.kind[i]),
        ]
        for i in rows
    ]
    return [head, *body]


def _indented(rows: list[Sequence[str]]) -> list[str]:
    """Columns side by side."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return [
        "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
