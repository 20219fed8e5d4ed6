"""What the reproduction found, in sentences whose numbers come from the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rehead.experiments.columns.registry import AUTO, ROG, SOFTMAX, TEXT
from rehead.experiments.comparison import Comparison, Row, compare
from rehead.experiments.results import Results
from rehead.experiments.tables import TABLES, varied_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.compared import counted, named, noise_name, signed
from rehead.report.varied import Rows

LAST = "RoG last layer"
OTHER_ROGS = ("RoG last layer", "LDA ensemble", *TEXT)
"""Generative classifiers that differ from RoG in one thing."""

TAKEN_APART = ("LDA", "RoG last layer", "LDA ensemble", ROG)
"""Ways to predict that tell the last layer and the ensemble apart."""


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


def last_layer(comparison: Comparison) -> str:
    """What the last layer and the ensemble gain, here and in the paper."""
    noisy = [row for row in comparison.comparable if row.cell.noise != "none"]
    if not noisy:
        return "Nothing was run."
    ours, theirs = (
        {column: _mean([gain(row, column) for row in noisy]) for column in TAKEN_APART}
        for gain in (Row.gain, Row.printed_gain)
    )
    said = [f"{column} {signed(ours[column])} ({signed(theirs[column])})" for column in TAKEN_APART]
    text = "Mean gains over the softmax with noise, in points, printed ones in brackets: "
    text += f"{', '.join(said)}. "
    if ours["RoG last layer"] < ours[ROG] / 2:
        text += "Here it is the earlier layers of the ensemble that carry the method. "
    return (
        f"{text}The table below changes one thing of the training at a time, to see whether "
        "memorisation, augmentation or the number of images is the reason."
    )


def images_varied(results: Results, profile: str) -> str:
    """What each change of the training does to the gains of RoG and of its last layer."""
    varied = varied_cells(profile, "1")
    names = ["", *dict.fromkeys(cell.variation for cell in varied)]
    cells = {n: [replace(c, variation=n) for c in varied if c.variation == names[1]] for n in names}
    found = {name: [results.read(cell) for cell in cells[name]] for name in names}
    ran = {n: [r for r in all_ if r is not None] for n, all_ in found.items() if all(all_)}
    if len(ran) < len(names):
        return "Not all of these changes were tried yet."
    each = {
        column: {n: [r.accuracy(column) - r.accuracy(SOFTMAX) for r in ran[n]] for n in ran}
        for column in (ROG, LAST)
    }
    gains = {c: {n: _mean(values) for n, values in by_name.items()} for c, by_name in each.items()}
    said = [
        f"{column}: " + ", ".join(f"{signed(g)} ({_change(n)})" for n, g in by_name.items())
        for column, by_name in gains.items()
    ]
    text = f"Gains over the softmax, means of both networks: {'; '.join(said)}."
    if gains[ROG]["augmented"] < 0 < gains[ROG][""]:
        text += " Where augmentation keeps a network from memorising, RoG has nothing to gain."
    return text + _more_images(each[LAST])


def _more_images(gains: Mapping[str, Sequence[float]]) -> str:
    """Whether few images are a reason: one seed, so both networks have to say so."""
    more = [b > a for a, b in zip(gains[""], gains["more-images"], strict=True)]
    if all(more):
        return " With more images the last layer gains more: few images are one reason."
    if any(more):
        return (
            f" With more images the last layer gains more with {sum(more)} of {len(more)} "
            "networks, one seed each: whether few images are a reason stays open."
        )
    return " With more images the last layer does not gain more: few images are not the reason."


def _change(variation: str) -> str:
    return VARIATIONS[variation].text if variation else "as in the table"


def text_rows(rows: Sequence[Rows]) -> str:
    """Which change brings the text rows nearest to the printed numbers."""
    return " ".join(_nearest(row) for row in rows)


def _nearest(rows: Rows) -> str:
    """Which change of training, and which of inference beside it, come nearest to the paper."""
    every = {
        (name, column): rows.distance(name, column)
        for name in ("", *VARIATIONS)
        for column in (ROG, *OTHER_ROGS)
    }
    known = {place: d for place, d in every.items() if not np.isnan(d)}
    trained = {name: d for (name, column), d in known.items() if column == ROG}
    if len(trained) < 2 or "" not in trained:
        return f"{named(rows.data)} ({rows.method}): no change was tried."
    name = min(trained, key=trained.__getitem__)
    both = min(known, key=known.__getitem__)
    return (
        f"*{named(rows.data)}, {rows.method}*: our softmax and RoG are {trained['']:.1f} points "
        f"from the printed ones under noise (mean distance). The nearest of {len(trained)} "
        f"settings of training is {_said(name)} ({trained[name]:.1f}); with other ways to infer, "
        f"{_said(both[0])} and {both[1]!r} in place of RoG ({known[both]:.1f})."
    )


def _said(variation: str) -> str:
    return f'"{VARIATIONS[variation].text}"' if variation else "the table's own"


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
