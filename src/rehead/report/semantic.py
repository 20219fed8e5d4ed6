"""Table 6: why RoG is not above the softmax under labellers here, as far as it was tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rehead.experiments.cell import Cell
from rehead.experiments.columns.registry import AUTO, ROG, SOFTMAX
from rehead.experiments.comparison import Comparison, Row
from rehead.experiments.results import RAN, Results
from rehead.experiments.tables import varied_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.compared import counted, named, signed

NAMES = (ROG, "LDA ensemble", "oracle", AUTO)


def semantic_text(comparison: Comparison, clean: Sequence[Row]) -> str:
    """What the columns of table 6 tell about where the loss comes from.

    ``clean``: rows of the same network on clean labels.
    """
    rows = comparison.comparable
    if not rows:
        return "Nothing was run."
    gains = {name: _mean([row.gain(name) for row in rows]) for name in NAMES}
    kept = _mean([_clean_kept(row) for row in rows])
    right = _mean([1 - row.noise_rate for row in rows])
    above = sum(row.gain() > 0 for row in rows)
    printed = sum(row.printed_gain() > 0 for row in rows)
    text = (
        f"RoG is above the softmax in {above} of {counted(len(rows))} here, and in {printed} in "
        "the paper. Mean gains over the softmax: "
        f"{', '.join(f'{name} {signed(gain)}' for name, gain in gains.items())}. Of the samples "
        f"that the MCD keeps {100 * kept:.0f} % have the right label, of all {100 * right:.0f} %."
    )
    if gains["oracle"] <= 0 and gains["LDA ensemble"] <= 0:
        text += (
            " The LDA ensemble trims nothing, and the oracle has only samples with right labels: "
            "neither is above the softmax on average, so it is not the trimming that fails here."
        )
    if clean:
        ours = signed(_mean([row.gain() for row in clean]))
        theirs = signed(_mean([row.printed_gain() for row in clean]))
        text += f" On clean labels RoG gains {ours} with this network (printed: {theirs})."
    return text


class Tried(NamedTuple):
    """A change of the training with one labeller: gains of RoG over the softmax, in points."""

    cell: Cell
    before: float
    after: float
    printed: float


def labellers_text(comparison: Comparison, results: Results, profile: str) -> str:
    """What changes of the training do to the gain of RoG, and whether that explains table 6."""
    every = varied_cells(profile, "6")
    tried = _tried(every, comparison, results)
    ran = {one.cell for one in tried}
    not_run = _not_run([cell for cell in every if cell not in ran])
    if not tried:
        return f"No change of the training was tried with labellers.{not_run}"
    names = list(dict.fromkeys(one.cell.variation for one in tried))
    by_name = {name: [one for one in tried if one.cell.variation == name] for name in names}
    said = "; ".join(_said(name, found) for name, found in by_name.items())
    whole = {c.variation for c in every} - {c.variation for c in every if c not in ran}
    verdict = _verdict({name: found for name, found in by_name.items() if name in whole})
    return f"One change of the training at a time, with cross-entropy: {said}. {verdict}{not_run}"


def _not_run(cells: Sequence[Cell]) -> str:
    names = dict.fromkeys(cell.variation for cell in cells)
    left = {n: ", ".join(named(c.labeller) for c in cells if c.variation == n) for n in names}
    said = [f"{_quoted(name)} ({labellers})" for name, labellers in left.items()]
    return f" Not run: {'; '.join(said)}." if said else ""


def _quoted(variation: str) -> str:
    return f'"{VARIATIONS[variation].text}"'


def _tried(cells: Sequence[Cell], comparison: Comparison, results: Results) -> list[Tried]:
    """Changes that ran, where the table's own row did too."""
    rows = {row.cell: row for row in comparison.comparable}
    found = []
    for cell in cells:
        row, result = rows.get(replace(cell, variation="")), results.read(cell)
        if row is not None and result is not None and result.status == RAN:
            gain = result.accuracy(ROG) - result.accuracy(SOFTMAX)
            found.append(Tried(cell, row.gain(), gain, row.printed_gain()))
    return found


def _said(name: str, tried: Sequence[Tried]) -> str:
    before, after, printed = (
        signed(_mean([getattr(one, field) for one in tried]))
        for field in ("before", "after", "printed")
    )
    above = sum(one.after > 0 for one in tried)
    return (
        f"with {_quoted(name)} RoG gains {after} on average (in the table {before}, "
        f"printed {printed}), and is above the softmax with {above} of {len(tried)} labellers"
    )


def _verdict(by_name: dict[str, list[Tried]]) -> str:
    """What is explained, by changes that were tried with every labeller."""
    reasons = [n for n, tried in by_name.items() if all(one.after > 0 for one in tried)]
    nearer = [
        n
        for n, tried in by_name.items()
        if n not in reasons and all(one.after > one.before for one in tried)
    ]
    text = "".join(
        f"With {_quoted(name)} the sign is that of the paper with every labeller: this "
        "difference between the two settings is a reason. "
        for name in reasons
    )
    text += "".join(
        f"With {_quoted(name)} the gain is larger with every labeller, but not above 0 "
        "with all: at most a part of the reason. "
        for name in nearer
    )
    if not reasons:
        text += (
            "So the disagreement is not explained, and stays open. Not tried: both changes at "
            "once, all images, the paper's network and its number of epochs."
        )
    return text.rstrip()


def _clean_kept(row: Row) -> float:
    shares = [r.columns["RoG last layer"].details.get("clean_kept", {}) for r in row.results]
    return _mean([value for share in shares for value in share.values()])


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
