"""Sentences whose numbers come from results."""

from dataclasses import replace

from rehead.experiments.cell import Cell
from rehead.experiments.comparison import Row, compare
from rehead.experiments.results import Results
from rehead.experiments.tables import table_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.findings import last_layer, many_classes, table_findings, text_rows
from rehead.report.varied import text_tables

from ..experiments.results_of import result_of


def test_a_sentence_for_each_table_that_ran(tmp_path):
    results = Results(tmp_path)
    clean, noisy = table_cells("1")[0], table_cells("1")[3]
    results.write(result_of(clean, softmax=90.0, RoG=80.0, auto=90.0))
    results.write(result_of(noisy, softmax=50.0, RoG=55.0, auto=62.0))
    (said,) = table_findings(results, "quick")
    assert said.startswith(
        "**Table 1**: with noise RoG gains +5.0 points on average (printed: +6.4"
    )
    assert said.endswith("the default gains +12.0.")


def test_many_classes_say_that_nothing_is_trimmed():
    assert many_classes([]) == "Tiny ImageNet was not run."
    cell = next(c for c in table_cells("2") if c.data == "tinyimagenet32" and c.noise == "flip")
    result = result_of(cell, softmax=5.0, RoG=6.0, auto=7.0, RoG_last_layer=6.0)
    kept = replace(result.measurements[-1], details={"kept": {"last": 6000}})
    network = {**result.network, "n_train": 7200}
    result = replace(result, network=network, measurements=(*result.measurements, kept))
    said = many_classes([Row(cell, {}, [result], "ran", "")])
    assert "of 7,200 samples the MCD keeps 6,000" in said
    assert "flip 40%: softmax 5.0, RoG 6.0, default 7.0" in said


def test_gains_of_the_last_layer_and_of_the_ensemble(tmp_path):
    results = Results(tmp_path)
    assert last_layer(compare("1", results)) == "Nothing was run."
    noisy = table_cells("1")[3]
    accuracy = {"softmax": 50.0, "LDA": 49.0, "RoG_last_layer": 49.5, "LDA_ensemble": 53.0}
    results.write(result_of(noisy, RoG=55.0, auto=62.0, **accuracy))
    said = last_layer(compare("1", results))
    assert "LDA -1.0 (+4.1), RoG last layer -0.5 (+5.5), LDA ensemble +3.0 (+6.4), RoG +5.0" in said


def test_the_change_that_comes_nearest_is_named(tmp_path):
    results = Results(tmp_path)
    assert "no change was tried" in text_rows(text_tables(results, "quick"))
    for variation, accuracy in (("", 50.0), ("long", 40.0), ("short", 75.0)):
        for rate in (0.2, 0.4, 0.6):
            cell = Cell("5", "fcn", "reuters8", "uniform", rate, variation=variation)
            results.write(result_of(cell, softmax=accuracy, RoG=accuracy))
    said = text_rows(text_tables(results, "quick"))
    assert f"comes nearest is: {VARIATIONS['short'].text}" in said
