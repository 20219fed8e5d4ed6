"""Pages from templates."""

from importlib.resources import files

import pytest
from jinja2 import UndefinedError

from rehead.report.rendering import count, decimal, percent, render, versions


def test_numbers_as_people_read_them():
    assert percent(0.1234, 1) == "12.3\u00a0%"
    assert percent(0.0) == "0\u00a0%"
    assert percent(0.001) == "<1\u00a0%"
    assert count(12345) == "12,345"
    assert decimal(float("nan")) == "–"


def test_what_a_template_needs_must_be_there():
    with pytest.raises(UndefinedError):
        render("report.html.j2", title="x", versions=versions())


def test_versions_name_what_a_page_depends_on():
    assert {"rehead", "numpy", "scikit-learn", "Python", "torch"} <= set(versions("torch"))


def test_style_and_script_cannot_end_their_elements():
    for name, end in (("report.css", "</style"), ("map.js", "</script")):
        text = (files("rehead.report") / "static" / name).read_text(encoding="utf-8")
        assert end not in text
        assert "http" not in text
