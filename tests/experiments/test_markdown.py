"""One writer of tables for all pages."""

import pytest

from rehead.experiments.markdown import table_lines


def test_numbers_stand_to_the_right_of_labels():
    assert table_lines(["a", "b"], [["1", "2"]]) == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]
    assert table_lines(["a", "b", "c"], [], n_labels=1)[1] == "| --- | ---: | ---: |"


def test_a_bar_does_not_end_a_cell():
    lines = table_lines(["|x|"], [["a|b"]])
    assert lines[0] == "| \\|x\\| |"
    assert lines[2] == "| a\\|b |"


def test_rows_must_fit():
    with pytest.raises(ValueError, match="2 cells"):
        table_lines(["a", "b"], [["1"]])
