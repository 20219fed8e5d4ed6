"""Pages from templates: one look, everything inside of one file."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rehead.report.packed import script_json

NOTHING = "–"
USED = ("rehead", "numpy", "scipy", "scikit-learn")
"""Packages whose versions a page names."""


def render(template: str, **values: Any) -> bytes:
    """A page. Text of values is escaped; nothing that it refers to is outside of it."""
    environment = Environment(
        loader=PackageLoader("rehead.report"),
        autoescape=True,  # whatever a template's name ends with
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": percent,
        "count": count,
        "decimal": decimal,
        "script_json": lambda value: Markup(script_json(value)),
    }
    page = environment.get_template(template).render(
        style=_static("report.css"), script=_static("map.js"), **values
    )
    return page.encode()


def versions(*more: str) -> dict[str, str]:
    """Versions of Python and of the packages that a page depends on."""
    found = {name: version(name) for name in (*USED, *more)}
    return {**found, "Python": platform.python_version()}


def percent(share: float, digits: int = 0) -> str:
    r"""A share, as people read it.

    Examples
    --------
    >>> percent(0.4), percent(0.0004, 1), percent(float("nan"))
    ('40\xa0%', '<0.1\xa0%', '–')
    """
    if math.isnan(share):
        return NOTHING
    least = 10.0**-digits
    if 0 < 100 * share < least / 2:
        return f"<{least:.{digits}f}\u00a0%"
    return f"{100 * share:.{digits}f}\u00a0%"


def count(n: float) -> str:
    """A whole number with its thousands apart.

    Examples
    --------
    >>> count(1234567.4)
    '1,234,567'
    """
    return f"{n:,.0f}"


def decimal(value: float, digits: int = 2) -> str:
    """A number, or a dash where there is none."""
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


def _static(name: str) -> Markup:
    """A file of the package that belongs into every page."""
    return Markup((files("rehead.report") / "static" / name).read_text(encoding="utf-8"))
