"""Which file or row belongs to which sample."""

import numpy as np
import pytest
from PIL import Image

from rehead.report.shown import Looks, open_shown


def test_ids_that_do_not_match_or_repeat(photos):
    with pytest.raises(ValueError, match=r"3 of 3 samples.*like 'x', 'y'.*'cats/a.png'"):
        open_shown(np.array(["x", "y", "z"]), Looks(images=photos))
    Image.new("L", (8, 8)).save(photos / "dogs" / "a.png")
    with pytest.raises(ValueError, match=r"1 ids of samples occur more than once.*'a'"):
        open_shown(np.array(["a", "b"]), Looks(images=photos))
