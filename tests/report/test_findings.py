"""Sentences whose numbers come from results."""

from dataclasses import replace

import pytest

from rehead.experiments.cell import Cell
from rehead.experiments.comparison import Row, compare
from rehead.experiments.results import Results
from rehead.experiments.tables import table_cells, varied_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.findings import (
    images_varied,
    last_layer,
    many_classes,
    table_findings,
    text_rows,
)
from rehead.report.varied import text_tables

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


def test_gains_of_the_last_layer_and_of_the_ensemble(tmp_path):
    results = Results(tmp_path)
    assert last_layer(compare("1", results)) == "Nothing was run."
    noisy = table_cells("1")[3]
    accuracy = {"softmax": 50.0, "LDA": 49.0, "RoG_last_layer": 49.5, "LDA_ensemble": 53.0}
    results.write(result_of(noisy, RoG=55.0, auto=62.0, **accuracy))
    said = last_layer(compare("1", results))
    assert "LDA -1.0 (+4.1), RoG last layer -0.5 (+5.5), LDA ensemble +3.0 (+6.4), RoG +5.0" in said
    assert "it is the earlier layers" in said
    other = table_cells("1")[6]
    results.write(result_of(other, RoG=55.0, **{**accuracy, "RoG_last_layer": 60.0}))
    assert "earlier layers" not in last_layer(compare("1", results))


def test_the_change_that_comes_nearest_is_named(tmp_path):
    results = Results(tmp_path)
    assert "no change was tried" in text_rows(text_tables(results, "quick"))
    for variation, accuracy in (("long", 40.0), ("short", 75.0), ("", 50.0)):
        # Without the table's own rows there is nothing to be nearer than.
        assert "The nearest of" not in text_rows(text_tables(results, "quick"))
        for rate in (0.2, 0.4, 0.6):
            cell = Cell("5", "fcn", "reuters8", "uniform", rate, variation=variation)
            results.write(result_of(cell, softmax=accuracy, RoG=accuracy, RoG_shrunk=accuracy + 4))
    said = text_rows(text_tables(results, "quick"))
    assert f'The nearest of 3 settings of training is "{VARIATIONS["short"].text}"' in said
    assert "and 'RoG shrunk' in place of RoG" in said


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ({"resnet34": 52.0, "densenet100": 52.0}, "few images are one reason"),
        ({"resnet34": 48.0, "densenet100": 58.0}, "gains more with 1 of 2 networks"),
        ({"resnet34": 48.0, "densenet100": 48.0}, "few images are not the reason"),
    ],
)
def test_few_images_are_a_reason_only_if_both_networks_say_so(last, said, tmp_path):
    results = Results(tmp_path)
    for cell in varied_cells("quick", "1"):
        plain = replace(cell, variation="")
        results.write(result_of(plain, softmax=50.0, RoG=55.0, RoG_last_layer=49.0))
        more = last[cell.network] if cell.variation == "more-images" else 49.0
        results.write(result_of(cell, softmax=50.0, RoG=55.0, RoG_last_layer=more))
    assert said in images_varied(results, "quick")


def test_changes_of_the_training_of_images_in_words(tmp_path):
    results = Results(tmp_path)
    assert "Not all" in images_varied(results, "quick")
    for cell in varied_cells("quick", "1"):
        rog, last = {"augmented": (48.0, 49.0), "more-images": (58.0, 52.0)}.get(
            cell.variation, (55.0, 49.0)
        )
        results.write(result_of(cell, softmax=50.0, RoG=rog, RoG_last_layer=last))
        plain = replace(cell, variation="")
        results.write(result_of(plain, softmax=50.0, RoG=55.0, RoG_last_layer=49.0))
    said = images_varied(results, "quick")
    assert "RoG: +5.0 (as in the table)" in said
    assert "-2.0 (random crops and flips, as in the paper)" in said
    assert "nothing to gain" in said
    assert "few images are one reason" in said
