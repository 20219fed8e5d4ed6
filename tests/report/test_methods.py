"""What is said about tables 3, 4 and 6 follows from results."""

from dataclasses import replace
from pathlib import Path

import pytest

from rehead.experiments.comparison import compare
from rehead.experiments.results import Results
from rehead.report.methods import (
    beyond,
    earlier_sheet,
    earlier_text,
    gain_spread,
    memorised_text,
    repeated,
    repeated_text,
    semantic_text,
)

RESULTS = Results(Path(__file__).parents[2] / "results")


@pytest.fixture(scope="module")
def nothing(tmp_path_factory):
    return Results(tmp_path_factory.mktemp("nothing"))


def test_rows_that_repeat_plain_training_are_named():
    table = compare("3", RESULTS)
    same = repeated(table)
    assert {row.cell.method for row in same} == {"d2l", "forward", "backward"}
    for row in same:
        plain = next(r for r in table.ran if r.cell == replace(row.cell, method="cross-entropy"))
        assert row.mean("RoG") == plain.mean("RoG")
    text = repeated_text(table)
    assert f"{len(same)} of {len(table.ran)} rows" in text
    assert f"of {len(table.ran) - len(same)} rows here" in text
    assert "never saw its turning point" in text


def test_a_table_without_repeated_rows_says_nothing():
    assert repeated_text(compare("1", RESULTS)) == ""


def test_cells_in_which_d2l_does_not_turn_do_not_count():
    assert "turns in 2 of 3 cells" in earlier_text(RESULTS, "quick")
    assert len(earlier_sheet(RESULTS, "quick").rows) == 9


def test_what_is_fitted_beyond_the_right_labels():
    rows = compare("4", RESULTS).ran
    by_method = {m: [beyond(r) for r in rows if r.cell.method == m] for m in ("co-teaching",)}
    assert max(by_method["co-teaching"]) < 0.02
    text = memorised_text(compare("4", RESULTS))
    assert "It is not the whole reason: decoupling gains most" in text


def test_a_disagreement_is_said_plainly():
    clean = [row for row in compare("1", RESULTS).ran if row.cell.noise == "none"]
    assert "disagrees with the paper, and no variation" in semantic_text(
        compare("6", RESULTS), clean
    )
    assert "standard deviation" in gain_spread(compare("1", RESULTS))


def test_without_results(nothing):
    assert repeated_text(compare("3", nothing)) == ""
    assert earlier_text(nothing, "quick") == "D2L that looks earlier was not tried."
    assert earlier_sheet(nothing, "quick").rows == []
    assert memorised_text(compare("4", nothing)) == "Too few rows ran to tell why."
    assert semantic_text(compare("6", nothing), []) == "Nothing was run."
    assert "not known" in gain_spread(compare("1", nothing))
