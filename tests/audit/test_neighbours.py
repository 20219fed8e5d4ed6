"""The samples that speak against a label: the nearest ones with other labels, and their words."""

import numpy as np
import pandas as pd
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels
from rehead.audit.neighbours import Neighbours, Samples, nearest_others

NAMES = np.array(["ant", "bee", "cat"])


def brute(model, X, given, row, k):
    P = np.linalg.inv(model.covariance_)
    distance = np.array([np.sqrt((x - X[row]) @ P @ (x - X[row])) for x in X])
    distance[given == given[row]] = np.inf
    return np.argsort(distance, kind="stable")[:k], np.sort(distance)[:k]


def test_are_the_nearest_with_other_labels(model, noisy, report):
    X, y, _ = noisy
    found = report.neighbours([3, 200], X, k=4)
    assert found.rows.shape == (2, 4)
    for i, row in enumerate((3, 200)):
        rows, distances = brute(model, X, y, row, 4)
        np.testing.assert_array_equal(found.rows[i], rows)
        np.testing.assert_allclose(found.distances[i], distances, rtol=1e-6)
        np.testing.assert_array_equal(found.labels[i], y[rows])
        np.testing.assert_allclose(found.quality[i], report.quality[rows])
    assert found.given.tolist() == y[[3, 200]].tolist()


def test_a_wrong_label_has_neighbours_of_the_right_one(noisy, report):
    worst = report.order[:20]
    found = report.neighbours(worst, noisy[0])
    assert (found.labels == report.suggested[worst][:, None]).mean() > 0.9


def test_by_id_and_in_words(noisy):
    X, y, _ = noisy
    ids = np.array([f"img{i}" for i in range(450)])
    names = RobustGaussianClassifier(random_state=0).fit(X, NAMES[y])
    report = score_labels(names, X, NAMES[y], ids=ids)
    found = report.neighbours("img5", X, k=2)
    assert found.samples.tolist() == ["img5"]
    np.testing.assert_array_equal(found.ids, ids[found.rows])
    text = str(found)
    assert text.startswith(f"img5 is labelled {NAMES[y[5]]}.")
    assert f"{found.ids[0, 0]}: {found.labels[0, 0]}, distance" in text
    with pytest.raises(ValueError, match=r"'img9999' names 0 of the samples"):
        report.neighbours("img9999", X)


def test_words_to_the_letter():
    found = Neighbours(
        samples=np.array(["x"]),
        given=np.array(["cat"]),
        rows=np.array([[4, 2]]),
        ids=np.array([["e", "c"]]),
        labels=np.array([["dog", "ant"]]),
        distances=np.array([[0.125, 3.0]]),
        quality=np.array([[0.999, 0.5]]),
    )
    asked = "x is labelled cat. Nearest samples with other labels:"
    near, far = "\n  e: dog, distance 0.12", "\n  c: ant, distance 3.00"
    assert str(found) == f"{asked}{near}, quality 1.00{far}, quality 0.50"
    assert str(found._replace(quality=None)) == asked + near + far


def test_of_new_samples_among_the_training_samples(model, noisy):
    X, y, _ = noisy
    new = score_labels(model, X[:5] + 0.01, y[:5])
    ids = np.arange(450) + 1000
    found = new.neighbours(2, X[:5] + 0.01, k=3, train=(X, y, ids))
    assert found.quality is None
    np.testing.assert_array_equal(found.ids, found.rows + 1000)
    np.testing.assert_array_equal(found.labels, y[found.rows])
    assert (found.labels != y[2]).all()
    with pytest.raises(ValueError, match=r"train must be \(X, y\)"):
        new.neighbours(2, X[:5] + 0.01, train=X)


def test_over_many_blocks(model, noisy, report):
    X, y, _ = noisy
    alone = report.neighbours(3, X)
    far = np.tile(X + 50.0, (40, 1))
    X, y = np.vstack([far, X]), np.append(np.tile(y, 40), y)
    found = score_labels(model, X, y).neighbours(len(far) + 3, X)
    np.testing.assert_array_equal(found.rows, alone.rows + len(far))
    np.testing.assert_allclose(found.distances, alone.distances)


