"""Table 5 taken apart."""

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
    assert sheets[0].notes == ["Seeds: 0 as in the table, 1 with a change."]


def test_changes_that_nobody_ran_are_counted(tmp_path):
    results = Results(tmp_path)
    every = [cell for table in "156" for cell in varied_cells("quick", table)]
    for cell in every[:-2]:
        results.write(result_of(cell, softmax=60.0, RoG=61.0))
    change = VARIATIONS[every[-1].variation].text
    assert unfinished_changes(results, "quick") == [f'"{change}" in 2 cells of table 6']
    results.write(result_of(every[-2], softmax=60.0, RoG=61.0))
    assert unfinished_changes(results, "quick") == [f'"{change}" in 1 cell of table 6']
