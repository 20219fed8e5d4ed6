"""How the validation part is drawn."""

import numpy as np
import pytest

from rehead import noise
from rehead.data.splits import HoldOut, Labelled, Published, make_splits


def published(dev=None):
    """100 training samples of 4 classes of different sizes, 20 test samples."""
    rng = np.random.default_rng(0)
    y = rng.choice(4, size=100, p=[0.1, 0.2, 0.3, 0.4])
    train = Labelled(rng.normal(size=(100, 2)), y)
    return Published(train, Labelled(np.zeros((20, 2)), np.zeros(20, np.int64)), dev)


def split(validation=None, random_state=0, dev=None, **options):
    hold_out = HoldOut(validation, random_state, **{"default": 10, **options})
    return make_splits(published(dev), list("abcd"), hold_out)


def test_parts_are_disjoint_and_nothing_is_lost():
    s = split()
    ids = np.concatenate([part.ids for part in s[:3]])
    np.testing.assert_array_equal(np.sort(ids), np.arange(120))
    np.testing.assert_array_equal(s.test.ids, np.arange(100, 120))
    train = published().train
    for part in (s.train, s.validation):
        assert (np.diff(part.ids) > 0).all()
        np.testing.assert_array_equal(part.X, train.X[part.ids])
        np.testing.assert_array_equal(part.y, train.y[part.ids])


@pytest.mark.parametrize(("validation", "n"), [(None, 10), (7, 7), (0.25, 25), (99, 99)])
def test_classes_are_held_out_in_proportion(validation, n):
    s = split(validation)
    share = np.bincount(published().train.y) * n / 100
    assert len(s.validation.y) == n
    assert (np.abs(np.bincount(s.validation.y, minlength=4) - share) < 1).all()


def test_the_default_can_be_equal_for_all_classes():
    s = split(default=20, per_class=True)
    np.testing.assert_array_equal(np.bincount(s.validation.y), [5, 5, 5, 5])
    with pytest.raises(ValueError, match="the smallest class"):
        split(default=80, per_class=True)


def test_no_validation_part():
    s = split(0)
    assert s.train.X.shape == (100, 2)
    assert s.validation.X.shape == (0, 2)
    assert s.validation.y.dtype == np.int64


def test_an_official_part_is_the_default_only():
    dev = Labelled(np.ones((5, 2)), np.ones(5, np.int64))
    s = split(dev=dev)
    assert len(s.train.y) == 100
    np.testing.assert_array_equal(s.validation.ids, np.arange(120, 125))
    asked = split(8, dev=dev)
    assert len(asked.train.y) == 92
    assert asked.validation.ids.max() < 100


def test_the_seed_decides():
    same, again, other = split(), split(), split(random_state=1)
    np.testing.assert_array_equal(same.validation.ids, again.validation.ids)
    assert set(same.validation.ids) != set(other.validation.ids)
    a, b = (split(random_state=np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(a.validation.ids, b.validation.ids)


def test_the_draw_is_independent_of_noise_of_the_same_seed():
    # Were the streams the same, the held-out samples would be mislabelled all or never.
    y = np.repeat(np.arange(2), 5000)
    test = Labelled(y[:1], y[:1])
    shares = []
    for seed in range(5):
        s = make_splits(Published(Labelled(y, y), test), ["a", "b"], HoldOut(2000, seed))
        shares.append(noise.uniform(y, 0.4, random_state=seed).changed[s.validation.ids].mean())
    assert np.abs(np.array(shares) - 0.4).max() < 0.05


@pytest.mark.parametrize("validation", [-1, 100, 1.0, -0.1, 1.5, True, "10", np.nan, [3]])
def test_a_bad_validation_is_refused(validation):
    with pytest.raises(ValueError, match="validation must be a number of samples from 0 to 99"):
        split(validation)


def test_a_bad_seed_is_refused():
    with pytest.raises(ValueError, match="random_state must be"):
        split(random_state=-1)
