"""Mosaics, and the cache of what was decoded from them."""

import os

import numpy as np
import pytest
from PIL import Image, features

from rehead.data import DataFileError, mosaics

from .miniatures import TILES, write_mosaic

pytestmark = pytest.mark.skipif(not features.check("webp"), reason="Pillow without WebP")


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "tiny" / "images.webp"
    path.parent.mkdir()
    write_mosaic(path)
    return path


def test_tiles_come_row_by_row(picture):
    np.testing.assert_array_equal(mosaics.read_mosaics([picture, picture], 12)[6:], TILES)


def test_decoded_once(picture, cache, monkeypatch):
    first = mosaics.read_mosaics([picture], 6)
    (kept,) = (cache / "decoded").iterdir()
    monkeypatch.setattr(mosaics, "decode", lambda path: pytest.fail("decoded again"))
    second = mosaics.read_mosaics([picture], 6)
    np.testing.assert_array_equal(first, second)
    assert type(second) is np.ndarray
    second[:] = 0  # stays in memory
    np.testing.assert_array_equal(mosaics.read_mosaics([picture], 6), TILES)
    assert kept.exists()


def test_a_changed_source_is_decoded_anew(picture):
    mosaics.read_mosaics([picture], 6)
    write_mosaic(picture, TILES[::-1])
    np.testing.assert_array_equal(mosaics.read_mosaics([picture], 6), TILES[::-1])


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_damaged_cache_is_decoded_anew(picture, cache, content):
    mosaics.read_mosaics([picture], 6)
    (kept,) = (cache / "decoded").iterdir()
    kept.write_bytes(kept.read_bytes()[:-100] if content is None else content)
    np.testing.assert_array_equal(mosaics.read_mosaics([picture], 6), TILES)


def test_without_a_cache_folder(picture, cache):
    cache.parent.touch()
    np.testing.assert_array_equal(mosaics.read_mosaics([picture], 6), TILES)


def test_a_full_disk_leaves_nothing_in_the_cache(picture, cache, monkeypatch):
    def save(file, array, **options):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", save)
    np.testing.assert_array_equal(mosaics.read_mosaics([picture], 6), TILES)
    assert os.listdir(cache / "decoded") == []


def test_a_damaged_picture_is_named(picture):
    content = picture.read_bytes()
    for damaged in (content[: len(content) // 2], b"nonsense", b""):
        picture.write_bytes(damaged)
        with pytest.raises(DataFileError, match=r"images.webp .*Delete it"):
            mosaics.read_mosaics([picture], 6)


def test_pictures_and_labels_must_belong_together(picture):
    with pytest.raises(DataFileError, match="6 tiles for 7 labels"):
        mosaics.read_mosaics([picture], 7)


def test_a_picture_of_another_size(picture):
    Image.new("RGB", (33, 32)).save(picture, lossless=True)
    with pytest.raises(DataFileError, match="not made of tiles"):
        mosaics.decode(picture)


def test_a_pillow_without_webp(picture, monkeypatch):
    monkeypatch.setattr(features, "check", lambda name: False)
    with pytest.raises(ImportError, match="Pillow"):
        mosaics.decode(picture)
