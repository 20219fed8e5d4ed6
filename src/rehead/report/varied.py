"""Table 5 taken apart: one change at a time, and what it does to softmax and RoG."""

from __future__ import annotations

import numpy as np

from rehead.experiments.cell import Cell
from rehead.experiments.columns.registry import AUTO, ROG, SOFTMAX, TEXT
from rehead.experiments.published import published
from rehead.experiments.results import RAN, Results
from rehead.experiments.tables import VARIED, table_cells, varied_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.compared import named, noise_name, spread
from rehead.report.sheets import Sheet

DATA = ("reuters8", "twitter_pos")
INFERENCE = ("RoG last layer", "LDA ensemble", *TEXT, "RoG authors", "identity", AUTO)
"""Changes of inference alone, on the networks of the table itself."""


def varied_sheets(results: Results, profile: str = "quick") -> list[Sheet]:
    """For each data set: changes of training, then changes of inference."""
    return [
        sheet
        for data in DATA
        for sheet in (
            training_sheet(data, results, profile),
            inference_sheet(data, results, profile),
        )
    ]


def training_sheet(data: str, results: Results, profile: str) -> Sheet:
    """Softmax and RoG where one thing of the training was changed."""
    header = [
        "change",
        *(f"{column}, {_noise(kind)}" for kind in VARIED for column in (SOFTMAX, ROG)),
    ]
    rows = [["printed", *_printed(data)], ["as in the table", *_ours("", data, results, profile)]]
    rows += [
        [variation.text, *_ours(name, data, results, profile)]
        for name, variation in VARIATIONS.items()
        if any(c.data == data and c.variation == name for c in varied_cells(profile))
    ]
    return Sheet(f"{named(data)}, cross-entropy: one change of training at a time", header, rows)


def inference_sheet(data: str, results: Results, profile: str) -> Sheet:
    """Other ways to predict from the networks of the table."""
    header = ["way to predict", *(_noise(kind) for kind in VARIED)]
    rows = [
        [column, *(spread(_values(column, "", data, kind, results, profile)) for kind in VARIED)]
        for column in (SOFTMAX, ROG, *INFERENCE)
    ]
    return Sheet(f"{named(data)}, cross-entropy: one change of inference at a time", header, rows)


def _noise(kind: tuple[str, float]) -> str:
    return noise_name(Cell("5", "fcn", "", *kind))


def _printed(data: str) -> list[str]:
    entries = {
        (e.noise, e.rate): e.accuracy
        for e in published().of("5")
        if e.data == data and e.method == "cross-entropy"
    }
    return [f"{entries[kind][column]:.2f}" for kind in VARIED for column in (SOFTMAX, ROG)]


def _ours(variation: str, data: str, results: Results, profile: str) -> list[str]:
    return [
        spread(_values(column, variation, data, kind, results, profile))
        for kind in VARIED
        for column in (SOFTMAX, ROG)
    ]


def _values(
    column: str, variation: str, data: str, kind: tuple[str, float], results: Results, profile: str
) -> np.ndarray:
    """Accuracy by seed."""
    cells = varied_cells(profile) if variation else table_cells("5", profile)
    found = [
        results.read(cell)
        for cell in cells
        if (cell.data, cell.variation, cell.method) == (data, variation, "cross-entropy")
        and (cell.noise, cell.rate) == kind
    ]
    ran = [r.accuracy(column) for r in found if r is not None and r.status == RAN]
    return np.array([a for a in ran if not np.isnan(a)])
