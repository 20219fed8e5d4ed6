"""Tables taken apart: one change at a time, and what it does to softmax and RoG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rehead.experiments.cell import Cell
from rehead.experiments.columns.registry import AUTO, ROG, SOFTMAX, TEXT
from rehead.experiments.published import published
from rehead.experiments.results import NOT_RUN, RAN, Result, Results
from rehead.experiments.tables import VARIED_NOISES, VARIED_TABLES, table_cells, varied_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.compared import NOTHING, WRONG, named, noise_name, number, signed, spread
from rehead.report.methods import PLAIN
from rehead.report.sheets import Sheet

DATA = ("reuters8", "twitter_pos")
METHODS = tuple(dict.fromkeys(v.method for v in VARIATIONS.values() if "5" in v.tables))
IMAGES = (SOFTMAX, "LDA", "RoG last layer", "LDA ensemble", ROG, AUTO, "oracle")
IMAGE_TABLES = {"1": "network", "3": "method", "6": "labeller"}
"""Tables of images that are taken apart, and what else differs between their cells."""
NOISY = tuple(kind for kind in VARIED_NOISES if kind[0] != "none")
MEANS = (
    "Gain: RoG above softmax, mean over the rates of noise, in points. Away: mean distance of "
    "softmax and RoG from the printed ones with noise, in points."
)
LABELS = (
    "Wrong labels, in %. With crops and flips the labels are those of the table. With more images "
    "the labellers are taught anew, in the same way and on as many images, but on other ones: "
    "those from before are now among the images that are labelled."
)
INFERENCE = ("RoG last layer", "LDA ensemble", *TEXT, "RoG authors", "identity", AUTO, "oracle")
"""Changes of inference alone, on the networks of the table itself."""


class Rows(NamedTuple):
    """The rows of table 5 with one data set and one training method."""

    data: str
    method: str
    results: Sequence[Result]

    @classmethod
    def read(cls, data: str, method: str, results: Results, profile: str) -> Rows:
        """Those that ran, with variations and without."""
        cells = [*table_cells("5", profile), *varied_cells(profile)]
        found = [results.read(c) for c in cells if (c.data, c.method) == (data, method)]
        return cls(data, method, [r for r in found if r is not None and r.status == RAN])

    def values(self, column: str, kind: tuple[str, float], variation: str = "") -> np.ndarray:
        """Accuracy in %, by seed."""
        found = [
            r.accuracy(column)
            for r in self.results
            if (r.cell.noise, r.cell.rate) == kind and r.cell.variation == variation
        ]
        return np.array([accuracy for accuracy in found if not np.isnan(accuracy)])

    def seeds(self, varied: bool) -> int:
        """How many seeds ran, with a change or without."""
        return len({r.cell.seed for r in self.results if bool(r.cell.variation) == varied})

    def texts(self, columns: Sequence[str], variation: str = "") -> list[str]:
        """For each noise, these columns."""
        return [spread(self.values(c, kind, variation)) for kind in VARIED_NOISES for c in columns]

    @property
    def printed(self) -> dict[tuple[str, float], dict[str, float]]:
        """What the paper has, by noise."""
        return {
            (e.noise, e.rate): e.accuracy
            for e in published().of("5")
            if (e.data, e.method) == (self.data, self.method)
        }

    def gain(self, variation: str = "", column: str = ROG, over: str = SOFTMAX) -> float:
        """Mean of a column above another, with noise, in points; NaN where it was not run."""
        pairs = [[self.values(name, kind, variation) for name in (column, over)] for kind in NOISY]
        found = [a.mean() - b.mean() for a, b in pairs if len(a) and len(b)]
        return float(np.mean(found)) if len(found) == len(NOISY) else float("nan")

    def distance(self, variation: str = "", column: str = ROG) -> float:
        """Mean distance of the softmax, and of a column from the printed RoG, with noise.

        NaN where it was not run.
        """
        found = [
            abs(values.mean() - self.printed[kind][printed])
            for kind in NOISY
            for ours, printed in ((SOFTMAX, SOFTMAX), (column, ROG))
            if len(values := self.values(ours, kind, variation))
        ]
        return float(np.mean(found)) if len(found) == 2 * len(NOISY) else float("nan")


def text_tables(results: Results, profile: str) -> list[Rows]:
    """For each data set and each method that was varied."""
    return [Rows.read(data, method, results, profile) for data in DATA for method in METHODS]


def varied_sheets(results: Results, profile: str = "quick", table: str = "5") -> list[Sheet]:
    """Of table 5, for each data set: changes of training, then changes of inference."""
    if table in IMAGE_TABLES:
        return [images_sheet(results, profile, table)]
    sheets = []
    for data in DATA:
        rows = {method: Rows.read(data, method, results, profile) for method in METHODS}
        sheets += [training_sheet(rows[method]) for method in METHODS]
        sheets.append(inference_sheet(rows[METHODS[0]]))
    return sheets


def unfinished_changes(results: Results, profile: str) -> list[str]:
    """Cells with a change that did not run, by table and change."""
    cells = [cell for table in VARIED_TABLES for cell in varied_cells(profile, table)]
    found = [(cell, results.read(cell)) for cell in cells]
    left = Counter((c.table, c.variation) for c, r in found if r is None or r.status == NOT_RUN)
    return [
        f'"{VARIATIONS[change].text}" in {n} {"cell" if n == 1 else "cells"} of table {table}'
        for (table, change), n in left.items()
    ]


def images_sheet(results: Results, profile: str, table: str) -> Sheet:
    """Table 1 or 3 with uniform noise, or table 6: one change of training at a time."""
    varied, label = varied_cells(profile, table), IMAGE_TABLES[table]
    labelled = label == "labeller"
    plain = [replace(c, variation="") for c in varied if c.variation == varied[0].variation]
    lines = []
    for cell in sorted([*plain, *varied], key=lambda c: str(getattr(c, label))):
        found = results.read(cell)
        if found is None or found.status != RAN:
            continue
        change = VARIATIONS[cell.variation].text if cell.variation else "as in the table"
        texts = [number(found.accuracy(column)) for column in IMAGES]
        fitted = number(100 * found.network["fitted"], 0)
        gain = signed(found.accuracy(ROG) - found.accuracy(SOFTMAX))
        wrong = [number(100 * found.network["noise_rate"])] if labelled else []
        lines.append([named(getattr(cell, label)), change, *wrong, fitted, *texts, gain])
    noise = f"{PLAIN}, labellers" if labelled else noise_name(varied[0])
    title = f"CIFAR-10, {noise}, seed 0: one change of training at a time"
    header = [label, "change", *([WRONG] if labelled else []), "fitted", *IMAGES, "gain of RoG"]
    return Sheet(title, header, lines, [LABELS] if labelled else [], n_labels=2)


def training_sheet(rows: Rows) -> Sheet:
    """Softmax and RoG where one thing of the training was changed."""
    pair = (SOFTMAX, ROG)
    columns = [f"{column}, {_noise(kind)}" for kind in VARIED_NOISES for column in pair]
    printed = [f"{rows.printed[kind][column]:.2f}" for kind in VARIED_NOISES for column in pair]
    gains = [rows.printed[kind][ROG] - rows.printed[kind][SOFTMAX] for kind in NOISY]
    tried = [
        name
        for name in dict.fromkeys(c.variation for c in varied_cells() if c.data == rows.data)
        if VARIATIONS[name].method == rows.method
    ]
    lines = [["printed", *printed, signed(float(np.mean(gains))), NOTHING]]
    lines += [
        [
            VARIATIONS[name].text if name else "as in the table",
            *rows.texts(pair, name),
            signed(rows.gain(name)),
            number(rows.distance(name)),
        ]
        for name in ("", *tried)
    ]
    title = f"{named(rows.data)}, {rows.method}: one change of training at a time"
    note = f"Seeds: {rows.seeds(False)} as in the table, {rows.seeds(True)} with a change."
    return Sheet(title, ["change", *columns, "gain", "away"], lines, [f"{note} {MEANS}"])


def inference_sheet(rows: Rows) -> Sheet:
    """Other ways to predict from the networks of the table."""
    header = ["way to predict", *(_noise(kind) for kind in VARIED_NOISES), "gain"]
    lines = [
        [column, *rows.texts([column]), signed(rows.gain(column=column))]
        for column in (SOFTMAX, ROG, *INFERENCE)
    ]
    title = f"{named(rows.data)}, {rows.method}: one change of inference at a time"
    note = "Gain: above softmax, mean over the rates of noise, in points."
    return Sheet(title, header, lines, [note])


def _noise(kind: tuple[str, float]) -> str:
    return noise_name(Cell("5", "fcn", "", *kind))
