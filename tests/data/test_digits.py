"""The embedded digits."""

import numpy as np
import pytest

from rehead import data


def test_digits_are_as_they_always_were():
    digits = data.load("digits")
    assert [len(s.y) for s in digits[:3]] == [1347, 150, 300]
    ids = np.random.default_rng(0).permutation(1797)
    np.testing.assert_array_equal(digits.test.ids, ids[:300])
    np.testing.assert_array_equal(digits.validation.ids, ids[300:450])
    assert digits.train.X.dtype == np.float32
    assert digits.train.X.max() == 1.0


@pytest.mark.parametrize(("validation", "n"), [(0, 0), (40, 40), (0.5, 748), (0.0, 0)])
def test_digits_with_another_validation_part_keep_their_test_part(validation, n):
    digits, usual = data.load("digits", validation=validation), data.load("digits")
    assert len(digits.validation.y) == n
    assert len(digits.train.y) == 1497 - n
    np.testing.assert_array_equal(digits.test.ids, usual.test.ids)
