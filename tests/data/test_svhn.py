"""SVHN from its MATLAB files."""

import io

import numpy as np
import pytest
from scipy.io import savemat

from rehead.data import DataFileError

from .miniatures import DAMAGE, TEST, TRAIN, check_images, mat


def test_svhn_calls_the_tenth_class_0(publish):
    y = np.arange(1, 21) % 10
    load = publish("svhn", mat(TRAIN, np.where(y == 0, 10, y)), mat(TEST, [10, 1, 2, 9, 10]))
    check_images(load(), y, [0, 1, 2, 9, 0])


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_matlab_file_is_named(publish, how):
    y = np.ones(20)
    with pytest.raises(DataFileError, match=r"train_32x32.mat .*Delete it"):
        publish("svhn", DAMAGE[how](mat(TRAIN, y)), mat(TEST, y[:5]))()


def test_a_matlab_file_of_something_else(publish):
    buffer = io.BytesIO()
    savemat(buffer, {"X": np.zeros((3, 4)), "y": np.zeros(4)})
    with pytest.raises(DataFileError, match="no images of 32 x 32 x 3"):
        publish("svhn", buffer.getvalue(), buffer.getvalue())()
