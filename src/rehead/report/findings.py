"""What the reproduction found, in sentences whose numbers come from the results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from rehead.experiments.columns.registry import AUTO, ROG, SOFTMAX
from rehead.experiments.comparison import Comparison, Row, compare
from rehead.experiments.results import Results
from rehead.experiments.tables import TABLES
from rehead.experiments.variations import VARIATIONS
from rehead.report.compared import named, noise_name, signed
from rehead.report.varied import Rows


def table_findings(results: Results, profile: str) -> list[str]:
    """A sentence for each table that ran: how the gain compares, and what the default adds."""
    compared = [compare(table, results, profile) for table in TABLES]
    return [_finding(comparison) for comparison in compared if comparison.ran]


def _finding(comparison: Comparison) -> str:
    column = comparison.gain_of
    noisy = [row for row in comparison.ran if row.cell.noise != "none"]
    gain = _mean([row.gain(column) for row in noisy])
    printed = _mean([row.printed_gain(column) for row in noisy])
    over = _mean([row.mean(AUTO) - row.mean(SOFTMAX) for row in noisy])
    text = (
        f"**Table {comparison.table}**: with noise {column} gains {signed(gain)} points on average"
    )
    if not np.isnan(printed):
        text += f" (printed: {signed(printed)} in these rows)"
    return f"{text}; the default gains {signed(over)}."


def many_classes(rows: Sequence[Row]) -> str:
    """The limit of the paper's estimator where classes have few samples."""
    if not rows:
        return "Tiny ImageNet was not run."
    first = rows[0].results[0]
    kept = first.columns["RoG last layer"].details["kept"]
    n, total = next(iter(kept.values())), first.network["n_train"]
    said = ", ".join(
        f"{noise_name(row.cell)}: softmax {row.mean(SOFTMAX):.1f}, RoG {row.mean(ROG):.1f}, "
        f"default {row.mean(AUTO):.1f}"
        for row in rows
    )
    return (
        f"*Tiny ImageNet* stands beside the rows of CIFAR-100: 200 classes of {total // 200} "
        "images. There a class has no more samples than the layer has features, so that K_c = "
        f"floor((N_c + d + 1) / 2) reaches N_c: of {total:,} samples the MCD keeps {n:,}. Nothing "
        "is trimmed, and RoG is the sample estimate. That is a limit of the method, not of these "
        f"networks. {said}."
    )


def last_layer(comparison: Comparison) -> str:
    """What the last layer and the ensemble gain, here and in the paper."""
    noisy = [row for row in comparison.ran if row.cell.noise != "none"]
    if not noisy:
        return "Nothing was run."
    said = []
    for column in ("LDA", "RoG last layer", "LDA ensemble", ROG):
        ours, theirs = (
            _mean([gain(row) for row in noisy])
            for gain in (partial(Row.gain, column=column), partial(Row.printed_gain, column=column))
        )
        said.append(f"{column} {signed(ours)} ({signed(theirs)})")
    return (
        "Mean gains over the softmax with noise, in points, in brackets as printed: "
        f"{', '.join(said)}. With these small, memorised networks the last layer alone gains "
        "nothing, and the earlier layers of the ensemble carry the method. The table below "
        "changes one thing of the training at a time, to see whether memorisation, augmentation or "
        "the number of images is the reason."
    )


def text_rows(rows: Sequence[Rows]) -> str:
    """Which change brings the text rows nearest to the printed numbers."""
    return " ".join(_nearest(row) for row in rows)


def _nearest(rows: Rows) -> str:
    """The changes of training, sorted by their distance from what is printed."""
    distance = {name: rows.distance(name) for name in ("", *VARIATIONS)}
    known = {name: d for name, d in distance.items() if not np.isnan(d)}
    if len(known) < 2:
        return f"{named(rows.data)} ({rows.method}): no change was tried."
    best = min(known, key=known.__getitem__)
    what = (
        f"the change that comes nearest is: {VARIATIONS[best].text}"
        if best
        else ("no change comes nearer than the table's own setting")
    )
    return (
        f"*{named(rows.data)}, {rows.method}*: our softmax and RoG are {known['']:.1f} points from "
        f"the printed ones (mean distance); {what} ({known[best]:.1f})."
    )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
