"""The demo's page: one file with everything inside."""

import pytest

from rehead.experiments.demo import ROG, DemoSettings, run_demo
from rehead.report import write_demo_report


@pytest.fixture(scope="module")
def result():
    return run_demo(DemoSettings(n_seeds=1, epochs=60))


@pytest.fixture(scope="module")
def page(result, tmp_path_factory):
    target = tmp_path_factory.mktemp("report") / "demo.html"
    assert write_demo_report(result, target, seconds=1.0) == target
    return target.read_text()


def test_the_page_is_self_contained(page):
    for outside in ("http://", "https://", "<script", "<link"):
        assert outside not in page


def test_the_page_shows_suspects_maps_and_bars(page):
    assert page.count("<figure") == 48
    assert page.count("<svg") == 2
    assert page.count("<circle") == 2 * 1347
    assert page.count('class="bar"') == 2 * 10
    assert ROG in page


def test_the_page_tells_what_was_measured(page, result):
    for kind in ("uniform", "flip"):
        for method in result.methods():
            percent = 100 * result.accuracies(kind, method).mean()
            assert f"<span>{method}</span><span>{percent:.1f}</span>" in page
    for run in result.runs:
        assert f"<td>{100 * run.noise_estimate:.1f} %</td>" in page
    for showcase in result.showcases:
        right = int(showcase.noisy.changed[showcase.report.order[:24]].sum())
        assert f"{right} of these 24 labels are really wrong" in page


def test_a_missing_folder_is_a_clear_error(result, tmp_path):
    few_points = [s._replace(features=s.features[:60]) for s in result.showcases]
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_demo_report(
            result._replace(showcases=few_points), tmp_path / "missing" / "demo.html", seconds=1.0
        )
    assert not list(tmp_path.iterdir())
