"""Which map is taken: the one that is asked for, or what the default chooses."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from rehead import noise
from rehead.gaussian import ByClass, Options, choose_map, group_by_class
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


class TestChoice:
    """What is tried and taken, where it is given how likely labels are."""

    ROWS = 400

    def choose(self, monkeypatch, nats, d=2):
        """Nats per label for each map, named by its width and by how often it was weighed."""
        tried = []

        def made(data, rng, n_landmarks, width, columns=None):
            weighed = 0 if columns is None else int(columns[0])
            tried.append((n_landmarks, width, weighed))
            return SimpleNamespace(name=(width, weighed), importance=columns)

        def judged(data):
            found = 0.6 if isinstance(data, ByClass) else nats.get(data.name, 0.7)
            return choose_map.Judged(np.full(self.ROWS, found), np.ones(self.ROWS), None)

        def one_more(kernel_map, *_):
            before = 0 if kernel_map.importance is None else kernel_map.importance[0]
            return np.full(d, before + 1.0)

        monkeypatch.setattr(choose_map, "map_of_rows", made)
        monkeypatch.setattr(choose_map, "_judged", judged)
        monkeypatch.setattr(choose_map, "importance", one_more)
        monkeypatch.setattr("rehead.gaussian.rows.ByClass.mapped", lambda self, to: to)
        X = np.random.default_rng(0).normal(size=(self.ROWS, d))
        data = group_by_class(X, np.arange(self.ROWS) % 2, 2)
        found = choose_map.choose_map(data, np.random.default_rng(0))
        return None if found is None else found.name, tried

    def test_the_width_is_that_which_makes_the_labels_most_likely(self, monkeypatch):
        nats = {(0.3, 0): 0.5, (1.0, 0): 0.2, (3.0, 0): 0.4}
        found, tried = self.choose(monkeypatch, nats)
        assert found == (1.0, 0)
        first = [(66, 0.3, 0), (66, 1.0, 0), (66, 3.0, 0)]
        assert tried == [*first, (66, 1.0, 1), (66, 3.0, 1), (66, 1.0, 0)]

    def test_clearly_better_than_without_or_not_at_all(self, monkeypatch):
        assert self.choose(monkeypatch, {(1.0, 0): 0.599})[0] is None
        assert self.choose(monkeypatch, {(1.0, 2): 0.1})[0] is None

    def test_columns_are_weighed_while_that_makes_labels_more_likely(self, monkeypatch):
        nats = {(0.3, 0): 0.5, (0.3, 1): 0.4, (1.0, 2): 0.3, (3.0, 3): 0.2, (3.0, 4): 0.1}
        found, tried = self.choose(monkeypatch, nats)
        # Three times, at most; narrower ones than before are tried, wider ones are not.
        assert found == (3.0, 3)
        assert [t[1:] for t in tried[3:-1]] == [
            *[(0.3, 1), (1.0, 1)],
            *[(0.3, 2), (1.0, 2)],
            *[(1.0, 3), (3.0, 3)],
        ]
        nats[0.3, 1] = 0.51
        assert self.choose(monkeypatch, nats)[0] == (0.3, 0)

    @pytest.mark.parametrize(("gain", "weighed"), [(4.9, 0), (5.1, 1)])
    def test_each_column_has_its_price(self, monkeypatch, gain, weighed):
        nats = {(0.3, 0): 0.4, (0.3, 1): 0.4 - gain / self.ROWS}
        assert self.choose(monkeypatch, nats, d=5)[0] == (0.3, weighed)

    @pytest.mark.parametrize(("d", "weighed"), [(13, 1), (14, 0)])
    def test_they_are_not_weighed_where_rows_are_few(self, monkeypatch, d, weighed):
        nats = {(0.3, 0): 0.4, (0.3, 1): 0.1}
        found, tried = self.choose(monkeypatch, nats, d)
        assert found == (0.3, weighed)
        assert (len(tried) > 4) == bool(weighed)


def among_useless(X, seed, n=4):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(size=(len(X), n)), X])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_columns_that_tell_count(seed):
    X, y = rings(1200, seed)
    labels = noise.uniform(y, 0.3, random_state=seed).labels
    found = chosen(among_useless(X, seed), labels).importance
    assert found[:4].max() < 0.3
    assert found[4:].min() > 0.5


@pytest.mark.parametrize(("n", "d"), [(300, 2), (300, 6), (300, 10), (1200, 6)])
@pytest.mark.parametrize("seed", range(4))
def test_labels_do_not_vouch_for_themselves(n, d, seed):
    """Where no column tells anything, none is weighed, and there is no map."""
    rng = np.random.default_rng([seed, n, d])
    assert chosen(rng.normal(size=(n, d)), rng.integers(3, size=n)) is None


def test_none_is_weighed_where_a_map_was_asked_for():
    X, y = rings(600)
    data = group_by_class(among_useless(X, 0), y, 2)
    rng = np.random.default_rng(0)
    assert map_for(data, Options(feature_map="kernel"), rng).importance is None


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


def test_rows_of_weight_0_do_not_make_a_map_possible():
    X, y = rings(60)
    enough = 2 * SETTINGS.fewest_rows_for_map
    weights = (np.arange(60) < enough - 1).astype(float)
    assert chosen(X, y, weights=weights) is None


@pytest.mark.parametrize("n", [60, 120, 300, 600])
def test_the_map_that_is_judged_is_as_large_as_the_one_that_is_taken(monkeypatch, n):
    sizes, made = [], choose_map.map_of_rows

    def noted(data, rng, n_landmarks, *more):
        found = made(data, rng, n_landmarks, *more)
        sizes.append(len(found.landmarks))
        return found

    monkeypatch.setattr(choose_map, "map_of_rows", noted)
    found = chosen(*rings(n))
    assert found is not None
    assert set(sizes) == {len(found.landmarks)} == {max(n // 6, 50)}
