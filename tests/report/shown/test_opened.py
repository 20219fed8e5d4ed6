"""What a user names is opened, one of three."""

import numpy as np
import pytest

from rehead.report.shown import Looks, open_shown


def test_arrays_that_are_no_images():
    with pytest.raises(ValueError, match=r"got \(3, 64\). Reshape"):
        open_shown(np.arange(3), Looks(images=np.zeros((3, 64))))
    with pytest.raises(ValueError, match="2 images and 3 samples"):
        open_shown(np.arange(3), Looks(images=np.zeros((2, 8, 8))))
    with pytest.raises(ValueError, match="one of images, texts and table"):
        open_shown(np.arange(3), Looks(images=np.zeros((3, 8, 8)), texts=["a", "b", "c"]))
    assert open_shown(np.arange(3), Looks()) is None
