"""What is said about table 6 follows from results."""

from dataclasses import replace
from pathlib import Path

import pytest

from rehead.experiments.comparison import compare
from rehead.experiments.results import Results
from rehead.experiments.tables import varied_cells
from rehead.experiments.variations import VARIATIONS
from rehead.report.semantic import labellers_text, semantic_text
from rehead.report.varied import varied_sheets

from ..experiments.results_of import result_of

RESULTS = Results(Path(__file__).parents[2] / "results")
CROPS, MORE = (f'"{VARIATIONS[name].text}"' for name in ("augmented", "more-images"))


def text_of(results):
    return labellers_text(compare("6", results), results, "quick")


@pytest.fixture
def results(tmp_path):
    """Rows of the table with a gain of -1."""
    results = Results(tmp_path)
    for cell in varied_cells("quick", "6"):
        results.write(result_of(replace(cell, variation=""), softmax=50.0, RoG=49.0))
    return results


def change(results, **gains):
    """Gains of RoG with each labeller, by change."""
    for name, by_labeller in gains.items():
        cells = [c for c in varied_cells("quick", "6") if c.variation == name.replace("_", "-")]
        for cell, gain in zip(cells, by_labeller, strict=False):
            results.write(result_of(cell, noise_rate=0.31, softmax=50.0, RoG=50.0 + gain))


def test_where_the_loss_comes_from_is_told_from_the_columns():
    clean = [row for row in compare("1", RESULTS).ran if row.cell.noise == "none"]
    table = compare("6", RESULTS)
    text = semantic_text(table, clean)
    n = len(table.comparable)
    assert f"of {n} rows here, and in {n} in the paper" in text
    assert "it is not the trimming that fails here. On clean labels RoG gains" in text


def test_a_change_that_gives_the_sign_of_the_paper_is_a_reason(results):
    change(results, augmented=(-2, -2, -2), more_images=(1, 2, 3))
    text = text_of(results)
    assert f"with {MORE} RoG gains +2.0 on average (in the table -1.0, printed +1.4)" in text
    assert f"with {CROPS} RoG gains -2.0" in text
    assert "above the softmax with 3 of 3 labellers" in text
    assert f"With {MORE} the sign is that of the paper with every labeller" in text
    assert "stays open" not in text


def test_a_change_that_helps_is_not_called_the_reason(results):
    change(results, augmented=(-2, -2, -2), more_images=(-0.5, 1, 1))
    text = text_of(results)
    assert f"With {MORE} the gain is larger with every labeller, but not above 0 with all" in text
    assert "is not explained, and stays open" in text
    assert f"With {CROPS}" not in text


def test_what_was_not_run_decides_nothing(results):
    assert text_of(results).startswith("No change of the training was tried with labellers.")
    change(results, more_images=(1, 2))
    text = text_of(results)
    assert "with 2 of 2 labellers" in text
    assert "stays open" in text
    assert f"Not run: {CROPS} (DenseNet-100, ResNet-34, VGG-13); " in text
    assert text.endswith(f"{MORE} (VGG-13).")


def test_each_change_has_a_line_with_its_share_of_wrong_labels(results):
    change(results, more_images=(1, 2, 3))
    (sheet,) = varied_sheets(results, "quick", "6")
    assert [row[:3] for row in sheet.rows[:2]] == [
        ["DenseNet-100", "as in the table", "40.0"],
        ["DenseNet-100", MORE.strip('"'), "31.0"],
    ]
    assert len(sheet.rows) == 6
    assert "taught anew" in sheet.notes[0]


def test_without_results(tmp_path):
    nothing = Results(tmp_path)
    assert semantic_text(compare("6", nothing), []) == "Nothing was run."
    assert "was tried with labellers. Not run: " in text_of(nothing)
