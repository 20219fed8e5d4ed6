"""Samples that are images: files below a folder, or arrays."""

import os

import numpy as np
import pytest
from PIL import Image

from rehead.report.shown import Looks, NotShown, open_shown


def test_images_are_found_by_path_stem_and_number(photos, decoded):
    ways = (["cats/a.png", "dogs/c.webp"], ["cats/b", "cats/a"], ["a.png", "c.webp"], ["b", "c"])
    for names in ways:
        shown = open_shown(np.array(names), Looks(images=photos))
        assert shown.kind == "image"
        assert shown.note == ""
        assert max(decoded(shown.picture(names[1], 64)).size) == 64
    Image.new("L", (8, 8)).save(photos / "007.png")
    shown = open_shown(np.array([7]), Looks(images=str(photos)))
    assert decoded(shown.picture(7, 64)).size == (8, 8)  # never made larger


def test_a_sample_without_an_image_says_so(photos):
    shown = open_shown(np.array(["a", "b", "lost"]), Looks(images=photos))
    assert "1 of 3 samples are not in" in shown.note
    assert "'lost'" in shown.note
    assert shown.has("a")
    assert not shown.has("lost")
    with pytest.raises(NotShown, match="no image of this sample"):
        shown.picture("lost", 64)
    with pytest.raises(NotShown, match="not texts"):
        shown.text("a")
    with pytest.raises(NotShown, match="not rows"):
        shown.row("a")


def test_links_out_of_the_folder_are_not_followed(photos, tmp_path):
    Image.new("L", (8, 8)).save(tmp_path / "secret.png")
    os.symlink(tmp_path / "secret.png", photos / "link.png")
    os.symlink(photos / "cats" / "a.png", photos / "inside.png")
    shown = open_shown(np.array(["link.png", "inside.png"]), Looks(images=photos))
    with pytest.raises(NotShown, match="link to a file outside"):
        shown.picture("link.png", 64)
    assert shown.picture("inside.png", 64)
    named = open_shown(np.array(["cats/a.png", "../secret.png"]), Looks(images=photos))
    with pytest.raises(NotShown, match="no image of this sample"):
        named.picture("../secret.png", 64)


def test_a_folder_given_as_a_link_is_opened(photos, tmp_path):
    os.symlink(photos, tmp_path / "alias")
    shown = open_shown(np.array(["a", "b"]), Looks(images=tmp_path / "alias"))
    assert shown.picture("a", 64)


@pytest.mark.parametrize(
    "shape", [(3, 8, 6), (3, 8, 6, 1), (3, 8, 6, 3), (3, 3, 8, 6), (3, 1, 8, 6)]
)
def test_images_in_arrays(shape, decoded):
    images = np.random.default_rng(0).uniform(size=shape)
    for array in (images, (255 * images).astype(np.uint8), images - 5, images > 0.5):
        shown = open_shown(np.arange(3), Looks(images=array))
        assert decoded(shown.picture(1, 64)).size == (6, 8)
    pixels = np.asarray(decoded(shown.picture(np.int64(2), 64)).convert("L"))
    assert pixels.max() == 255
    with pytest.raises(NotShown):
        shown.picture(3, 64)


def test_images_in_a_file_of_an_array(tmp_path, decoded):
    np.save(tmp_path / "images.npy", np.zeros((2, 4, 4), np.uint8))
    shown = open_shown(np.array(["u", "v"]), Looks(images=tmp_path / "images.npy"))
    assert decoded(shown.picture("v", 64)).size == (4, 4)
