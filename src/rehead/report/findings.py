"""What the reproduction found, in sentences whose numbers come from the results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rehead.experiments.columns.registry import AUTO, ROG, SOFTMAX
from rehead.experiments.comparison import Comparison, Row, compare
from rehead.experiments.results import Results
from rehead.experiments.tables import TABLES
from rehead.report.compared import counted, noise_name, signed


def table_findings(results: Results, profile: str) -> list[str]:
    """A sentence for each table that ran: how the gain compares, and what the default adds."""
    compared = [compare(table, results, profile) for table in TABLES]
    return [_finding(comparison) for comparison in compared if comparison.ran]


def _finding(comparison: Comparison) -> str:
    """Printed gains and ours are means over the same rows."""
    column = comparison.gain_of
    printed = [row for row in comparison.comparable if row.cell.noise != "none"]
    rows = printed or [row for row in comparison.ran if row.cell.noise != "none"]
    if not rows:
        return f"**Table {comparison.table}**: no row with noise ran."
    gain = _mean([row.gain(column) for row in rows])
    over = _mean([row.gain(AUTO) for row in rows])
    beside = f" (printed: {signed(_mean([row.printed_gain(column) for row in rows]))})"
    return (
        f"**Table {comparison.table}**: with noise {column} gains {signed(gain)} points on average "
        f"over {counted(len(rows))}{beside if printed else ', none of them printed'}; the default "
        f"gains {signed(over)}."
    )


def many_classes(rows: Sequence[Row]) -> str:
    """The limit of the paper's estimator where classes have few samples."""
    known = [r for row in rows for r in row.results if "RoG last layer" in r.columns]
    if not known:
        return "Tiny ImageNet was not run."
    kept = known[0].columns["RoG last layer"].details["kept"]
    n, total = next(iter(kept.values())), known[0].network["n_train"]
    said = ", ".join(
        f"{noise_name(row.cell)}: softmax {row.mean(SOFTMAX):.1f}, RoG {row.mean(ROG):.1f}, "
        f"default {row.mean(AUTO):.1f}"
        for row in rows
    )
    text = (
        f"*Tiny ImageNet* stands beside the rows of CIFAR-100: 200 classes of about {total // 200} "
        f"images. Of {total:,} samples the MCD keeps {n:,}"
    )
    if n == total:
        text += (
            ": a class has no more samples than the layer has features, so that K_c = "
            "floor((N_c + d + 1) / 2) reaches N_c. Nothing is trimmed, and RoG is the sample "
            "estimate. That is a limit of the method, not of these networks"
        )
    return f"{text}. {said}."


def text_rows(results: Results, profile: str) -> str:
    """Which change brings table 5 nearest to the printed numbers."""
    return ""


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
