"""Figures 1a and 2a."""

import numpy as np
import pytest

from rehead.experiments.figures import over_noise
from rehead.experiments.figures.cells import NothingToDrawError
from rehead.experiments.tables import table_cells


def cells_of(profile, data, network="densenet100", rates=(0.0, 0.2, 0.4, 0.6)):
    cells = table_cells("1", profile, data=data)
    return [c for c in cells if c.network == network and c.rate in rates]


def test_accuracy_of_all_seeds(request_of, accuracy_of):
    content = over_noise.collect_1a(request_of(cells_of("quick", None), "quick", None))
    assert [line["column"] for line in content["lines"]] == ["softmax", "LDA", "RoG last layer"]
    for line in content["lines"]:
        for rate, values in zip(content["rates"], line["accuracy"], strict=True):
            right = [100 * accuracy_of(line["column"], rate, seed) for seed in range(3)]
            np.testing.assert_allclose(values, right, atol=0.01)
    assert content["not_run"] == []
    assert "Means over the seeds" in content["caption"]
    assert "5,000 training images" in content["caption"]


def test_what_the_paper_prints(request_of):
    content = over_noise.collect_1a(request_of(cells_of("quick", None), "quick", None))
    paper = {line["column"]: line["paper"] for line in content["lines"]}
    assert paper["softmax"] == [94.11, 81.01, 72.34, 55.42]
    assert paper["LDA"] == [94.18, 85.12, 76.75, 60.14]
    assert paper["RoG last layer"] == [94.22, 86.54, 80.27, 67.67]


def test_figure_2a_has_numbers_of_the_paper_for_some_of_its_lines(request_of):
    cells = cells_of("quick", None, "resnet34")
    content = over_noise.collect_2a(request_of(cells, "quick", None))
    paper = {line["column"]: line["paper"] for line in content["lines"]}
    assert list(paper) == ["softmax", "identity", "LTS", "LDA", "RoG last layer"]
    assert paper["LDA"] == [94.8, 82.97, 65.92, 42.76]
    assert paper["LTS"] == [None] * 4


def test_the_paper_has_nothing_about_digits(request_of):
    content = over_noise.collect_1a(request_of(cells_of("tiny", "digits")))
    assert all(line["paper"] == [None] * 4 for line in content["lines"])
    assert "Open markers" not in content["caption"]
    assert "Means" not in content["caption"]  # of one seed


def test_missing_cells_are_told(request_of, canvas):
    request = request_of(cells_of("quick", None, rates=(0.2,))[:1], "quick", None)
    content = over_noise.collect_1a(request)
    assert len(content["not_run"]) == 11
    assert "Not run: table1-cifar10-densenet100-none-cross-entropy-0" in content["caption"]
    assert [len(v) for v in content["lines"][0]["accuracy"]] == [0, 1, 0, 0]
    assert content["lines"][0]["paper"][3] == 55.42
    over_noise.draw(content, canvas)
    y = canvas.axes[0].lines[0].get_ydata()
    assert np.isnan(y).tolist() == [True, False, True, True]


def test_missing_columns_are_told(request_of):
    cells = cells_of("tiny", "digits", "resnet34")
    request = request_of(cells, columns=("softmax", "LDA"))
    content = over_noise.collect_2a(request)
    assert f"LTS in {cells[0].name}" in content["not_run"]
    with pytest.raises(NothingToDrawError, match="none was measured"):
        over_noise.collect(request, "resnet34", ["identity"])


def test_lines_show_the_content(request_of, canvas):
    content = over_noise.collect_1a(request_of(cells_of("quick", None), "quick", None))
    over_noise.draw(content, canvas)
    axes = canvas.axes[0]
    drawn = {line.get_label(): line for line in axes.lines}
    printed = {line.get_gid(): line for line in axes.lines}
    for line in content["lines"]:
        mine = drawn[line["label"]]
        np.testing.assert_allclose(mine.get_xdata(), [0, 20, 40, 60])
        np.testing.assert_allclose(mine.get_ydata(), np.mean(line["accuracy"], axis=1))
        theirs = printed[f"paper-{line['column'].replace(' ', '-')}"]
        np.testing.assert_allclose(theirs.get_ydata(), line["paper"])
        assert np.abs(theirs.get_xdata() - [0, 20, 40, 60]).max() < 5
        assert theirs.get_markerfacecolor() == "white"
        assert theirs.get_marker() == mine.get_marker()
    ranges = [c.get_segments() for c in axes.collections]
    low, high = ranges[0][1][:, 1]
    assert (low, high) == (
        min(content["lines"][0]["accuracy"][1]),
        max(content["lines"][0]["accuracy"][1]),
    )
    assert [t.get_text() for t in axes.get_legend().get_texts()][-1] == "paper (open)"
