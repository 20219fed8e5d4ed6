"""Made tables: the figures are where their formulas put them, and the rest tells nothing."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering

from rehead import data
from rehead.data import made

FIGURES = {"moons": 2, "spirals": 3, "rings": 3, "clusters": 5}


@pytest.fixture
def exact(monkeypatch):
    """Points in their places: nothing is moved, and no column is added."""
    monkeypatch.setattr(made, "scattered", lambda points, widths, rng: points)
    return np.random.default_rng(0)


@pytest.mark.parametrize(("name", "n_classes"), FIGURES.items())
def test_parts(name, n_classes):
    splits = data.load(name)
    useful = made.DIMENSIONS if name == "clusters" else 2
    assert [part.X.shape for part in splits[:3]] == [(n, useful + 4) for n in (2700, 300, 2000)]
    assert splits.train.X.dtype == np.float32
    assert len(splits.class_names) == n_classes
    for part in splits[:3]:
        shares = np.bincount(part.y, minlength=n_classes) / len(part.y)
        # Four standard errors of a share.
        assert np.abs(shares - 1 / n_classes).max() < 4 * np.sqrt(0.25 / len(part.y))


@pytest.mark.parametrize("name", FIGURES)
def test_a_seed_makes_the_same_and_another_seed_something_else(name):
    first, again, other = (data.load(name, random_state=s).train.X for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1
    by_generator = data.load(name, random_state=np.random.default_rng(0)).train.X
    assert by_generator.shape == first.shape


@pytest.mark.parametrize(("name", "width"), [("moons", 0.5), ("rings", 1.5), ("clusters", 2.0)])
def test_the_last_columns_tell_nothing(name, width):
    train = data.load(name).train
    useless = train.X[:, -4:]
    np.testing.assert_allclose(useless.std(axis=0), width, rtol=0.06)
    for label in np.unique(train.y):
        rows = useless[train.y == label]
        assert np.abs(rows.mean(axis=0)).max() < 4.5 * width / np.sqrt(len(rows))


def test_moons_are_half_circles(exact):
    X, y = made.moons(500, exact)
    centres = np.array([[0, 0], [1, 0.5]])[y]
    np.testing.assert_allclose(np.linalg.norm(X - centres, axis=1), 1)
    up = np.where(y == 0, 1, -1)
    assert (up * (X - centres)[:, 1] >= 0).all()


def test_rings_are_circles_all_around(exact):
    X, y = made.rings(900, exact)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1 + y)
    for label in range(3):
        quadrants = (X[y == label] > 0) @ [1, 2]
        assert np.bincount(quadrants, minlength=4).min() > 40


def test_spirals_turn_with_the_distance_and_arms_are_turned_copies(exact):
    X, y = made.spirals(600, exact)
    radius = np.linalg.norm(X, axis=1)
    assert radius.min() >= 0.2
    assert radius.max() <= 1
    turns = np.arctan2(X[:, 1], X[:, 0]) / (2 * np.pi) - y / 3 - 0.75 * radius
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)
    # As many samples inside of a circle as its share of the area.
    inside = (radius**2 < 0.52).mean()
    assert abs(inside - 0.5) < 4 * np.sqrt(0.25 / 600)


def test_classes_of_clusters_are_three_gaussians_each_of_a_shape_of_its_own(exact, monkeypatch):
    monkeypatch.setattr(made, "APART", 1000.0)  # so that nobody mistakes them
    X, y = made.clusters(2000, exact)
    shapes = []
    for label in range(5):
        points = X[y == label]
        found = AgglomerativeClustering(None, linkage="single", distance_threshold=100)
        which = found.fit_predict(points)
        assert np.bincount(which).min() > 90
        shapes += [np.linalg.eigvalsh(np.cov(points[which == c].T)) for c in range(which.max() + 1)]
    assert len(shapes) == 15
    # The mean variance in a direction is that of six uniform numbers in [-1, 1], squared: 2.
    assert 1.5 < np.mean(shapes) < 2.5
    assert np.std(shapes, axis=0)[-1] > 0.5


def test_points_are_moved_by_their_width():
    rng = np.random.default_rng(0)
    X = made.scattered(np.zeros((4000, 2)), (0.3, 2.0), rng)
    np.testing.assert_allclose(X.std(axis=0), [0.3, 0.3, 2, 2, 2, 2], rtol=0.06)
    assert np.abs(np.corrcoef(X.T) - np.eye(6)).max() < 0.08
