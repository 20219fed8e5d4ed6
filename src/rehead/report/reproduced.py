"""What ``rehead reproduce`` shows: sheets by name."""

from __future__ import annotations

from rehead.experiments.asked import ALL, VARIED, Scope, find_cells
from rehead.experiments.comparison import Comparison, agreement, compare
from rehead.experiments.results import Result, Results
from rehead.experiments.tables import TABLES
from rehead.report.compared import number, signed, table_sheet
from rehead.report.sheets import Sheet
from rehead.report.varied import varied_sheets


def sheets_of(what: str, scope: Scope, results: Results) -> list[Sheet]:
    """The sheets of a table, of all tables, or of a single cell."""
    if what == ALL:
        return [summary_sheet(scope, results)]
    if what in VARIED:
        return varied_sheets(results, scope.profile, VARIED[what])
    if what.removeprefix("table") in TABLES and what.startswith("table"):
        return [table_sheet(_compared(what.removeprefix("table"), scope, results))]
    (cell,) = find_cells(what, scope)
    found = results.read(cell)
    return [cell_sheet(found if found is not None else Result(cell, "not run", "not run yet"))]


def _compared(table: str, scope: Scope, results: Results) -> Comparison:
    return compare(table, results, scope.profile, seeds=scope.seeds, data=scope.data)


def summary_sheet(scope: Scope, results: Results) -> Sheet:
    """One row for each table."""
    header = [
        "table",
        "rows that ran",
        "compared",
        "RoG above softmax",
        "in the paper",
        "same sign",
        "rank correlation of gains",
        "auto above RoG",
        "by, points",
        "on RoG's layers, by",
    ]
    rows = []
    for table in TABLES:
        found = _compared(table, scope, results)
        together = agreement(found)
        rows.append(
            [
                f"{table}. {found.title}",
                f"{len(found.ran)} of {len(found.rows)}",
                str(together.n),
                str(together.above),
                str(together.above_printed),
                str(together.same_sign),
                number(together.rank_correlation, 2),
                str(together.auto_above),
                signed(together.auto_gain),
                signed(together.same_layers_gain),
            ]
        )
    note = (
        "Of table 8, RoG is that of the last layer. Gains are compared where the paper prints "
        "them; auto and RoG in all rows that ran. Any difference counts, however small. auto also "
        "sees the raw input, which RoG does not; the last column is on equal layers."
    )
    return Sheet("The paper's tables", header, rows, [note])


def cell_sheet(result: Result) -> Sheet:
    """All ways to predict of one cell."""
    rows = [
        [
            m.column,
            f"{100 * m.accuracy:.2f}",
            "" if m.auroc is None else f"{m.auroc:.3f}",
            f"{m.seconds:.1f}",
            m.rehead,
        ]
        for m in result.columns.values()
    ]
    facts = ", ".join(f"{name} {_fact(value)}" for name, value in result.network.items())
    notes = [facts] if facts else [f"{result.status}: {result.reason}"]
    header = ["column", "accuracy, %", "AUROC of wrong labels", "seconds", "rehead"]
    return Sheet(result.cell.name, header, rows, notes)


def _fact(value: float | str) -> str:
    """Counts in full, other numbers with six digits, digests as they are."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"
