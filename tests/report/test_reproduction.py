"""The page of the reproduction says what the results say."""

from pathlib import Path

import pytest

from rehead.experiments.results import Results
from rehead.experiments.tables import table_cells
from rehead.experiments.theory.kept import keep_theorem, read_theorem
from rehead.report.reproduction import Page, reproduction_page, theorem_text, write_pages

from ..experiments.results_of import result_of

ROOT = Path(__file__).parents[2]
FIX = "run `rehead reproduce page -o docs/reproduction.md`, and commit what it writes"


def test_the_committed_page_is_that_of_the_committed_results():
    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert text == reproduction_page(Results(ROOT / "results")), FIX


def test_the_committed_page_of_the_theorem_too():
    text = (ROOT / "docs" / "theorem.md").read_text(encoding="utf-8")
    assert text == theorem_text(read_theorem(ROOT / "results" / "quick")), FIX


def test_every_picture_of_the_page_is_there():
    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    pictures = [part.partition(")")[0] for part in text.split("](figures/")[1:]]
    assert pictures
    for name in pictures:
        assert (ROOT / "docs" / "figures" / name).exists()
        assert (ROOT / "docs" / "figures" / name.replace(".png", ".svg")).exists()


@pytest.fixture
def results(tmp_path):
    results = Results(tmp_path / "results")
    cells = table_cells("2")
    results.write(result_of(cells[0], softmax=60.0, RoG=61.0, auto=59.5))
    keep_theorem(results.folder / "quick", "tiny")
    return results


def test_a_page_follows_its_results(results, tmp_path):
    text = reproduction_page(results)
    assert "| ResNet-34 | CIFAR-10 | clean | 94.76 | 60.0 | 94.68 | 61.0 | – | 59.5 |" in text
    assert "below RoG**: table2-cifar10-resnet34-none-cross-entropy (-1.5)" in text
    results.write(result_of(table_cells("2")[3], softmax=50.0, RoG=51.0, auto=52.0))
    assert reproduction_page(results) != text
    written = write_pages(results.folder, tmp_path / "page.md")
    assert all(file.exists() for file in written.files)
    assert "Call `rehead reproduce figure2a`" in written.missing["2a"]


def test_what_holds_for_one_profile_is_said_of_no_other(results):
    """Sizes of the profile quick, and why its accuracies are low."""
    assert "5,000 images, without augmentation" in reproduction_page(results)
    keep_theorem(results.folder / "paper", "tiny")
    assert "without augmentation" not in reproduction_page(results, "paper")


def test_rows_and_means_of_a_page(results):
    page = Page(results, "quick")
    assert page.mean("2", "RoG", network="resnet34") == pytest.approx(61.0)
    assert page.mean("2", "RoG", network="densenet100") != page.mean("2", "RoG")
    assert [row.cell.noise for row in page.rows("2")] == ["none"]
    assert page.networks["cells"] == 1
    assert page.versions == "0.0"
