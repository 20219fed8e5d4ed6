"""Noise of an exact amount."""

import numpy as np
import pytest

from rehead import noise

KINDS = pytest.mark.parametrize("make", [noise.uniform, noise.flip])


@pytest.fixture
def y():
    return np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 7], [10, 33, 50, 7]))


@KINDS
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.45, 0.999, 1.0])
def test_exact_count_in_each_class_and_never_the_true_label(make, y, rate):
    noisy = make(y, rate, random_state=0)
    for c in (0, 1, 2, 7):
        assert noisy.changed[y == c].sum() == int(rate * (y == c).sum() + 1e-9)
    np.testing.assert_array_equal(noisy.labels != y, noisy.changed)
    assert set(noisy.labels.tolist()) <= {0, 1, 2, 7}
    assert noisy.rate == noisy.changed.mean()


@KINDS
def test_rates_that_floats_cannot_hold(make):
    # 0.29 * 100 is 28.999999999999996
    y = np.repeat([0, 1], 100)
    counts = [int(make(y, p / 100, random_state=0).changed[:100].sum()) for p in range(101)]
    assert counts == list(range(101))


@KINDS
def test_transition_is_the_realised_one(make, y):
    noisy = make(y, 0.4, random_state=0)
    expected = [[(noisy.labels[y == a] == b).mean() for b in (0, 1, 2, 7)] for a in (0, 1, 2, 7)]
    np.testing.assert_allclose(noisy.transition, expected)
    np.testing.assert_array_equal(noisy.classes, [0, 1, 2, 7])


@KINDS
def test_same_seed_same_labels_and_clean_ones_untouched(make, y):
    before = y.copy()
    a, b = (make(y, 0.4, random_state=3).labels for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert (a != make(y, 0.4, random_state=4).labels).any()
    np.testing.assert_array_equal(y, before)


def test_uniform_reaches_all_other_classes_alike():
    y = np.repeat(np.arange(5), 4000)
    off_diagonal = noise.uniform(y, 0.8, random_state=0).transition[~np.eye(5, dtype=bool)]
    np.testing.assert_allclose(off_diagonal, 0.2, atol=0.03)


def test_flip_goes_to_the_next_class(y):
    noisy = noise.flip(y, 0.5, random_state=0)
    following = {0: 1, 1: 2, 2: 7, 7: 0}
    for before, after in zip(y[noisy.changed], noisy.labels[noisy.changed], strict=True):
        assert following[int(before)] == after


def test_flip_of_all_labels_as_often_as_there_are_classes_is_the_identity(y):
    labels = y
    for _ in range(4):
        labels = noise.flip(labels, 1.0).labels
    np.testing.assert_array_equal(labels, y)


@KINDS
def test_strings_and_lists(make):
    noisy = make(["b", "a", "b", "a", "long name", "long name"], 0.5, random_state=0)
    assert noisy.labels.tolist() != ["b", "a", "b", "a", "long name", "long name"]
    assert set(noisy.labels.tolist()) <= {"a", "b", "long name"}
    assert noisy.changed.sum() == 3


@KINDS
@pytest.mark.parametrize("rate", [-0.1, 1.1, 40, np.nan])
def test_a_rate_outside_of_0_to_1_is_an_error(make, y, rate):
    with pytest.raises(ValueError, match="rate must be in"):
        make(y, rate)


@KINDS
@pytest.mark.parametrize(("labels", "match"), [([0, 0], "one class"), ([None, 1], "missing")])
def test_labels_that_cannot_be_corrupted(make, labels, match):
    with pytest.raises(ValueError, match=match):
        make(labels, 0.5)
