from pathlib import Path

import pytest

from rehead.experiments.demo import DemoSettings, run_demo
from rehead.report import write_demo_report


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    settings = DemoSettings(n_seeds=1, epochs=60)
    target = tmp_path_factory.mktemp("report") / "demo.html"
    return write_demo_report(run_demo(settings), target, seconds=1.0).read_text()


def test_the_page_is_self_contained(page: str) -> None:
    for outside in ("http://", "https://", "<script", "<link"):
        assert outside not in page


def test_the_page_shows_suspects_maps_and_bars(page: str) -> None:
    assert page.count("<figure") == 48
    assert page.count("<svg") == 2
    assert page.count("<circle") == 2 * 1347
    assert page.count('class="bar"') == 2 * 7
    assert "RoG, ensemble" in page


def test_a_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    settings = DemoSettings(noises=("uniform",), n_seeds=1, epochs=3)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_demo_report(run_demo(settings), tmp_path / "missing" / "demo.html", seconds=1.0)
