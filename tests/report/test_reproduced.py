"""Sheets by name."""

from dataclasses import replace

import pytest

from rehead.experiments.asked import Scope
from rehead.experiments.results import Results
from rehead.experiments.tables import table_cells
from rehead.report.reproduced import sheets_of

from ..experiments.results_of import result_of


def test_a_table_all_tables_and_a_cell(tmp_path):
    results = Results(tmp_path)
    cell = table_cells("2")[0]
    results.write(result_of(cell, softmax=60.0, RoG=61.25, auto=65.0))
    (table,) = sheets_of("table2", Scope(), results)
    assert table.rows[0][-1] == "1"
    (every,) = sheets_of("all", Scope(), results)
    assert [row[1] for row in every.rows][1] == "1 of 39"
    (one,) = sheets_of(cell.name, Scope(), results)
    assert one.rows[1][:2] == ["RoG", "61.25"]
    (missing,) = sheets_of(table_cells("2")[1].name, Scope(), results)
    assert missing.notes == ["not run: not run yet"]


def test_a_cell_tells_about_its_network(tmp_path):
    results = Results(tmp_path)
    cell = table_cells("2")[0]
    network = {"fitted": 0.9996, "parameters": 10528074.0, "source": "537ab4d4ef5a3321"}
    results.write(replace(result_of(cell, softmax=60.0), network=network))
    (one,) = sheets_of(cell.name, Scope(), results)
    assert one.notes == ["fitted 0.9996, parameters 10,528,074, source 537ab4d4ef5a3321"]


def test_variations(tmp_path):
    assert len(sheets_of("table5-variations", Scope(), Results(tmp_path))) == 6


def test_unknown(tmp_path):
    with pytest.raises(ValueError, match="There is no 'table9'"):
        sheets_of("table9", Scope(), Results(tmp_path))
