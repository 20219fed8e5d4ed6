"""Lines that can be told apart."""

import numpy as np
from matplotlib.colors import to_rgb

from rehead.experiments.figures import style

# Machado et al. (2009): what people with no red, green or blue cones see, in linear RGB.
SEEN = {
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def test_lines_differ_in_marker_and_colour_and_neighbours_in_more():
    assert len({line.marker for line in style.LINES}) == len(style.LINES)
    assert len({line.colour for line in style.LINES}) == len(style.LINES)


def test_colours_differ_for_those_who_see_fewer():
    rgb = np.array([to_rgb(line.colour) for line in style.LINES])
    for matrix in SEEN.values():
        seen = np.clip((rgb**2.2) @ np.transpose(matrix), 0, 1) ** (1 / 2.2)
        gaps = np.linalg.norm(seen[:, None] - seen[None], axis=2)
        assert gaps[~np.eye(len(seen), dtype=bool)].min() > 0.1


def test_open_markers_have_no_filling_and_no_line():
    line = style.LINES[2]
    assert line.open["markerfacecolor"] == "white"
    assert line.open["linestyle"] == "none"
    assert line.open["marker"] == line.filled["marker"]
    assert line.open["color"] == line.filled["color"]
