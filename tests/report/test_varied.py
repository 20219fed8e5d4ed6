"""Table 5 taken apart."""

from rehead.experiments.cell import Cell
from rehead.experiments.results import Results
from rehead.experiments.tables import varied_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.varied import unfinished_changes, varied_sheets

from ..experiments.results_of import result_of


def test_each_variation_has_a_row_and_printed_numbers_are_beside(tmp_path):
    results = Results(tmp_path)
    cell = next(c for c in varied_cells() if c.variation == "long" and c.kind == "uniform40")
    results.write(result_of(cell, softmax=60.0, RoG=61.0))
    sheets = varied_sheets(results)
    assert len(sheets) == 6
    rows = {row[0]: row for row in sheets[0].rows}
    assert "82.20" in rows["printed"]
    assert VARIATIONS["tf-idf"].text in rows
    assert VARIATIONS["tf-idf"].text not in {row[0] for row in sheets[3].rows}
    long = dict(zip(sheets[0].header, rows[VARIATIONS["long"].text], strict=True))
    assert long["RoG, uniform 40%"] == "61.0"
    assert long["RoG, uniform 20%"] == "–"
    assert (long["gain"], long["away"]) == ("–", "–")  # not all rates ran
    assert sheets[0].notes[0].startswith("Seeds: 0 as in the table, 1 with a change. Gain: ")


def test_gains_and_distances_are_means_over_the_rates_of_noise(tmp_path):
    results = Results(tmp_path)
    for rate, gain in ((0.2, 1.0), (0.4, 2.0), (0.6, 6.0)):
        cell = Cell("5", "fcn", "reuters8", "uniform", rate, variation="long")
        results.write(result_of(cell, softmax=60.0, RoG=60.0 + gain))
    sheet = varied_sheets(results)[0]
    rows = {row[0]: dict(zip(sheet.header, row, strict=True)) for row in sheet.rows}
    assert rows["printed"]["gain"] == "+6.1"
    assert rows[VARIATIONS["long"].text]["gain"] == "+3.0"
    # Softmax: 27.74, 16.54 and 2.51 from the printed ones; RoG: 31.83, 20.20 and 1.02.
    assert rows[VARIATIONS["long"].text]["away"] == "16.6"


def test_changes_that_nobody_ran_are_counted(tmp_path):
    results = Results(tmp_path)
    every = [cell for table in "1356" for cell in varied_cells("quick", table)]
    for cell in every[:-2]:
        results.write(result_of(cell, softmax=60.0, RoG=61.0))
    change = VARIATIONS[every[-1].variation].text
    assert unfinished_changes(results, "quick") == [f'"{change}" in 2 cells of table 6']
    results.write(result_of(every[-2], softmax=60.0, RoG=61.0))
    assert unfinished_changes(results, "quick") == [f'"{change}" in 1 cell of table 6']
