"""Figures 2c and 5."""

import numpy as np
import pytest

from rehead.experiments.figures import layers
from rehead.experiments.figures.cells import NothingToDrawError
from rehead.experiments.tables import table_cells


def cells(network=None):
    every = table_cells("1", "tiny", data="digits")
    return [c for c in every if network in (None, c.network)]


def test_accuracy_of_each_block(request_of):
    (panel,) = layers.collect_2c(request_of(cells()))["panels"]
    assert panel["layers"] == ["stage1.block1", "stage2.block1", "stage2.block2"]  # no input
    assert [line["rate"] for line in panel["lines"]] == [0.0, 0.2, 0.4, 0.6]
    for line in panel["lines"]:
        right = [[30 - 10 * line["rate"]], [40 - 10 * line["rate"]], [50 - 10 * line["rate"]]]
        np.testing.assert_allclose(line["accuracy"], right)


def test_seeds_stay_apart(request_of):
    quick = [c for c in table_cells("1", "quick") if c.network == "resnet34"]
    (panel,) = layers.collect_2c(request_of(quick, "quick", None))["panels"]
    assert np.shape(panel["lines"][0]["accuracy"]) == (3, 3)


def test_two_networks_or_the_one_that_ran(request_of):
    content = layers.collect_5(request_of(cells("densenet100")))
    assert [p["network"] for p in content["panels"]] == ["densenet100"]
    assert content["not_run"] == ["all of resnet34"]
    both = layers.collect_5(request_of(cells()))
    assert [p["network"] for p in both["panels"]] == ["resnet34", "densenet100"]
    assert both["panels"][1]["layers"] == ["dense1.bottleneck1", "final"]
    assert both["not_run"] == []


def test_nothing_ran_or_was_measured(request_of):
    with pytest.raises(NothingToDrawError, match="Run table 1"):
        layers.collect_5(request_of([]))
    request = request_of(cells("resnet34"), columns=("softmax",))
    with pytest.raises(NothingToDrawError, match="'blocks' was not measured"):
        layers.collect_2c(request)


def test_lines_show_the_content(request_of, canvas):
    content = layers.collect_5(request_of(cells()))
    layers.draw(content, canvas)
    for axes, panel in zip(canvas.axes, content["panels"], strict=True):
        for drawn, line in zip(axes.lines, panel["lines"], strict=True):
            np.testing.assert_allclose(drawn.get_ydata(), np.mean(line["accuracy"], axis=1))
    names = [t.get_text() for t in canvas.axes[0].get_xticklabels()]
    assert sorted(names) == ["1.1", "2.1", "2.2"]


def test_the_same_rate_has_the_same_line_where_others_are_missing(request_of, canvas):
    content = layers.collect_2c(request_of(cells("resnet34")))
    colours = {}
    for rates in ((0.0, 0.2, 0.4, 0.6), (0.4,)):
        panel = content["panels"][0]
        lines = [line for line in panel["lines"] if line["rate"] in rates]
        canvas.clear()
        layers.draw({"panels": [{**panel, "lines": lines}]}, canvas)
        for line in canvas.axes[0].lines:
            colours.setdefault(line.get_label(), set()).add(line.get_color())
    assert len(colours["40 % noise"]) == 1


def test_many_blocks_get_few_names(canvas):
    panel = {
        "network": "densenet100",
        "data": "cifar10",
        "layers": [f"dense{i // 16 + 1}.bottleneck{i % 16 + 1}" for i in range(48)],
        "lines": [{"rate": 0.0, "accuracy": [[float(i)] for i in range(48)]}],
    }
    layers.draw({"panels": [panel]}, canvas)
    names = [t.get_text() for t in canvas.axes[0].get_xticklabels()]
    assert len(names) <= 12
    assert "3.16" in names
