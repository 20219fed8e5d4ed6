"""Cells of CSV files that a spreadsheet program would run instead of showing them."""

from __future__ import annotations

import re
from typing import Any

FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20].", re.DOTALL)
NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")


def runs(cell: Any) -> bool:
    """Whether a spreadsheet program may take a cell for a formula; a number is none.

    Examples
    --------
    >>> runs("=HYPERLINK(1)"), runs("-3"), runs("+"), runs("a=b")
    (True, False, False, False)
    """
    return isinstance(cell, str) and bool(FORMULA.match(cell)) and not NUMBER.fullmatch(cell)


def shown(cell: Any) -> Any:
    """The cell for a file that people open: a quotation mark keeps it from being run."""
    return f"'{cell}" if runs(cell) else cell
