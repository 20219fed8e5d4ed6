import copy
import re

from rehead.experiments.theory import theorem_page
from rehead.experiments.theory.markdown import figure, number

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?(?: ± \d+(?:\.\d+)?(?:e-?\d+)?)?")


def leaves(value):
    """Every figure and number of a result, as the page writes them."""
    if isinstance(value, dict):
        if "se" in value:
            yield figure(value)
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield number(value)


def shown(page):
    """Numbers of a page that are not whole: those that were measured or computed."""
    return {n for n in NUMBER.findall(page) if "." in n or "e" in n or "±" in n}


def texts(result):
    """Sections of the paper and units, which a result has as text."""
    statements = result["statements"]
    return " ".join(s["where"] for s in statements) + " ".join(
        e["what"] for s in statements for e in s["evidence"]
    )


def scaled(value, by):
    """The same result with every number that is not whole multiplied."""
    if isinstance(value, dict):
        return {k: scaled(v, by) for k, v in value.items() if k != "what"} | (
            {"what": value["what"]} if "what" in value else {}
        )
    if isinstance(value, list):
        return [scaled(v, by) for v in value]
    return value * by if isinstance(value, float) else value


def test_every_number_on_the_page_is_in_the_result(tiny):
    page = theorem_page(tiny)
    found = shown(page)
    assert len(found) > 100
    assert found - set(leaves(tiny)) - shown(texts(tiny)) == set()


def test_other_results_give_other_pages(tiny):
    other = scaled(tiny, 1.2345)
    page = theorem_page(other)
    assert shown(page) - set(leaves(other)) - shown(texts(tiny)) == set()
    assert len(shown(theorem_page(tiny)) - shown(page)) > 100


def test_every_statement_is_there_with_its_verdict(tiny):
    page = theorem_page(tiny)
    for s in tiny["statements"]:
        assert f"| {s['says']} | {s['where']} | **{s['verdict']}** |" in page
        for entry in s["evidence"]:
            assert entry["what"] in page
    result = copy.deepcopy(tiny)
    result["statements"][0]["verdict"] = "is odd"
    assert "**is odd**" in theorem_page(result)


def test_a_smoke_run_says_so(tiny):
    assert "smoke run" in theorem_page(tiny)
    result = copy.deepcopy(tiny)
    result["settings"]["name"] = "quick"
    assert "smoke run" not in theorem_page(result)


def test_the_page_is_a_section(tiny):
    lines = theorem_page(tiny).splitlines()
    assert lines[0].startswith("## ")
    assert not any(line.startswith("# ") for line in lines)
    assert not any(line != line.rstrip() for line in lines)
