"""Figure 2b."""

import numpy as np
import pytest

from rehead.experiments.figures import selection
from rehead.experiments.figures.cells import NothingToDrawError
from rehead.experiments.tables import table_cells


def cells():
    return [c for c in table_cells("1", "quick") if c.network == "resnet34"]


def test_counts_of_each_rate_and_seed(request_of):
    content = selection.collect(request_of(cells(), "quick", None))
    assert content["all"] == [[1000] * 3] * 4
    assert content["all_clean"] == [[1000] * 3, [800] * 3, [600] * 3, [400] * 3]
    assert content["kept"] == [[500] * 3] * 4
    assert content["kept_clean"] == [[500] * 3, [450] * 3, [400] * 3, [350] * 3]


def test_missing_ones(request_of):
    first = cells()[:3]
    request = request_of(first, "quick", None)
    content = selection.collect(request)
    assert content["kept"] == [[500] * 3, [], [], []]
    assert len(content["not_run"]) == 9


def test_what_was_not_measured(request_of):
    request = request_of(cells()[:3], "quick", None, columns=("softmax",))
    with pytest.raises(NothingToDrawError, match="'RoG last layer' was not measured"):
        selection.collect(request)


def test_bars_and_lines_show_the_content(request_of, canvas):
    content = selection.collect(request_of(cells(), "quick", None))
    selection.draw(content, canvas)
    left, right = canvas.axes
    clean, wrong = ([bar.get_height() for bar in c] for c in left.containers)
    assert clean == [500, 450, 400, 350]
    np.testing.assert_array_equal(wrong, [np.nan, 50, 100, 150])
    assert [bar.get_y() for bar in left.containers[1]] == clean
    assert [t.get_text() for t in left.texts] == ["500", "450", "400", "350"]
    kept, every = right.lines
    np.testing.assert_allclose(kept.get_ydata(), [100, 90, 80, 70])
    np.testing.assert_allclose(every.get_ydata(), [100, 80, 60, 40])


def test_a_part_can_be_drawn(request_of, canvas):
    content = selection.collect(request_of(cells()[:3], "quick", None))
    selection.draw(content, canvas)
    kept = canvas.axes[1].lines[0].get_ydata()
    assert np.isnan(kept).tolist() == [False, True, True, True]
