import numpy as np
import pytest

from rehead.experiments.theory import draw_theorem
from rehead.experiments.theory.drawing import ESTIMATORS, theorem_drawing


@pytest.fixture(scope="module")
def axes(tiny):
    return theorem_drawing(tiny).axes


def test_a_picture_is_written(tiny, tmp_path):
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml")):
        draw_theorem(tiny, tmp_path / name)
        first = (tmp_path / name).read_bytes()
        assert first.startswith(start)
        draw_theorem(tiny, tmp_path / name)
        assert (tmp_path / name).read_bytes() == first


def test_six_panels_with_names_and_axes(axes):
    assert len(axes) == 6
    for letter, ax in zip("abcdef", axes, strict=True):
        assert ax.get_title(loc="left").startswith(f"({letter}) ")
        assert ax.get_title() == ""
        assert ax.get_xlabel()
        assert ax.get_legend() is not None


def test_nothing_is_told_by_colour_alone():
    styles = ESTIMATORS.values()
    for key in ("marker", "linestyle", "color"):
        assert len({str(style[key]) for style in styles}) == len(styles)


def test_curves_of_a_panel_can_be_told_apart_in_grey(axes):
    for ax in axes:
        looks = [
            (str(line.get_linestyle()), line.get_marker(), line.get_fillstyle())
            for container in ax.containers
            for line in container.lines[:1]
        ]
        assert len(set(looks)) == len(looks), ax.get_title(loc="left")


def test_points_are_those_of_the_result(tiny, axes):
    measured = [row["scale"]["value"] for row in tiny["factor"] if row["d"] == 2]
    points = axes[0].containers[0].lines[0]
    np.testing.assert_allclose(points.get_ydata(orig=False), measured)
    kept = axes[5].containers[0].lines[0].get_xdata(orig=False)
    found = [c["measured"]["mcd"]["outliers_kept"] for c in tiny["counterexamples"].values()]
    found.append(tiny["enumerated"]["outliers_kept"])
    np.testing.assert_allclose(kept, [f["value"] for f in found])
