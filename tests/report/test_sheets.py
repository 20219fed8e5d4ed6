"""Sheets in four forms."""

import csv
import io

import pytest

from rehead.report.sheets import FORMS, Sheet, render, to_rich

SHEET = Sheet(
    "Table 2. A & B",
    ["noise_kind", "softmax, paper", "RoG"],
    [["uniform 40%", "61.98", "60.1 ± 0.3"], ["a|b", "–", "70.0"]],
    ["50 % of it."],
    1,
)


@pytest.mark.parametrize("form", FORMS)
def test_every_text_is_in_every_form(form):
    text = render(SHEET, form)
    for cell in ("61.98", "70.0", "softmax,", "paper"):
        assert cell in text


def test_csv_is_read_back():
    rows = list(csv.reader(io.StringIO(render(SHEET, "csv"))))
    assert rows == [list(SHEET.header), *map(list, SHEET.rows)]


def test_markdown_has_one_bar_more_than_columns():
    lines = render(SHEET, "markdown").split("\n\n")[0].splitlines()
    assert {line.replace("\\|", "").count("|") for line in lines} == {4}
    assert lines[1] == "| --- | ---: | ---: |"
    assert render(SHEET, "markdown").endswith("50 % of it.")


def test_latex_is_escaped():
    text = render(SHEET, "latex")
    assert r"uniform 40\% & 61.98 & 60.1 $\pm$ 0.3 \\" in text
    assert r"noise\_kind" in text
    assert r"\begin{tabular}{lrr}" in text
    assert r"\caption{Table 2. A \& B. 50 \% of it.}" in text


def test_latex_has_a_minus_and_a_dash():
    sheet = SHEET._replace(rows=[["co-teaching", "–", "-1.5"]])
    assert r"co-teaching & -- & $-$1.5 \\" in render(sheet, "latex")


def test_the_terminal_gets_no_escape_codes():
    text = render(SHEET)
    assert "\x1b" not in text
    assert text.splitlines()[0] == "Table 2. A & B"
    assert to_rich(SHEET).row_count == 2


def test_the_title_of_a_narrow_table_is_one_line():
    sheet = Sheet("Figure 2a. Generative classifiers", ["file"], [["a.png"]])
    assert render(sheet).splitlines()[0] == "Figure 2a. Generative classifiers"


def test_names_of_number_columns_do_not_widen_the_terminal():
    wide = SHEET._replace(header=["noise_kind", "a name of many words", "RoG"])
    assert max(map(len, render(wide._replace(notes=[])).splitlines())) < 45


def test_unknown_form():
    with pytest.raises(ValueError, match="Did you mean 'markdown'"):
        render(SHEET, "markdwon")
