"""Tables as Markdown, for every page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table_lines(
    header: Sequence[str], rows: Iterable[Sequence[str]], n_labels: int | None = None
) -> list[str]:
    r"""Lines of a table.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences of str
        As many texts as the header has.
    n_labels : int, optional
        Columns after so many have numbers, which stand to the right. Default: none has.

    Examples
    --------
    >>> from rehead.experiments.markdown import table_lines
    >>> print("\n".join(table_lines(["noise", "RoG"], [["40 %", "75.28"]], n_labels=1)))
    | noise | RoG |
    | --- | ---: |
    | 40 % | 75.28 |
    """
    lines = [list(row) for row in rows]
    wrong = [row for row in lines if len(row) != len(header)]
    if wrong:
        raise ValueError(f"A row must have {len(header)} cells, got {wrong[0]}.")
    n = len(header) if n_labels is None else n_labels
    marks = ["---"] * n + ["---:"] * (len(header) - n)
    return [_line(_escaped(header)), _line(marks), *(_line(_escaped(row)) for row in lines)]


def _escaped(texts: Iterable[str]) -> list[str]:
    """A bar would end the cell."""
    return [text.replace("|", "\\|") for text in texts]


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
