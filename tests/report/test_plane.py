"""Samples on a plane."""

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels
from rehead.report import plane


def purity(xy, y):
    """Share of the samples whose neighbours on the map are mostly of their own class."""
    from sklearn.neighbors import KNeighborsClassifier

    near = KNeighborsClassifier(7).fit(xy, y).kneighbors(return_distance=False)
    return (np.median((y[near] == y[:, None]), axis=1) == 1).mean()


@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_classes_lie_apart_and_wrong_labels_among_their_true_class(judged, n_classes):
    report, X, truth = judged(n_classes, 400)
    found = plane.plane_of(report.model, X, report)
    assert found.xy.shape == (400, 2)
    assert found.xy.min() >= 0
    assert found.xy.max() <= 1
    assert purity(found.xy, truth) > 0.95


def test_samples_between_landmarks_are_near_those_like_them(judged, monkeypatch):
    monkeypatch.setattr(plane, "LANDMARKS", 150)
    report, X, truth = judged(6, 900)
    found = plane.plane_of(report.model, X, report)
    assert "t-SNE placed 150 samples" in found.how
    assert purity(found.xy, truth) > 0.95


def test_of_very_many_samples_suspects_are_drawn_first(judged, monkeypatch):
    monkeypatch.setattr(plane, "MOST_POINTS", 200)
    report, X, _ = judged(3, 600)
    found = plane.plane_of(report.model, X, report)
    assert len(found.rows) == len(np.unique(found.rows)) == 200
    assert np.isin(np.flatnonzero(report.suspect), found.rows).mean() > 0.9


def test_one_outlier_does_not_shrink_the_map():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 4)) + 5 * y[:, None]
    model = RobustGaussianClassifier("sample").fit(X, y)
    X[0] += 1000
    report = score_labels(model, X, y)
    found = plane.plane_of(model, X, report)
    assert np.ptp(found.xy[1:], axis=0).max() > 0.8


@pytest.mark.parametrize("d", [1, 2])
def test_few_features(d):
    y = np.arange(200) % 2
    X = np.random.default_rng(0).normal(size=(200, d)) + 5 * y[:, None]
    model = RobustGaussianClassifier("sample").fit(X, y)
    found = plane.plane_of(model, X, score_labels(model, X, y))
    assert np.isfinite(found.xy).all()
    assert purity(found.xy[:, :1], y) > 0.95


def test_layers(blobs):
    X, y = blobs(sizes=(80, 80, 80, 80))
    layers = {"a": X, "b": X**2}
    model = LayerEnsemble("sample", weights="equal", stack=True).fit(layers, y)
    found = plane.plane_of(model, layers, score_labels(model, layers, y))
    assert purity(found.xy, y) > 0.9
