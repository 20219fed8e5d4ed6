"""Our numbers beside the printed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr

from rehead._typing import Array
from rehead.experiments.cell import Cell
from rehead.experiments.columns.registry import AUTO, AUTO_SAME, ROG, SOFTMAX
from rehead.experiments.profiles import deviations
from rehead.experiments.published import published
from rehead.experiments.results import NOT_RUN, RAN, Result, Results
from rehead.experiments.tables import cell_of, table_cells

SHOWN: dict[str, tuple[str, ...]] = {
    "1": (SOFTMAX, "LDA", "LDA ensemble", "RoG last layer", ROG, AUTO_SAME, AUTO),
    "8": (SOFTMAX, "trimmed k-means", "RoG last layer", AUTO_SAME, AUTO),
}
"""Ways to predict that a table shows; the others show softmax, RoG and the default,
on the layers of RoG and on those that it chooses."""
GAIN_OF = {"8": "RoG last layer"}
"""What is compared with the softmax; RoG elsewhere."""
STAND_INS = {"tinyimagenet32": "Tiny ImageNet stands in for data that is not here"}


class Row(NamedTuple):
    """A cell of a table with all its seeds, and what the paper prints there.

    Attributes
    ----------
    cell : Cell
        Of the first seed.
    printed : dict of column name to accuracy in %
        Empty where the paper has no such cell.
    results : list of Result
        Those that ran.
    status, reason : str
    """

    cell: Cell
    printed: dict[str, float]
    results: list[Result]
    status: str
    reason: str

    def ours(self, column: str) -> Array:
        """Accuracy in %, by seed; empty where it was not measured."""
        found = [result.accuracy(column) for result in self.results]
        return np.array([accuracy for accuracy in found if not np.isnan(accuracy)])

    def mean(self, column: str) -> float:
        """Over seeds; NaN where there are none."""
        found = self.ours(column)
        return float(found.mean()) if len(found) else float("nan")

    def above(self, column: str, other: str) -> float:
        """By how much it is above another one, over the seeds that have both; NaN without any."""
        differences = np.array([r.accuracy(column) - r.accuracy(other) for r in self.results])
        known = differences[~np.isnan(differences)]
        return float(known.mean()) if len(known) else float("nan")

    def gain(self, column: str = ROG) -> float:
        """By how much it is above the softmax here."""
        return self.above(column, SOFTMAX)

    def printed_gain(self, column: str = ROG) -> float:
        """By how much it is above the softmax in the paper; NaN where that is not printed."""
        nothing = float("nan")
        return self.printed.get(column, nothing) - self.printed.get(SOFTMAX, nothing)

    @property
    def fitted(self) -> float:
        """Share of the training labels that the networks fit."""
        found = [r.network["fitted"] for r in self.results if "fitted" in r.network]
        return float(np.mean(found)) if found else float("nan")

    @property
    def noise_rate(self) -> float:
        """Share of training samples that are not what their label says."""
        found = [r.network["noise_rate"] for r in self.results if "noise_rate" in r.network]
        return float(np.mean(found)) if found else float("nan")

    @property
    def deviations(self) -> list[str]:
        """What differs from the paper, by name."""
        extra = [
            text for name, text in STAND_INS.items() if name in (self.cell.data, self.cell.source)
        ]
        known = {entry.data for entry in published().of(self.cell.table)} | set(STAND_INS)
        if self.cell.data not in known:
            extra.append(f"{self.cell.data} in place of the paper's data")
        if self.cell.noise == "open-set" and not self.cell.source:
            extra.append("outside images that are generated")
        return [*deviations(self.cell), *extra]


class Comparison(NamedTuple):
    """A table: ours beside the paper's."""

    table: str
    title: str
    rows: list[Row]

    @property
    def shown(self) -> tuple[str, ...]:
        """Ways to predict that it shows."""
        return SHOWN.get(self.table, (SOFTMAX, ROG, AUTO_SAME, AUTO))

    @property
    def gain_of(self) -> str:
        """What is compared with the softmax."""
        return GAIN_OF.get(self.table, ROG)

    @property
    def ran(self) -> list[Row]:
        """Rows with results."""
        return [row for row in self.rows if row.results]

    @property
    def comparable(self) -> list[Row]:
        """Rows where a gain was measured, and the paper prints one."""
        column = self.gain_of
        return [r for r in self.ran if not np.isnan(r.gain(column) + r.printed_gain(column))]


class Agreement(NamedTuple):
    """How far our gains over the softmax go with the printed ones.

    Attributes
    ----------
    n : int
        Rows that can be compared.
    above, above_printed : int
        Rows where RoG is above the softmax: here, and in the paper.
    same_sign : int
        Rows where both are above, or both are not.
    rank_correlation : float
        Spearman's, of the gains; NaN with fewer than three rows.
    auto_above : int
        Rows where the default is above RoG, of all that ran, printed or not.
    auto_gain : float
        By how much it is, on average over these.
    """

    n: int
    above: int
    above_printed: int
    same_sign: int
    rank_correlation: float
    auto_above: int
    auto_gain: float
    same_layers_gain: float


def compare(
    table: str,
    results: Results,
    profile: str = "quick",
    *,
    seeds: int | None = None,
    data: str | None = None,
) -> Comparison:
    """A table as far as it was run.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rehead.experiments.comparison import compare
    >>> from rehead.experiments.results import Results
    >>> nothing = compare("7", Results(Path("nowhere")))
    >>> [row.printed["RoG"] for row in nothing.rows if row.printed]
    [83.37, 87.05, 84.35]
    """
    printed = {cell_of(entry, profile): entry.accuracy for entry in published().of(table)}
    cells = table_cells(table, profile, seeds=seeds, data=data)
    grouped: dict[Cell, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(cell.group, []).append(cell)
    rows = [
        _row(group, members, printed.get(group, {}), results) for group, members in grouped.items()
    ]
    return Comparison(table, published().titles[table], rows)


def _row(group: Cell, cells: Sequence[Cell], printed: dict[str, float], results: Results) -> Row:
    found = [results.read(cell) for cell in cells]
    ran = [result for result in found if result is not None and result.status == RAN]
    if ran:
        return Row(group, printed, ran, RAN, "")
    failed = next((result for result in found if result is not None), None)
    if failed is None:
        return Row(group, printed, [], NOT_RUN, "not run yet")
    return Row(group, printed, [], failed.status, failed.reason)


def agreement(comparison: Comparison) -> Agreement:
    """How far our gains go with the printed ones."""
    rows, column = comparison.comparable, comparison.gain_of
    ours = np.array([row.gain(column) for row in rows])
    theirs = np.array([row.printed_gain(column) for row in rows])
    over, same = (
        np.array([row.above(name, column) for row in comparison.ran]) for name in (AUTO, AUTO_SAME)
    )
    over, same = (found[~np.isnan(found)] for found in (over, same))
    enough = len(rows) >= 3 and len(set(ours)) > 1 and len(set(theirs)) > 1
    return Agreement(
        n=len(rows),
        above=int((ours > 0).sum()),
        above_printed=int((theirs > 0).sum()),
        same_sign=int(((ours > 0) == (theirs > 0)).sum()),
        rank_correlation=float(spearmanr(ours, theirs).statistic) if enough else float("nan"),
        auto_above=int((over > 0).sum()),
        auto_gain=float(over.mean()) if len(over) else float("nan"),
        same_layers_gain=float(same.mean()) if len(same) else float("nan"),
    )
