"""What users are warned of before they use a result, and what not."""

import numpy as np
import pytest

from rehead import ReheadWarning, RobustGaussianClassifier, noise
from rehead.gaussian.doubts import doubts_about_labels, doubts_about_sizes
from rehead.gaussian.settings import SETTINGS

NAMES = np.array(["cat", "dog", "yak"])


def fit(X, y):
    return RobustGaussianClassifier("anchored", random_state=0).fit(X, y)


def test_a_class_of_one_sample_is_named():
    (note,) = doubts_about_sizes(np.array([0, 0, 1, 2, 2]), NAMES)
    assert note.startswith("1 of 3 classes have one sample only ('dog' first).")
    assert doubts_about_sizes(np.array([0, 0, 1, 1, 2, 2]), NAMES) == []


CODES = np.repeat([0, 1, 2], 20)


def doubts(wrong, right):
    """With a share of each class trusted, the rest not at all."""
    trust = np.concatenate([np.arange(20) < share * 20 for share in right]).astype(float)
    return doubts_about_labels(wrong, trust, CODES, NAMES, np.ones(len(CODES)))


def test_a_class_that_is_below_one_half_by_chance_raises_no_doubt():
    assert doubts(0.45, (0.6, 0.6, 0.45)) == []


@pytest.mark.parametrize("right", [(1.0, 1.0, 1.0), (0.6, 0.6, 0.6), (0.45, 0.4, 0.5)])
def test_classes_that_are_about_as_noisy_as_all_raise_no_doubt(right):
    assert doubts(1 - np.mean(right), right) == []


def test_doubts_name_the_classes_that_raise_them():
    assert doubts(SETTINGS.mostly_wrong, (0.4, 0.3, 0.35)) == []
    (all_wrong,) = doubts(0.7, (0.3, 0.3, 0.3))
    assert all_wrong.startswith("About 70% of the labels seem to be wrong.")
    (lost,) = doubts(0.3, (1.0, 1.0, 0.15))
    assert lost.startswith("Next to no label 'yak' is trusted")
    (mostly,) = doubts(0.3, (0.9, 0.4, 0.8))
    assert mostly.startswith("Most samples labelled 'dog' seem to belong to other classes.")
    assert [note[:4] for note in doubts(0.4, (0.9, 0.4, 0.1))] == ["Next", "Most"]


def test_labels_that_are_mostly_wrong_are_warned_of(blobs):
    X, y = blobs(sizes=(300,) * 6, d=10, distance=2.0)
    with pytest.warns(ReheadWarning, match=r"About \d\d% of the labels .* trusted="):
        clf = fit(X, noise.uniform(y, 0.7, random_state=0).labels)
    assert clf.score(X, y) > 0.9


def test_a_class_of_mostly_wrong_labels_is_named(blobs):
    X, y = blobs(sizes=(900, 300, 60), d=6, distance=3.0)
    # A fifth of the cats are called yaks: three of four yaks are cats.
    noisy = NAMES[np.where((y == 0) & (np.arange(len(y)) % 5 == 0), 2, y)]
    with pytest.warns(ReheadWarning, match="Most samples labelled 'yak' seem to belong to other"):
        clf = fit(X, noisy)
    assert clf.score(X, NAMES[y]) > 0.97


def test_a_class_without_a_trusted_label_is_named(blobs):
    X, y = blobs(sizes=(400, 400), d=4, distance=3.0)
    noisy = np.where(np.arange(len(y)) % 40 == 0, 2, y)  # there is no third class
    with pytest.warns(ReheadWarning, match=r"(Next to no label|labelled) 2"):
        clf = fit(X, noisy)
    assert clf.score(X, y) > 0.97
