"""What a model thinks of labels."""

import numpy as np

from rehead.verdicts import label_columns


def test_columns_of_a_posterior():
    posterior = np.array([[0.7, 0.3], [0.1, 0.9]])
    found = label_columns(posterior, np.array([1, 1]), np.array([2.0, 3.0]))
    np.testing.assert_array_equal(found, [[0.3, 0, 0.7, 2.0], [0.9, 1, 0.9, 3.0]])
