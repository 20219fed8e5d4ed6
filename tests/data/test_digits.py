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


@pytest.mark.parametrize("options", [{}, {"validation": 0.2, "random_state": 3}])
def test_digits_as_pictures_are_the_same_digits(options):
    digits, pictures = (data.load(name, **options) for name in ("digits", "digits32"))
    for small, large in zip(digits[:3], pictures[:3], strict=True):
        np.testing.assert_array_equal(small.ids, large.ids)
        np.testing.assert_array_equal(small.y, large.y)
        assert large.X.shape == (len(small.y), 3, 32, 32)
        assert large.X.dtype == np.uint8
        # Each pixel is a square of four by four, in three colours; white is 255.
        blocks = large.X.reshape(-1, 3, 8, 4, 8, 4)
        expected = np.round(255 * small.X.reshape(-1, 1, 8, 1, 8, 1)).astype(np.uint8)
        np.testing.assert_array_equal(blocks, np.broadcast_to(expected, blocks.shape))
    assert pictures.class_names == digits.class_names
    assert pictures.train.X.max() == 255


def test_pictures_lose_nothing_of_the_digits():
    digits, pictures = data.load("digits"), data.load("digits32")
    back = np.round(pictures.train.X[:, 0, ::4, ::4].reshape(-1, 64) / 255 * 16) / 16
    np.testing.assert_array_equal(back, digits.train.X)


def test_scribbles_are_always_the_same_and_no_digits():
    first, second = data.scribbles(), data.scribbles()
    np.testing.assert_array_equal(first.X, second.X)
    digits = data.load("digits32", validation=0)
    assert first.X.shape[1:] == digits.train.X.shape[1:]
    assert first.X.dtype == np.uint8
    assert len(np.unique(first.ids)) == len(first.X) == len(first.y)
    assert len(np.unique(first.X.reshape(len(first.X), -1), axis=0)) == len(first.X)
    known = {x.tobytes() for x in (*digits.train.X, *digits.test.X)}
    assert not known & {x.tobytes() for x in first.X}
    assert first.X.max(axis=(1, 2, 3)).min() > 100  # none is empty


def test_a_simple_classifier_tells_scribbles_from_digits():
    from sklearn.linear_model import LogisticRegression

    digits = data.load("digits32")
    X = np.concatenate([digits.train.X[:1000], data.scribbles().X[:1000]])[:, 0, ::4, ::4]
    X = X.reshape(len(X), -1) / 255
    y = np.arange(2000) < 1000
    train = np.arange(2000) % 2 == 0
    model = LogisticRegression(max_iter=1000).fit(X[train], y[train])
    assert model.score(X[~train], y[~train]) > 0.9
