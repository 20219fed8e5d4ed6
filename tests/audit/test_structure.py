"""Classes that seem to be two or one: rarely called so by mistake, and found where they are."""

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, noise, score_labels
from rehead.audit.structure import FALSE_ALARMS, class_structure, two_groups


def judged(X, y):
    model = RobustGaussianClassifier("sample", shrinkage=0.1).fit(X, y)
    return model, X, score_labels(model, X, y)


@pytest.mark.parametrize("d", [2, 20])
def test_one_gaussian_is_rarely_called_two(d):
    rng = np.random.default_rng(0)
    found = [two_groups(rng.normal(size=(200, d)), 0.05) is not None for _ in range(200)]
    assert np.mean(found) <= 0.05


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.uniform(size=(200, 3)),
        lambda rng: rng.standard_t(3, size=(200, 3)),
        lambda rng: rng.exponential(size=(200, 3)),
        lambda rng: rng.normal(size=(200, 3)) * [9, 1, 1],
    ],
)
def test_no_shape_with_one_peak_is_called_two(draw):
    rng = np.random.default_rng(0)
    found = [two_groups(draw(rng), 0.05) is not None for _ in range(100)]
    assert np.mean(found) <= 0.05


@pytest.mark.parametrize("d", [2, 20])
def test_two_gaussians_far_apart_are_found(d):
    rng = np.random.default_rng(0)
    for _ in range(20):
        Z = rng.normal(size=(300, d))
        Z[rng.random(300) < 0.4, 0] += 8
        assert two_groups(Z, FALSE_ALARMS / 10) is not None


def test_clean_gaussian_classes_raise_no_alarm():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(20):
        y = np.arange(900) % 9
        X = rng.normal(size=(900, 8)) + 4 * rng.normal(size=(9, 8))[y]
        found = class_structure(*judged(X, y))
        alarms += bool(found.split or found.same)
    assert alarms <= 20 * 5 * FALSE_ALARMS


def test_a_class_of_two_kinds_is_found_under_noise():
    rng = np.random.default_rng(0)
    truth = np.arange(1200) % 3
    X = rng.normal(size=(1200, 5)) + 12 * np.eye(3, 5)[truth]
    cats = np.flatnonzero(truth == 0)
    X[cats[:160], 4] += 8
    y = np.array(["cat", "dog", "eel"])[noise.uniform(truth, 0.2, random_state=0).labels]
    model = RobustGaussianClassifier(random_state=0).fit(X, y)
    found = class_structure(model, X, score_labels(model, X, y))
    assert [s.label for s in found.split] == ["cat"]
    assert abs(found.split[0].share - 0.4) < 0.05
    assert found.split[0].heights.sum() == pytest.approx(0.8 * 400, rel=0.1)
    first, second = (np.isin(rows, cats[:160]).mean() for rows in found.split[0].examples)
    assert {first, second} == {0.0, 1.0}
    assert found.same == []


def test_two_names_of_one_class_are_found():
    rng = np.random.default_rng(0)
    truth = np.arange(1600) % 4
    X = rng.normal(size=(1600, 5)) + 6 * np.array([0, 0, 1, 2])[truth, None]
    found = class_structure(*judged(X, np.array(["car", "auto", "bus", "van"])[truth]))
    assert [s.labels for s in found.same] == [("auto", "car")]
    assert abs(found.same[0].told - 0.5) < 0.1


def test_classes_that_flip_noise_mixes_are_not_called_one():
    rng = np.random.default_rng(0)
    truth = np.arange(1600) % 4
    X = rng.normal(size=(1600, 5)) + 5 * rng.normal(size=(4, 5))[truth]
    y = noise.flip(truth, 0.45, random_state=0).labels
    assert class_structure(*judged(X, y)).same == []


def test_small_classes_are_not_looked_at():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [200, 30, 20])
    X = rng.normal(size=(250, 3)) + 5 * y[:, None]
    assert class_structure(*judged(X, y)).too_small == 2
