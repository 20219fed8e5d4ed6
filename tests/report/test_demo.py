"""The demo's page: one file with everything inside."""

import re

import pytest

from rehead.experiments.demo import ROG, DemoSettings, run_demo
from rehead.report.demo import write_demo_report


@pytest.fixture(scope="module")
def result():
    return run_demo(DemoSettings(n_seeds=1, epochs=60))


@pytest.fixture(scope="module")
def page(result, tmp_path_factory):
    target = tmp_path_factory.mktemp("report") / "demo.html"
    assert write_demo_report(result, target, seconds=1.0) == target
    return target.read_text()


def test_the_page_is_self_contained(page):
    for outside in ("http://", "https://", "<link", 'src="x'):
        assert outside not in page
    assert "default-src 'none'" in page


def test_the_page_shows_suspects_maps_and_bars(page):
    assert page.count('<figure class="card') == 2 * 200
    assert page.count('<figure class="map"') == 2
    assert page.count('class="bar"') == 2 * (10 + 3)
    assert ROG in page


def test_names_of_places_on_the_page_are_unique(page):
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert {name.removeprefix("#") for name in re.findall(r'href="([^"]+)"', page)} <= set(names)


def test_the_page_tells_what_was_measured(page, result):
    for kind in ("uniform", "flip"):
        for method in result.methods():
            percent = 100 * result.accuracies(kind, method).mean()
            assert f"<span>{method}</span><span>{percent:.1f}</span>" in page
    for run in result.runs:
        assert f"{100 * run.noise_estimate:.1f}\u00a0%</td>" in page
    for showcase in result.showcases:
        right = int(showcase.noisy.changed[showcase.report.order[:200]].sum())
        assert f"Of the 200 whose true label is known, {right} are really wrong" in page


def test_a_missing_folder_is_a_clear_error(result, tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_demo_report(result, tmp_path / "missing" / "demo.html", seconds=1.0)
    assert not list(tmp_path.iterdir())
