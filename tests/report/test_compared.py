"""Tables of the paper as sheets."""

import pytest

from rehead.experiments.comparison import compare
from rehead.experiments.published import published
from rehead.experiments.results import Result, Results
from rehead.experiments.tables import cell_of, table_cells
from rehead.report.compared import noise_name, number, signed, spread, table_sheet

from ..experiments.results_of import result_of, write_seeds


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path)


def test_printed_and_ours_side_by_side(results):
    entry = published().of("5")[1]
    columns = {"softmax": [50.0, 52.0], "RoG": [60.0, 61.0], "auto": [70.0, 72.0]}
    write_seeds(results, cell_of(entry), columns)
    sheet = table_sheet(compare("5", results, seeds=2))
    row = dict(zip(sheet.header, sheet.rows[1], strict=True))
    assert row["softmax, paper"] == f"{entry.accuracy['softmax']:.2f}"
    assert row["softmax"] == "51.0 ± 1.4"
    assert row["RoG, paper"] == f"{entry.accuracy['RoG']:.2f}"
    assert row["auto"] == "71.0 ± 1.4"
    assert row["gain"] == "+9.5"
    assert row["seeds"] == "2"
    assert sheet.n_labels == 3


def test_data_for_programs_are_numbers(results):
    entry = published().of("5")[1]
    columns = {"softmax": [50.0, 52.0], "RoG": [60.0, 61.0], "auto": [70.0, 72.0]}
    write_seeds(results, cell_of(entry), columns)
    header, first, second, *_ = table_sheet(compare("5", results, seeds=2)).data
    row = dict(zip(header, second, strict=True))
    assert (row["softmax mean"], row["RoG mean"], row["seeds"]) == ("51", "60.5", "2")
    assert float(row["softmax sd"]) == pytest.approx(2**0.5, rel=1e-3)
    assert float(row["RoG printed"]) == entry.accuracy["RoG"]
    empty = dict(zip(header, first, strict=True))
    assert (empty["RoG mean"], empty["status"], empty["auto printed"]) == ("", "not run", "")


def test_what_did_not_run_is_said(results):
    cell = next(c for c in table_cells("2") if c.data == "svhn")
    results.write(Result(cell, "data not here", "download it"))
    sheet = table_sheet(compare("2", results))
    states = {row[sheet.header.index("seeds")] for row in sheet.rows}
    assert states == {"data not here", "not run"}
    assert "SVHN: data not here (1 row)" in " ".join(sheet.notes)


def test_a_missing_source_is_not_taken_for_missing_data(results):
    """CIFAR-10 may be there, and only the images of the open-set noise not."""
    cell = next(c for c in table_cells("7") if c.source == "cifar100")
    results.write(Result(cell, "data not here", "download it"))
    said = " ".join(table_sheet(compare("7", results)).notes)
    assert "Not run: CIFAR-10 with images of CIFAR-100: data not here (1 row)" in said
    assert "CIFAR-10: data not here" not in said


def test_how_much_noise_a_labeller_made_is_said(results):
    cell = table_cells("6")[0]
    results.write(result_of(cell, noise_rate=0.41, softmax=50.0, RoG=51.0, auto=52.0))
    sheet = table_sheet(compare("6", results))
    row = dict(zip(sheet.header, sheet.rows[0], strict=True))
    assert (row["noise"], row["wrong labels"], row["seeds"]) == ("semantic 32%", "41", "1")
    assert "as our labellers made it" in sheet.notes[0]
    assert "wrong labels" not in table_sheet(compare("2", results)).header


def test_deviations_are_counted(results):
    first, second = table_cells("5", seeds=1)[0], table_cells("5", seeds=1)[-1]
    for cell in (first, second):
        results.write(result_of(cell, softmax=50.0, RoG=51.0))
    (said,) = [n for n in table_sheet(compare("5", results)).notes if n.startswith("Deviations")]
    assert "the official dev tweets held out, not 570 samples (1 of 2 rows)" in said


@pytest.mark.parametrize("table", "12345678")
def test_every_printed_number_is_in_its_sheet(table, results):
    sheet = table_sheet(compare(table, results))
    printed = [v for e in published().of(table) for v in e.accuracy.values()]
    found = [
        t
        for row in sheet.rows
        for t, name in zip(row, sheet.header, strict=True)
        if "paper" in name
    ]
    shown = [t for t in found if t not in ("–",) and not t.startswith(("+", "-"))]
    assert sorted(shown) == sorted(f"{v:.2f}" for v in printed)


def test_numbers_in_words():
    import numpy as np

    assert (number(float("nan")), number(1.25), signed(0.04)) == ("–", "1.2", "+0.0")
    assert spread(np.array([])) == "–"
    assert spread(np.array([50.0])) == "50.0"
    cell = table_cells("4")[0]
    assert noise_name(cell) == "flip 45%"
    assert noise_name(table_cells("2")[0]) == "clean"
