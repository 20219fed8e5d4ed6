"""Tables 3, 4 and 6: what training methods do to the gain of RoG, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import spearmanr

from rehead.experiments.cell import Cell
from rehead.experiments.columns.registry import PAPER, ROG, SOFTMAX
from rehead.experiments.comparison import Comparison, Row, agreement
from rehead.experiments.published import published
from rehead.experiments.results import Results
from rehead.experiments.tables import cell_of, varied_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.compared import agreement_text, counted, named, noise_name, signed

PLAIN = "cross-entropy"


def repeated(comparison: Comparison) -> list[Row]:
    """Rows of other methods that came out exactly as plain training did, in every column."""
    known = {_place(row): _numbers(row) for row in comparison.ran if row.cell.method == PLAIN}
    others = [row for row in comparison.ran if row.cell.method != PLAIN]
    return [row for row in others if known.get(_place(row)) == _numbers(row)]


def _place(row: Row) -> object:
    return replace(row.cell, method=PLAIN)


def _numbers(row: Row) -> list[str]:
    return [f"{row.mean(column):.6f}" for column in PAPER]


def _where(row: Row) -> str:
    """The noise, and who made it."""
    labeller = f"{named(row.cell.labeller)}, " if row.cell.labeller else ""
    return f"{labeller}{noise_name(row.cell)}"


def repeated_text(comparison: Comparison) -> str:
    """Which rows are plain training over again, and what is left without them."""
    same = repeated(comparison)
    if not same:
        return ""
    said = ", ".join(f"{row.cell.method} ({_where(row)})" for row in same)
    rest = comparison._replace(rows=[row for row in comparison.rows if row not in same])
    text = (
        f"*Rows that repeat another one*: {len(same)} of {counted(len(comparison.ran))} came out "
        f"exactly as {PLAIN}: {said}."
    )
    if any(row.cell.noise == "none" and row.cell.method != "d2l" for row in same):
        text += " Without noise, forward and backward have nothing to correct."
    if any(row.cell.method == "d2l" for row in same):
        text += " D2L never saw its turning point there, so these rows say nothing about D2L."
    return f"{text} Without the repeated rows: {agreement_text(agreement(rest))}"


def d2l_text(comparison: Comparison) -> str:
    """In which rows D2L turned, and what that did to the network."""
    rows = [row for row in comparison.ran if row.cell.method == "d2l"]
    if not rows:
        return ""
    turned = [row for row in rows if row not in repeated(comparison)]
    text = f"*D2L* turns in {len(turned)} of {counted(len(rows))}, one seed each"
    if not turned:
        return f"{text}."
    plain = {_place(row): row for row in comparison.ran if row.cell.method == PLAIN}
    pairs = [(row, plain[_place(row)]) for row in turned if _place(row) in plain]
    ours = signed(_mean([a.mean(SOFTMAX) - b.mean(SOFTMAX) for a, b in pairs]))
    theirs = signed(_mean([a.printed[SOFTMAX] - b.printed[SOFTMAX] for a, b in pairs]))
    fitted = 100 * min(row.fitted for row in turned)
    text += (
        f": {', '.join(_where(row) for row in turned)}. There its softmax differs from that "
        f"of {PLAIN} by {ours} points on average (printed: {theirs}), and it fits at least "
        f"{fitted:.1f} % of the labels."
    )
    if fitted > 95 and any(row.cell.noise != "none" for row in turned):
        text += (
            " So it does not keep these networks from memorising. What was tried to find out why "
            "is below table 3."
        )
    return text


def d2l_tried(results: Results, profile: str) -> str:
    """What D2L adds to the softmax of plain training where one thing of the training is changed."""
    cells = [cell for cell in varied_cells(profile, "3") if cell.method == "d2l"]
    whole = [replace(cells[0], variation=""), *cells]
    gains = {cell: _d2l_gain(cell, results) for cell in whole}
    said = [f"{signed(gain)} ({_change(cell)})" for cell, gain in gains.items() if gain is not None]
    left = [_change(cell) for cell, gain in gains.items() if gain is None]
    not_run = f" Not run: {', '.join(left)}." if left else ""
    if len(said) < 2:
        return f"No change of the training was tried with D2L.{not_run}"
    printed = _printed_d2l_gain(cells[0])
    text = (
        f"Softmax of D2L above that of {PLAIN}, {noise_name(cells[0])}, one seed: "
        f"{', '.join(said)}. Printed: {signed(printed)}."
    )
    helps = [_change(cell) for cell in cells if (gains[cell] or 0.0) > printed / 2]
    if helps:
        return f"{text} So this is a reason: {', '.join(helps)}.{not_run}"
    return (
        f"{text} None of these changes brings even half of it, so why D2L does not help here stays "
        f"open. Not tried: all images, the paper's network and its number of epochs.{not_run}"
    )


def _change(cell: Cell) -> str:
    return f'"{VARIATIONS[cell.variation].text}"' if cell.variation else "as in the table"


def _d2l_gain(cell: Cell, results: Results) -> float | None:
    """Points of the softmax above plain training; None where one of the two did not run."""
    found = [results.read(c) for c in (cell, replace(cell, method=PLAIN))]
    own, plain = (r.accuracy(SOFTMAX) if r is not None else float("nan") for r in found)
    return None if np.isnan(own - plain) else own - plain


def _printed_d2l_gain(cell: Cell) -> float:
    same = replace(cell, variation="")
    printed = {cell_of(e, cell.profile): e.accuracy[SOFTMAX] for e in published().of("3")}
    return printed[same] - printed[replace(same, method=PLAIN)]


def beyond(row: Row) -> float:
    """Share of labels that a network fits beyond the right ones: at least so many wrong ones."""
    return max(0.0, row.fitted - (1 - row.noise_rate))


def memorised_text(comparison: Comparison) -> str:
    """Whether the gain goes with what was memorised, over methods on the same data."""
    rows = [row for row in comparison.ran if row.cell.noise != "none"]
    methods = list(dict.fromkeys(row.cell.method for row in rows))
    if len(methods) < 2 or len(rows) < 3:
        return "Too few rows ran to tell why."
    gains = {m: _mean([r.gain() for r in rows if r.cell.method == m]) for m in methods}
    shares = {m: _mean([beyond(r) for r in rows if r.cell.method == m]) for m in methods}
    said = [f"{m} {signed(gains[m])} ({100 * shares[m]:.0f} %)" for m in methods]
    together = spearmanr([beyond(row) for row in rows], [row.gain() for row in rows]).statistic
    text = (
        "Network, data and noise are the same in all methods, so the method alone differs. Mean "
        "gain of RoG, and in brackets how many labels were fitted beyond the right ones: "
        f"{', '.join(said)}. Rank correlation of the two over {counted(len(rows))}: "
        f"{together:.2f}. "
    )
    if together > 0.5:
        text += "Where a method keeps the network from memorising, RoG has little to gain. "
    most, largest = (max(found, key=found.__getitem__) for found in (shares, gains))
    if most != largest:
        text += f"It is not the whole reason: {largest} gains most, and {most} memorises most. "
    return f"{text}Why the printed gains on co-teaching are all above zero is not explained by it."


def gain_spread(comparison: Comparison) -> str:
    """How much a gain varies over seeds, where there are several."""
    found = [
        np.std([r.accuracy(ROG) - r.accuracy(SOFTMAX) for r in row.results], ddof=1)
        for row in comparison.ran
        if len(row.results) > 1 and row.cell.noise != "none"
    ]
    if not found:
        return "How much a gain varies over seeds is not known."
    return (
        f"Tables 2, 3, 4, 6 and 7 have one seed. Over the seeds of table 1 the gain of RoG with "
        f"noise has a standard deviation of {min(found):.1f} to {max(found):.1f} points, so the "
        "sign of a single gain smaller than that tells little."
    )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
