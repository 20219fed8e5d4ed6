"""Images that may be anything."""

import numpy as np
import pytest
from PIL import Image

from rehead.report.shown import Looks, NotShown, open_shown


def test_strange_files_are_refused_with_a_reason(photos, monkeypatch):
    (photos / "text.png").write_text("not an image")
    (photos / "svg.png").write_text("<svg xmlns='http://www.w3.org/2000/svg'></svg>")
    whole = (photos / "cats" / "b.jpg").read_bytes()
    (photos / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    shown = open_shown(np.array(["text", "svg", "cut", "a"]), Looks(images=photos))
    for name, reason in (("text", "not an image"), ("svg", "not an image"), ("cut", "decoded")):
        with pytest.raises(NotShown, match=reason):
            shown.picture(name, 64)
    monkeypatch.setattr("rehead.report.shown.pictures.MOST_PIXELS", 59_999)
    with pytest.raises(NotShown, match="300 x 200 pixels"):
        shown.picture("a", 64)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10_000)  # a bomb, as Pillow calls it
    with pytest.raises(NotShown, match="hundreds of millions of pixels"):
        shown.picture("a", 64)
    monkeypatch.setattr("rehead.report.shown.pictures.LARGEST_FILE", 10)
    with pytest.raises(NotShown, match="too large"):
        shown.picture("a", 64)
    (photos / "cats" / "a.png").unlink()
    with pytest.raises(NotShown, match="no longer there"):
        shown.picture("a", 64)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I", "F", "I;16", "YCbCr"])
def test_images_of_every_mode(tmp_path, mode, decoded):
    Image.new(mode, (20, 10)).save(tmp_path / "x.tiff")
    shown = open_shown(np.array(["x"]), Looks(images=tmp_path))
    assert decoded(shown.picture("x", 64)).size == (20, 10)


def test_photographs_are_upright(tmp_path, decoded):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 20)).save(tmp_path / "x.jpg", exif=exif)
    shown = open_shown(np.array(["x"]), Looks(images=tmp_path))
    assert decoded(shown.picture("x", 64)).size == (20, 40)
