"""Which map is taken: the one that is asked for, or what the default chooses."""

import dataclasses

import numpy as np
import pytest

from rehead import noise
from rehead.gaussian import Options, choose_map, group_by_class
from rehead.gaussian.choose_map import landmarks_for, map_for, some_of_each_class
from rehead.gaussian.settings import SETTINGS


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return group_by_class(rng.normal(size=(60, 2)), np.arange(60) % 2, 2)


def rings(n, seed=0):
    """Two rings, of which no line tells one from the other."""
    rng = np.random.default_rng(seed)
    y, angle = np.arange(n) % 2, rng.uniform(0, 2 * np.pi, n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return (1.0 + 1.5 * y)[:, None] * circle + 0.1 * rng.normal(size=(n, 2)), y


def chosen(X, y, seed=0, **more):
    n_classes = int(y.max()) + 1
    data = group_by_class(X, y, n_classes, **more)
    return map_for(data, Options(feature_map="auto"), np.random.default_rng(seed))


def test_what_is_asked_for_is_taken(data):
    rng = np.random.default_rng(0)
    assert map_for(data, Options(feature_map="none"), rng) is None
    found = map_for(data, Options(feature_map="kernel"), rng)
    assert found.landmarks.shape == (50, 2)


def test_nothing_is_drawn_where_nothing_is_mapped(data):
    rng = np.random.default_rng(0)
    assert map_for(data, Options(feature_map="none"), rng) is None
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize(("n", "expected"), [(60, 50), (600, 100), (60_000, 500)])
def test_there_is_a_landmark_for_some_rows_within_bounds(n, expected):
    X = np.zeros((n, 1))
    assert landmarks_for(group_by_class(X, np.arange(n) % 2, 2)) == expected


@pytest.mark.parametrize("rate", [0.0, 0.3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rings_are_mapped(rate, seed):
    X, y = rings(600, seed)
    labels = noise.uniform(y, rate, random_state=seed).labels if rate else y
    found = chosen(X, labels)
    assert found is not None
    assert len(found.landmarks) == 100


@pytest.mark.parametrize("rate", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_gaussian_blobs_are_not(blobs, rate, seed):
    X, y = blobs(sizes=(300, 200, 200), d=10, distance=1.5, seed=seed)
    labels = noise.uniform(y, rate, random_state=seed).labels if rate else y
    assert chosen(X, labels) is None


def test_nor_is_what_has_few_rows_for_each_class():
    X, y = rings(600)
    enough = 2 * SETTINGS.fewest_rows_for_map
    assert chosen(X[: enough - 1], y[: enough - 1]) is None
    # The same rows in many classes: each has a few only.
    assert chosen(X, np.arange(600) % 61) is None


def test_the_seed_decides():
    X, y = rings(400)
    one, again, other = (chosen(X, y, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.landmarks, again.landmarks)
    np.testing.assert_array_equal(one.projection, again.projection)
    assert one.gamma == again.gamma
    assert (one.landmarks != other.landmarks).any()


def test_the_width_is_that_which_makes_the_labels_most_likely(monkeypatch):
    X, y = rings(400)
    nats = {0.3: 0.5, 1.0: 0.2, 3.0: 0.4}
    widths = []

    def made(data, rng, n_landmarks, width):
        widths.append((n_landmarks, width))
        return width

    monkeypatch.setattr(choose_map, "map_of_rows", made)
    monkeypatch.setattr("rehead.gaussian.rows.ByClass.mapped", lambda self, width: width)
    monkeypatch.setattr(
        choose_map, "_nats", lambda of: (np.full(400, nats.get(of, 0.6)), np.ones(400))
    )
    data = group_by_class(X, y, 2)
    assert choose_map.choose_map(data, np.random.default_rng(0)) == 1.0
    assert widths == [(66, 0.3), (66, 1.0), (66, 3.0), (66, 1.0)]
    # Clearly better than without, or not at all.
    nats[1.0], nats[3.0], nats[0.3] = 0.599, 0.7, 0.7
    assert choose_map.choose_map(data, np.random.default_rng(0)) is None


def test_rows_are_a_sample_in_which_no_class_is_missing(monkeypatch):
    few = dataclasses.replace(SETTINGS, map_sample=100)
    monkeypatch.setattr(choose_map, "SETTINGS", few)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [800, 190, 10])
    X = np.column_stack([np.arange(1000.0), rng.normal(size=1000)])
    weights, trusted = np.where(np.arange(1000) < 5, 0.0, 2.0), np.arange(1000) % 2 == 0
    data = group_by_class(X, y, 3, weights=weights, trusted=trusted)
    some = some_of_each_class(data, np.random.default_rng(0))
    sizes = [len(rows) for rows in some.rows]
    assert sizes == [80, 19, 5]
    at = some.X[:, 0].astype(int)
    assert (np.diff(at) > 0).all()
    assert at.min() >= 5
    np.testing.assert_array_equal(some.codes, y[at])
    np.testing.assert_array_equal(some.trusted, trusted[at])
    np.testing.assert_array_equal(some.weights, weights[at])
    # Where there are no more, all of them.
    monkeypatch.setattr(choose_map, "SETTINGS", dataclasses.replace(SETTINGS, map_sample=1000))
    assert some_of_each_class(data, np.random.default_rng(0)) is data


@pytest.mark.parametrize("far", [1e3, 1e100])
def test_far_rows_and_rows_that_do_not_count_change_nothing(far):
    X, y = rings(400)
    Z, labels = np.vstack([X, np.full((4, 2), far)]), np.append(y, [0, 1, 0, 1])
    found = chosen(Z, labels)
    assert found is not None
    assert np.abs(found.landmarks).max() < 5
    weights = np.append(np.ones(400), np.zeros(4))
    without = chosen(Z, labels, weights=weights)
    np.testing.assert_array_equal(without.landmarks, chosen(X, y).landmarks)
