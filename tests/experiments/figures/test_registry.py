"""All figures: from a real run of small networks to their contents."""

import json

import pytest

from rehead.experiments.cache import Cache
from rehead.experiments.figures.cells import NothingToDrawError, Request
from rehead.experiments.figures.drawing import draw_figure
from rehead.experiments.figures.registry import FIGURES
from rehead.experiments.results import Results
from rehead.experiments.sweep import Sweep, run_sweep
from rehead.experiments.tables import table_cells

COLUMNS = ("softmax", "LDA", "RoG last layer", "identity", "LTS", "blocks")


@pytest.fixture(scope="module")
def request_of_a_run(tmp_path_factory):
    """Digits, tiny networks: with no noise and 20 %, and with open-set noise."""
    folder = tmp_path_factory.mktemp("run")
    sweep = Sweep(Results(folder / "results"), Cache(folder / "cache"), columns=COLUMNS)
    cells = [c for t in "17" for c in table_cells(t, "tiny", data="digits")]
    run_sweep(sweep, [c for c in cells if c.table == "7" or c.rate <= 0.2])
    return Request(sweep.results, sweep.cache, "tiny", "digits")


def test_the_figures_of_the_paper():
    assert list(FIGURES) == ["1a", "1b", "1c", "2a", "2b", "2c", "3a", "3b", "4", "5"]
    assert [name for name, figure in FIGURES.items() if figure.needs_data] == ["3b", "4"]


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "3a"])
def test_a_run_is_collected_and_drawn(name, request_of_a_run, tmp_path):
    content = FIGURES[name].collect(request_of_a_run)
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["caption"].endswith(".")
    half = name in ("1a", "2a", "2b", "2c", "5")
    assert bool(content["not_run"]) == half
    assert ("Not run" in content["caption"]) == half
    for path in draw_figure(name, content, tmp_path):
        assert path.stat().st_size > 1000


def test_the_labels_of_a_labeller_are_collected_and_drawn(request_of_a_run, put_features, tmp_path):
    """Of made-up labels: training a labeller takes long."""
    with pytest.raises(NothingToDrawError):
        FIGURES["3a"].collect(request_of_a_run)
    request = request_of_a_run._replace(cache=Cache(tmp_path / "cache"))
    cells = table_cells("6", "tiny", data="digits")
    put_features(request.cache, next(c for c in cells if c.labeller == "resnet34"))
    content = FIGURES["3a"].collect(request)
    assert json.loads(json.dumps(content)) == content
    assert len(draw_figure("3a", content, tmp_path)) == 2
