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


@pytest.fixture
def drawn(request_of, canvas):
    """The content of figure 1a, and its axes."""
    content = over_noise.collect_1a(request_of(cells_of("quick", None), "quick", None))
    over_noise.draw(content, canvas)
    return content, *canvas.axes


def test_lines_show_the_content(drawn, canvas):
    content, left, _ = drawn
    lines = {line.get_label(): line for line in left.lines}
    printed = {line.get_gid(): line for line in left.lines}
    for line in content["lines"]:
        mine = lines[line["label"]]
        np.testing.assert_allclose(mine.get_xdata(), [0, 20, 40, 60])
        np.testing.assert_allclose(mine.get_ydata(), np.mean(line["accuracy"], axis=1))
        theirs = printed[f"paper-{line['column'].replace(' ', '-')}"]
        np.testing.assert_allclose(theirs.get_ydata(), line["paper"])
        assert np.abs(theirs.get_xdata() - [0, 20, 40, 60]).max() < 5
        assert theirs.get_markerfacecolor() == "white"
        assert theirs.get_marker() == mine.get_marker()
    legend = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert legend == [*(line["label"] for line in content["lines"]), "paper (open)"]


def test_ranges_are_those_of_the_seeds(drawn):
    content, left, _ = drawn
    for line, ranges in zip(content["lines"], left.collections, strict=True):
        for values, segment in zip(line["accuracy"], ranges.get_segments(), strict=True):
            np.testing.assert_allclose(segment[:, 1], [min(values), max(values)])


def test_ranges_of_gains_are_those_of_the_seeds(drawn):
    content, _, right = drawn
    softmax, *others = content["lines"]
    for line, ranges in zip(others, right.collections, strict=True):
        gains = np.subtract(line["accuracy"], softmax["accuracy"])
        for values, segment in zip(gains, ranges.get_segments(), strict=True):
            np.testing.assert_allclose(segment[:, 1], [values.min(), values.max()])


def test_bars_show_the_gain_over_softmax(drawn):
    content, _, right = drawn
    softmax, *others = content["lines"]
    printed = {line.get_gid(): line for line in right.lines}
    for line, bars in zip(others, right.containers, strict=True):
        gain = np.mean(line["accuracy"], axis=1) - np.mean(softmax["accuracy"], axis=1)
        np.testing.assert_allclose([bar.get_height() for bar in bars], gain)
        theirs = printed[f"paper-gain-{line['column'].replace(' ', '-')}"]
        np.testing.assert_allclose(theirs.get_ydata(), np.subtract(line["paper"], softmax["paper"]))
        middles = [bar.get_x() + bar.get_width() / 2 for bar in bars]
        np.testing.assert_allclose(middles, theirs.get_xdata())
    starts = [bars[0].get_x() for bars in right.containers]
    assert starts == sorted(starts)  # in the order of the legend
