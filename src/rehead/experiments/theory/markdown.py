"""Figures as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10
from typing import Any


def number(value: float) -> str:
    """A number with four digits.

    Examples
    --------
    >>> number(0.30685281), number(24), number(2.4773e-06), number(-0.0)
    ('0.3069', '24', '2.477e-06', '0')
    """
    return f"{value or 0.0:.4g}" if isinstance(value, float) else str(value)


def figure(measured: Mapping[str, float]) -> str:
    """A value with its standard error, which has two digits.

    Examples
    --------
    >>> figure({"value": 0.310188, "se": 0.0010716}), figure({"value": 1.0, "se": 0.0})
    ('0.3102 ± 0.0011', '1 ± 0')
    """
    value, se = measured["value"], measured["se"]
    if not se > 0:
        return f"{number(float(value))} ± 0"
    digits = max(1 - floor(log10(se)), 0)
    if digits > 6:
        return f"{value:.3g} ± {se:.2g}"
    return f"{value:.{digits}f} ± {se:.{digits}f}"


def evidence(entry: Mapping[str, Any]) -> str:
    """One piece of evidence: what it is, and its figure."""
    value = figure(entry) if "se" in entry else number(entry["value"])
    return f"{entry['what']}: {value}"
