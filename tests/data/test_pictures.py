"""Pictures of a folder."""

import numpy as np
import pytest
from PIL import Image

from rehead.data import DataFileError, read_pictures


def test_pictures_come_in_the_order_of_their_paths(tmp_path):
    (tmp_path / "b").mkdir()
    for name, colour in {"b/x.PNG": 3, "a.png": 1, "a.txt.png": 2}.items():
        Image.new("L", (5, 9), colour).save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no picture")
    found = read_pictures(tmp_path, size=(4, 6))
    assert found.shape == (3, 3, 4, 6)
    assert found.dtype == np.uint8
    assert found[:, 0, 0, 0].tolist() == [1, 2, 3]


def test_a_folder_without_pictures_and_a_damaged_one(tmp_path):
    with pytest.raises(DataFileError, match="no picture"):
        read_pictures(tmp_path)
    (tmp_path / "a.png").write_bytes(b"nothing")
    with pytest.raises(DataFileError, match=r"a.png cannot be read as a picture"):
        read_pictures(tmp_path)
