"""docs/troubleshooting.md has an entry for every warning, and quotes only what the source says."""

import ast
import re
from pathlib import Path

import pytest

import rehead

SOURCE = Path(rehead.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "troubleshooting.md"
TREES = {
    file.relative_to(SOURCE): ast.parse(file.read_text(encoding="utf-8"))
    for file in sorted(SOURCE.rglob("*.py"))
}
NOTES = "gaussian"
"""A room that does not warn by itself: its texts are passed on to those that users call."""
SENTENCE = 40
"""Shorter texts of that room are names and keys."""
PHRASE = 40
"""Letters of a warning that its entry has, at least."""
ANY = "…"
"""Stands for what differs from one message to the next."""


def message(node):
    """A text of the source as the page quotes it."""
    if isinstance(node, ast.JoinedStr):
        return "".join(getattr(v, "value", ANY) if is_text(v) else ANY for v in node.values)
    return node.value


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def texts(node, without=()):
    """Texts in a piece of source, f-strings whole; nodes of the kinds ``without`` are left out."""
    if isinstance(node, without):
        return
    if is_text(node) or isinstance(node, ast.JoinedStr):
        yield message(node)
        return
    for child in ast.iter_child_nodes(node):
        yield from texts(child, without)


def warnings_of_the_source():
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "warn":
                yield from texts(node.args[0])
        if file.parts[0] == NOTES and file.name != "settings.py":
            # Expressions that stand alone are docstrings, or calls: notes.append(...).
            calls = [n.value for n in ast.walk(tree) if isinstance(n, ast.Expr)]
            found = [t for n in calls if isinstance(n, ast.Call) for t in texts(n)]
            found += texts(tree, (ast.Raise, ast.Assert, ast.Expr))
            yield from (text for text in found if len(text) >= SENTENCE)


def phrase(warning):
    """How the longest part begins that is the same each time."""
    return max(warning.split(ANY), key=len).strip(" .,:;()")[:PHRASE].strip()


def page():
    return re.sub(r"\s+", " ", PAGE.read_text(encoding="utf-8"))


def quotes():
    return re.findall(r"^> (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


PHRASES = sorted({phrase(w) for w in warnings_of_the_source()} - {"layer", "baseline"})
"""What other warnings are prefixed with is no warning of its own."""


def test_the_warnings_of_the_source_are_found():
    assert "The features are too ill-conditioned for" in PHRASES  # a constant of the core
    assert any(p.startswith("seem to belong to other classes") for p in PHRASES)  # a note
    assert any("judges the labels" in p for p in PHRASES)  # a call


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_warning_has_an_entry(phrase):
    assert phrase in page(), f"{PAGE.name} has no entry for the warning with {phrase!r}"


@pytest.mark.parametrize("quote", quotes())
def test_what_is_quoted_is_what_the_source_says(quote):
    said = [text for tree in TREES.values() for text in texts(tree)]
    begin = quote.removeprefix(ANY).strip()
    assert any(begin in text for text in said), f"no message has {begin!r}"