class Plane:
    """A model whose space is that of the features."""

    def judging_space(self, X):
        return np.asarray(X, float)


def test_of_several_samples_over_blocks_against_brute_force():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 2)), rng.integers(4, size=9000)  # two blocks, or more
    asked, labels = rng.normal(size=(30, 2)), rng.integers(4, size=30)
    found = nearest_others(Plane(), Samples(asked, labels), Samples(X, y), 7)
    for i in range(30):
        distance = np.where(y == labels[i], np.inf, np.linalg.norm(X - asked[i], axis=1))
        np.testing.assert_array_equal(found.rows[i], np.argsort(distance)[:7])
        np.testing.assert_allclose(found.distances[i], np.sort(distance)[:7], rtol=1e-9)


def test_copies_are_at_no_distance_whatever_the_rounding():
    # The square of a distance is a difference of large numbers, and can come out below 0.
    X = 1e4 * np.random.default_rng(0).normal(size=(200, 5))
    found = nearest_others(Plane(), Samples(X, np.zeros(200)), Samples(X, np.ones(200)), 1)
    np.testing.assert_array_equal(found.rows[:, 0], np.arange(200))
    assert (found.distances < 1e-2).all()


@pytest.mark.parametrize("estimator", ["sample", None])
def test_of_layers(noisy, estimator):
    X, y, _ = noisy
    layers = {"a": X[:, :2], "b": X[:, 2:]}
    held = {name: layer[300:] + 1e-3 for name, layer in layers.items()}
    ensemble = LayerEnsemble(estimator, random_state=0).fit(layers, y, validation=(held, y[300:]))
    found = score_labels(ensemble, layers, y).neighbours(0, layers, k=3)
    # In the last layer where each was estimated alone, else in that which judged.
    judge = "b" if estimator else ensemble.fitted_.judging_member
    features = X if judge == "stack" else layers[judge]
    rows, distances = brute(ensemble.estimators_[judge], features, y, 0, 3)
    np.testing.assert_array_equal(found.rows[0], rows)
    np.testing.assert_allclose(found.distances[0], distances, rtol=1e-6)
    assert (found.labels != y[0]).all()


def test_fewer_where_there_are_fewer(blobs):
    X, y = blobs(sizes=(40, 3))
    report = score_labels(RobustGaussianClassifier("identity").fit(X, y), X, y)
    row = int(np.flatnonzero(y == 0)[0])
    found = report.neighbours(row, X, k=9)
    assert found.rows.shape == (1, 3)
    assert set(found.rows[0].tolist()) == set(np.flatnonzero(y == 1).tolist())


@pytest.mark.parametrize("order", ["C", "F"])
def test_of_frames_whatever_their_layout(noisy, order):
    # A frame of several columns gives its rows column by column.
    X = np.asarray(noisy[0], np.float32, order=order)
    frame, y = pd.DataFrame(X), noisy[1]
    model = RobustGaussianClassifier(random_state=0).fit(frame, y)
    found = score_labels(model, frame, y).neighbours([3, 8], frame, k=2)
    again = score_labels(model, X, y).neighbours([3, 8], X, k=2)
    np.testing.assert_array_equal(found.rows, again.rows)


def test_where_all_have_the_same_label(report, noisy):
    X, y, _ = noisy
    same = y == report.given[0]
    found = report.neighbours(0, X, train=(X[same], y[same]))
    assert found.rows.shape == (1, 0)
    assert str(found).endswith("with other labels: none")


def test_the_nearest_points_are_those_of_the_definition():
    from rehead.audit.neighbours import nearest_points

    rng = np.random.default_rng(0)
    point, among = rng.normal(size=(1, 4)), rng.normal(size=(50, 4))
    found = nearest_points(point, among, 7)
    distances = np.array([np.linalg.norm(other - point[0]) for other in among])
    assert found.rows[0].tolist() == np.argsort(distances)[:7].tolist()
    np.testing.assert_allclose(found.distances[0], np.sort(distances)[:7])
