"""Sentences whose numbers come from results."""

from dataclasses import replace

import pytest

from rehead.experiments.comparison import Row
from rehead.experiments.results import Results
from rehead.experiments.tables import table_cells
from rehead.report.findings import many_classes, table_findings

from ..experiments.results_of import result_of


def test_a_sentence_for_each_table_that_ran(tmp_path):
    results = Results(tmp_path)
    clean, noisy = table_cells("1")[0], table_cells("1")[3]
    results.write(result_of(clean, softmax=90.0, RoG=80.0, auto=90.0))
    results.write(result_of(noisy, softmax=50.0, RoG=55.0, auto=62.0))
    (said,) = table_findings(results, "quick")
    assert said.startswith(
        "**Table 1**: with noise RoG gains +5.0 points on average over 1 row (printed: +6.4)"
    )
    assert said.endswith("the default gains +12.0.")


def test_printed_gains_and_ours_are_of_the_same_rows(tmp_path):
    """Table 4 prints RoG for co-teaching only, and we measure it for every method."""
    results = Results(tmp_path)
    alone, printed = table_cells("4")[0], table_cells("4")[3]
    assert (alone.method, printed.method) == ("cross-entropy", "co-teaching")
    results.write(result_of(alone, softmax=50.0, RoG=90.0, auto=95.0))
    results.write(result_of(printed, softmax=50.0, RoG=51.0, auto=53.0))
    (said,) = table_findings(results, "quick")
    assert "RoG gains +1.0 points on average over 1 row (printed: +0.1)" in said
    assert said.endswith("the default gains +3.0.")


def test_rows_that_the_paper_does_not_have_are_said_to_be_none(tmp_path):
    results = Results(tmp_path)
    stand_in = next(c for c in table_cells("7") if c.source == "tinyimagenet32")
    results.write(result_of(stand_in, softmax=50.0, RoG=52.0, auto=54.0))
    (said,) = table_findings(results, "quick")
    assert "RoG gains +2.0 points on average over 1 row, none of them printed" in said
    results.write(result_of(table_cells("1")[0], softmax=90.0, RoG=80.0, auto=90.0))
    assert table_findings(results, "quick")[0] == "**Table 1**: no row with noise ran."


@pytest.mark.parametrize("kept", [7200, 6000])
def test_many_classes_say_that_nothing_is_trimmed_where_that_is_so(kept):
    assert many_classes([]) == "Tiny ImageNet was not run."
    cell = next(c for c in table_cells("2") if c.data == "tinyimagenet32" and c.noise == "flip")
    result = result_of(cell, softmax=5.0, RoG=6.0, auto=7.0, RoG_last_layer=6.0)
    last = replace(result.measurements[-1], details={"kept": {"last": kept}})
    network = {**result.network, "n_train": 7200}
    result = replace(result, network=network, measurements=(*result.measurements, last))
    failed = result_of(cell, softmax=5.0, RoG=6.0, auto=7.0)
    said = many_classes([Row(cell, {}, [failed, result], "ran", "")])
    assert f"Of 7,200 samples the MCD keeps {kept:,}" in said
    assert ("Nothing is trimmed" in said) == (kept == 7200)
    assert "flip 40%: softmax 5.0, RoG 6.0, default 7.0" in said
