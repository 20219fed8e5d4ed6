"""What is said about tables 3, 4 and 6 follows from results."""

from dataclasses import replace
from pathlib import Path

import pytest

from rehead.experiments.comparison import compare
from rehead.experiments.results import Results
from rehead.experiments.tables import table_cells, varied_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.methods import (
    beyond,
    d2l_text,
    d2l_tried,
    gain_spread,
    memorised_text,
    repeated,
    repeated_text,
)

from ..experiments.results_of import result_of

RESULTS = Results(Path(__file__).parents[2] / "results")


@pytest.fixture(scope="module")
def nothing(tmp_path_factory):
    return Results(tmp_path_factory.mktemp("nothing"))


def test_rows_that_repeat_plain_training_are_named():
    table = compare("3", RESULTS)
    same = repeated(table)
    assert {row.cell.method for row in same} >= {"forward", "backward"}
    for row in same:
        plain = next(r for r in table.ran if r.cell == replace(row.cell, method="cross-entropy"))
        assert row.mean("RoG") == plain.mean("RoG")
    text = repeated_text(table)
    assert f"{len(same)} of {len(table.ran)} rows" in text
    assert f"of {len(table.ran) - len(same)} rows here" in text


def test_a_table_without_repeated_rows_says_nothing():
    assert repeated_text(compare("1", RESULTS)) == ""


def d2l_rows(folder, fitted=0.9, **softmax):
    """Table 3 with plain training and D2L, which has these accuracies, by noise."""
    results = Results(folder)
    for cell in table_cells("3"):
        if cell.data == "cifar10" and cell.kind in softmax:
            accuracy = softmax[cell.kind] if cell.method == "d2l" else 50.0
            if cell.method in ("d2l", "cross-entropy"):
                results.write(result_of(cell, fitted=fitted, softmax=accuracy))
    return compare("3", results)


def test_where_d2l_turns_is_told_from_the_numbers(tmp_path):
    text = d2l_text(d2l_rows(tmp_path, uniform20=53.0, uniform40=50.0))
    assert "turns in 1 of 2 rows, one seed each: uniform 20%." in text
    assert "by +3.0 points on average (printed: " in text
    assert "memorising" not in text


def test_d2l_that_memorises_all_the_same(tmp_path):
    text = d2l_text(d2l_rows(tmp_path, fitted=0.99, uniform20=53.0))
    assert "it fits at least 99.0 % of the labels. So it does not keep these networks" in text


def test_d2l_that_never_turns_says_nothing_else(tmp_path):
    table = d2l_rows(tmp_path, uniform20=50.0)
    assert "never saw its turning point" in repeated_text(table)
    text = d2l_text(table)
    assert text == "*D2L* turns in 0 of 1 row, one seed each."


@pytest.mark.parametrize(("gain", "said"), [(1.0, "stays open"), (20.0, "So this is a reason: ")])
def test_changes_that_were_tried_with_d2l(gain, said, tmp_path):
    results = Results(tmp_path)
    tried = [c for c in varied_cells("quick", "3") if c.variation == "augmented"]
    assert {c.method for c in tried} == {"cross-entropy", "d2l"}
    for cell in (*tried, *(replace(c, variation="") for c in tried)):
        above = gain if cell.variation and cell.method == "d2l" else 0.0
        results.write(result_of(cell, softmax=50.0 + above))
    text = d2l_tried(results, "quick")
    crops = f'"{VARIATIONS["augmented"].text}"'
    assert f"one seed: +0.0 (as in the table), {gain:+.1f} ({crops}). Printed: +22.8." in text
    assert said in text
    assert f'Not run: "{VARIATIONS["more-images"].text}".' in text


def test_a_table_without_d2l_does_not_speak_of_it():
    assert d2l_text(compare("4", RESULTS)) == ""


def test_what_is_fitted_beyond_the_right_labels():
    rows = compare("4", RESULTS).ran
    by_method = {m: [beyond(r) for r in rows if r.cell.method == m] for m in ("co-teaching",)}
    assert max(by_method["co-teaching"]) < 0.02
    text = memorised_text(compare("4", RESULTS))
    assert "It is not the whole reason: decoupling gains most" in text


def test_the_spread_of_a_gain_is_said():
    assert "standard deviation" in gain_spread(compare("1", RESULTS))


def test_without_results(nothing):
    assert repeated_text(compare("3", nothing)) == ""
    assert d2l_text(compare("3", nothing)) == ""
    assert d2l_tried(nothing, "quick").startswith("No change of the training was tried with D2L.")
    assert memorised_text(compare("4", nothing)) == "Too few rows ran to tell why."
    assert "not known" in gain_spread(compare("1", nothing))
