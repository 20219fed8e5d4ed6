"""Cells that spreadsheet programs run: neutral for people, exact for programs."""

import numpy as np
import pandas as pd
import pytest

from rehead import ReheadWarning
from rehead.files.cells import runs, shown
from rehead.files.tables import write_csv


@pytest.mark.parametrize("cell", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\tx", "\r=x"])
def test_cells_that_run(cell):
    assert runs(cell)
    assert shown(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["a=b", "-3", "+4.5", "-1e-5", "-1,5", "-", "+", "", "'=x", 7, -7])
def test_cells_that_do_not(cell):
    assert not runs(cell)
    assert shown(cell) is cell


COLUMNS = {"id": np.array(["=1+1", "b"]), "value": np.array([-3.5, 4.0])}


def test_a_file_for_people_runs_nothing(tmp_path):
    write_csv(tmp_path / "t.csv", COLUMNS, for_people=True)
    assert (tmp_path / "t.csv").read_text() == "id,value\n'=1+1,-3.5\nb,4.0\n"


def test_a_file_for_programs_is_exact_and_a_warning_tells(tmp_path):
    with pytest.warns(ReheadWarning, match=r"begin like formulas \('=1\+1' first\)"):
        write_csv(tmp_path / "t.csv", COLUMNS)
    assert pd.read_csv(tmp_path / "t.csv")["id"].tolist() == ["=1+1", "b"]
