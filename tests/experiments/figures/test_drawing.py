"""Picture files, and contents as files."""

import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from rehead.experiments.figures import drawing
from rehead.experiments.figures.registry import FIGURES

CONTENT = FIGURES["1c"].collect(None)


def test_a_png_of_the_right_size_and_a_valid_svg(tmp_path):
    png, svg = drawing.draw_figure("1c", CONTENT, tmp_path / "new" / "folder")
    width, height = FIGURES["1c"].size
    with Image.open(png) as image:
        assert image.size == (round(150 * width), round(150 * height))
        assert image.info["Title"] == FIGURES["1c"].title
        pixels = np.asarray(image.convert("RGB"))
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 20
    root = ElementTree.parse(svg).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert FIGURES["1c"].title in "".join(root.itertext())


def test_the_same_content_gives_the_same_files(tmp_path):
    first, second = (drawing.draw_figure("1c", CONTENT, tmp_path / n) for n in "ab")
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_a_figure_that_cannot_be_drawn_leaves_no_file(tmp_path):
    with pytest.raises(KeyError):
        drawing.draw_figure("1c", {"caption": ""}, tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="figure must be one of"):
        drawing.draw_figure("9z", CONTENT, tmp_path)


def test_settings_of_other_pictures_stay(tmp_path):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    drawing.draw_figure("1c", CONTENT, tmp_path)
    assert dict(mpl.rcParams) == before


def test_matplotlib_is_loaded_late_and_pyplot_never(tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from rehead.experiments.figures.drawing import draw_figure\n"
        "from rehead.experiments.figures.registry import FIGURES\n"
        "content = FIGURES['1c'].collect(None)\n"
        "assert 'matplotlib' not in sys.modules\n"
        f"draw_figure('1c', content, Path({str(tmp_path)!r}))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_contents_come_back(tmp_path):
    path = drawing.write_content("1c", CONTENT, tmp_path / "figures")
    assert path.name == "1c.json"
    assert drawing.read_content("1c", tmp_path / "figures") == CONTENT
    assert len(path.read_text().splitlines()) == len(CONTENT) + 3  # braces, checksum


def test_contents_that_are_no_contents(tmp_path):
    with pytest.raises(FileNotFoundError, match="was not collected"):
        drawing.read_content("1c", tmp_path)
    (tmp_path / "1c.json").write_text('{"caption": ')
    with pytest.raises(ValueError, match=r"1c\.json is damaged"):
        drawing.read_content("1c", tmp_path)
    (tmp_path / "1c.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match="no content of a figure"):
        drawing.read_content("1c", tmp_path)


def test_a_changed_content_is_noticed(tmp_path):
    path = drawing.write_content("1c", CONTENT, tmp_path)
    kept = path.read_text()
    for text in (kept.replace('"caption": "', '"caption": "x'), kept.replace('"checksum"', '"y"')):
        assert text != kept
        path.write_text(text)
        with pytest.raises(ValueError, match="was changed or damaged"):
            drawing.read_content("1c", tmp_path)


def test_numbers_that_are_none_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        drawing.write_content("1c", {**CONTENT, "x": float("nan")}, tmp_path)
