"""Gaussians of the features as they are, beside those of a map."""

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, score_labels, typicality
from rehead.gaussian import Composition, group_by_class
from rehead.gaussian.unmapped import nearest_distances, unmapped_gaussians


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    y, angle = rng.integers(2, size=400), rng.uniform(0, 2 * np.pi, size=400)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return (1 + y)[:, None] * circle + 0.1 * rng.normal(size=(400, 2)), y


def test_they_contain_what_the_others_contain():
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [50.0]])
    inside = Composition.from_rows(
        np.array([1.0, 1.0, 0.5, 1.0, 1.0, 0.0]), np.array([0, 0, 0, 1, 1, 1]), 2
    )
    g = unmapped_gaussians(group_by_class(X, np.array([0, 0, 1, 1, 1, 1]), 2), inside)
    np.testing.assert_allclose(g.means.ravel(), [2.0 / 2.5, 8.5])


def test_distances_are_those_without_the_row_itself(brute):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 3)) + 4 * y[:, None]
    w = rng.uniform(0.5, 1.0, size=40)
    inside = Composition.from_rows(w, y, 2)
    g = unmapped_gaussians(group_by_class(X, y, 2), inside)
    alone = nearest_distances(g, X, inside)
    as_new = nearest_distances(g, X, inside.only(np.zeros(40, bool)))
    np.testing.assert_allclose(as_new, g.distances(X).min(axis=1) / 3)
    assert (alone > as_new).all()


def test_what_a_map_hides_is_found_and_what_is_usual_is_not(rings):
    X, y = rings
    clf = RobustGaussianClassifier(feature_map="kernel", random_state=0).fit(X, y)
    assert clf.fitted_.unmapped is not None
    assert typicality(clf, X + 1e4).max() < 0.01
    new = np.vstack([X, [[30.0, 0.0]]])
    kind = score_labels(clf, new, np.append(y, 0)).kind
    assert kind[-1] == "out of distribution"
    assert (kind[:-1] == "out of distribution").mean() < 0.01


def test_files_have_them(rings, tmp_path):
    X, y = rings
    clf = RobustGaussianClassifier(feature_map="kernel", random_state=0).fit(X, y)
    clf.save(tmp_path / "head")
    again = RobustGaussianClassifier.load(tmp_path / "head")
    np.testing.assert_array_equal(typicality(again, X, y), typicality(clf, X, y))
    g, h = again.fitted_.unmapped, clf.fitted_.unmapped
    assert g.estimated == h.estimated
    np.testing.assert_array_equal(g.covariance, h.covariance)
