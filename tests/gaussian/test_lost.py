"""Classes that were lost on the way are found again."""

import dataclasses

import numpy as np
import pytest

from rehead import RobustGaussianClassifier
from rehead.gaussian.lost import Taken, another_start
from rehead.gaussian.settings import SETTINGS


def rows_of(pairs, right=0.6):
    """Rows from (label, what they are taken for, how many); what agrees is trusted."""
    codes = np.repeat([p[0] for p in pairs], [p[2] for p in pairs])
    taken_for = np.repeat([p[1] for p in pairs], [p[2] for p in pairs])
    trust = (codes == taken_for).astype(float)
    return Taken(codes, taken_for, trust, np.ones(len(codes)), right)


def trusted(rows, start, label, taken_for):
    """How far rows with this label that are taken for this class are trusted at the start."""
    of = (rows.codes == label) & (rows.taken_for == taken_for)
    return set(start[of].tolist())


def test_nothing_is_tried_where_no_class_is_lost():
    rows = rows_of([(0, 0, 60), (1, 0, 40), (1, 1, 60), (0, 1, 40), (2, 2, 50)])
    assert another_start(rows, 1.0) is None


def test_of_a_class_that_was_swallowed_the_samples_that_its_main_source_does_not_explain_count():
    rows = rows_of([(0, 0, 60), (1, 0, 40), (1, 2, 6), (2, 2, 20)])
    start = another_start(rows, 1.0)
    assert trusted(rows, start, 1, 0) == {0.0}
    assert trusted(rows, start, 1, 2) == {1.0}
    assert trusted(rows, start, 0, 0) == trusted(rows, start, 2, 2) == {1.0}


def test_two_samples_are_no_class():
    rows = rows_of([(0, 0, 60), (1, 0, 40), (1, 2, 2), (2, 2, 20)])
    assert another_start(rows, 1.0) is None


def test_two_classes_that_changed_places_are_put_right():
    # What is taken for class 1 mostly says 0; the true samples of class 1 are taken for 2.
    rows = rows_of([(0, 1, 30), (1, 1, 20), (1, 2, 9), (2, 2, 40)])
    start = another_start(rows, 1.0)
    assert trusted(rows, start, 0, 1) == {1.0}
    assert trusted(rows, start, 1, 1) == {0.0}
    assert trusted(rows, start, 1, 2) == {1.0}


def test_a_class_is_not_left_without_samples_by_that():
    rows = rows_of([(0, 1, 30), (1, 1, 20), (2, 2, 40)])
    start = another_start(rows, 1.0)
    assert trusted(rows, start, 1, 1) == {1.0}


def test_the_ratio_says_from_when_on_classes_may_have_changed_places():
    rows = rows_of([(0, 1, 18), (0, 0, 30), (1, 1, 20), (2, 2, 40)])
    assert another_start(rows, 1.0) is None
    assert trusted(rows, another_start(rows, 0.8), 0, 1) == {1.0}


def test_rows_that_do_not_count_say_nothing():
    rows = rows_of([(0, 0, 60), (1, 0, 40), (1, 2, 6), (2, 2, 20)])
    counts = np.where((rows.codes == 1) & (rows.taken_for == 2), 0.0, 1.0)
    assert another_start(rows._replace(counts=counts), 1.0) is None


@pytest.fixture
def swallowed():
    """Four classes; most of what carries label 1 belongs to 0, and 1 is close to 2."""
    rng = np.random.default_rng(0)
    sizes, d = (1500, 90, 110, 120), 20
    means = rng.normal(size=(4, d)) * 1.6
    means[1] = means[2] + 0.35 * (means[1] - means[2])
    truth = np.repeat(np.arange(4), sizes)
    X = rng.normal(size=(len(truth), d)) + means[truth]
    noisy = np.where(rng.random(len(truth)) < 0.4, (truth + 1) % 4, truth)
    return X, truth, noisy


@pytest.mark.filterwarnings("ignore:Most samples labelled 1")
def test_a_small_class_is_not_swallowed(swallowed, monkeypatch):
    X, truth, noisy = swallowed
    small = truth == 1

    def found():
        clf = RobustGaussianClassifier("anchored", random_state=0).fit(X, noisy)
        return float((clf.predict(X)[small] == 1).mean())

    with_other_starts = found()
    none = dataclasses.replace(SETTINGS, other_starts=0)
    monkeypatch.setattr("rehead.gaussian.anchored.SETTINGS", none)
    assert found() < 0.3 < 0.7 < with_other_starts


@pytest.mark.filterwarnings("ignore:Most samples labelled 1")
def test_labels_that_are_known_to_be_right_stay_trusted(swallowed):
    X, truth, noisy = swallowed
    known = np.zeros(len(truth), bool)
    known[::10] = True
    labels = np.where(known, truth, noisy)
    clf = RobustGaussianClassifier("anchored", random_state=0).fit(X, labels, trusted=known)
    assert (clf.trust_[known] == 1).all()
