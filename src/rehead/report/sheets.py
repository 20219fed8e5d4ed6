"""A sheet: a table of texts, for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from rehead import _validation as check
from rehead.experiments.markdown import table_lines

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
}
WIDEST = 1000


class Sheet(NamedTuple):
    """A table of texts.

    Attributes
    ----------
    title : str
    header : sequence of str
    rows : sequence of sequences of str
    notes : sequence of str
        Said below the table.
    n_labels : int
        The first columns, which say what a row is; the others are numbers.
    data : sequence of rows, optional
        The same for programs, with a header: numbers alone, nothing where there is none.

    Examples
    --------
    >>> from rehead.report.sheets import Sheet, render
    >>> sheet = Sheet("Accuracy", ["noise", "softmax"], [["40 %", "61.98"]], [])
    >>> print(render(sheet, "csv"))
    noise,softmax
    40 %,61.98
    >>> print(render(sheet, "markdown"))
    | noise | softmax |
    | --- | ---: |
    | 40 % | 61.98 |
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    n_labels: int = 1
    data: Sequence[Sequence[str]] | None = None


def render(sheet: Sheet, form: str = "terminal") -> str:
    """A sheet as text: terminal, markdown, csv or latex."""
    check_form(form)
    return FORMS[form](sheet)


def check_form(form: str) -> None:
    """Raise if there is no such form."""
    check.check_choice(form, FORMS, "format")


def to_markdown(sheet: Sheet) -> str:
    """With numbers to the right."""
    table = "\n".join(table_lines(sheet.header, sheet.rows, sheet.n_labels))
    return "\n\n".join([table, *sheet.notes])


def to_csv(sheet: Sheet) -> str:
    """Without title and notes, so that programs can read it."""
    out = io.StringIO()
    rows = [sheet.header, *sheet.rows] if sheet.data is None else sheet.data
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().rstrip("\n")


def to_latex(sheet: Sheet) -> str:
    r"""A ``table`` with ``booktabs`` rules."""
    form = "l" * sheet.n_labels + "r" * (len(sheet.header) - sheet.n_labels)
    lines = [[_latex_cell(text) for text in row] for row in (sheet.header, *sheet.rows)]
    head, *body = (" & ".join(line) + r" \\" for line in lines)
    notes = [_escaped(note, LATEX) for note in sheet.notes]
    caption = " ".join([_escaped(sheet.title, LATEX) + ".", *notes])
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{form}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{caption}}}",
            r"\end{table}",
        ]
    )


def to_terminal(sheet: Sheet) -> str:
    """As wide as it needs to be; names of columns of numbers stand in several lines."""
    out = io.StringIO()
    Console(file=out, width=WIDEST, no_color=True).print(to_rich(sheet))
    table = "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").splitlines())
    # A title of the table itself would be broken into the width of a narrow one.
    return "\n".join([sheet.title, table, *sheet.notes])


def to_rich(sheet: Sheet) -> Table:
    """The table alone, without its title."""
    table = Table()
    for i, name in enumerate(sheet.header):
        if i < sheet.n_labels:
            table.add_column(name)
        else:  # numbers are short: their column is as wide as the longest word above it
            table.add_column(name.replace(" ", "\n"), justify="right", no_wrap=True)
    for row in sheet.rows:
        table.add_row(*row)
    return table


def _latex_cell(text: str) -> str:
    """A sign before a number is a minus there, not a hyphen."""
    escaped = _escaped(text, LATEX)
    return f"$-${escaped[1:]}" if escaped[:1] == "-" and escaped[1:2].isdigit() else escaped


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(letter, letter) for letter in text)


FORMS: dict[str, Callable[[Sheet], str]] = {
    "terminal": to_terminal,
    "markdown": to_markdown,
    "csv": to_csv,
    "latex": to_latex,
}
"""Ways to write a sheet."""
