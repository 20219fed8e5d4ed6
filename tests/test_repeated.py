"""Rows that occur more than once."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from rehead import RobustGaussianClassifier, noise, score_labels
from rehead._typing import JoinedFeatures
from rehead.gaussian import Composition, Fit, group_by_class
from rehead.gaussian.linear import SecondOpinion
from rehead.repeated import without_repetition


class TestWithoutRepetition:
    def test_where_all_are_different_nothing_is_copied(self):
        data = group_by_class(np.arange(6.0).reshape(3, 2), np.array([0, 1, 0]), 2)
        found = without_repetition(data)
        assert found.different is data
        fit = Fit(None, Composition.from_rows(np.ones(3), data.codes, 2), np.zeros(2), [])
        assert found.spread(fit) is fit

    @pytest.mark.parametrize("lazy", [False, True])
    def test_weights_of_the_same_rows_are_added(self, lazy):
        X = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
        data = group_by_class(
            JoinedFeatures([X]) if lazy else X,
            np.array([0, 1, 0, 0, 1]),
            2,
            weights=np.array([1.0, 2.0, 3.0, 1.0, 0.0]),
        )
        found = without_repetition(data)
        np.testing.assert_array_equal(found.different.X[:], X[[0, 1, 3]])
        np.testing.assert_array_equal(found.different.codes, [0, 1, 0])
        np.testing.assert_array_equal(found.different.weights, [4.0, 2.0, 1.0])
        np.testing.assert_array_equal(found.which, [0, 1, 0, 2, 1])
        np.testing.assert_array_equal(found.share, [0.25, 1.0, 0.75, 1.0, 0.0])

    def test_a_label_that_is_known_is_not_the_same_as_one_that_is_not(self):
        trusted = np.array([True, False, False, True])
        data = group_by_class(np.ones((4, 1)), np.array([0, 0, 1, 1]), 2, trusted=trusted)
        found = without_repetition(data)
        assert found.different is data

    def test_what_was_found_is_shared_by_the_copies(self):
        X, y = np.array([[1.0], [2.0], [1.0]]), np.array([0, 1, 0])
        found = without_repetition(group_by_class(X, y, 2))
        inside = Composition(np.array([1.0, 0.5]), np.array([0, 1]), np.array([1.0, 0.5]))
        second = SecondOpinion(None, 1.0, np.array([3, 1]))
        fit = found.spread(Fit(None, inside, np.zeros(2), [], second=second))
        np.testing.assert_array_equal(fit.composition.weights, [0.5, 0.5, 0.5])
        np.testing.assert_array_equal(fit.composition.counted_as, [0, 1, 0])
        np.testing.assert_array_equal(fit.composition.class_totals, [1.0, 0.5])
        np.testing.assert_array_equal(fit.second.folds, [3, 1, 3])


def rings():
    rng = np.random.default_rng(0)
    true, angle = rng.integers(2, size=900), rng.uniform(0, 2 * np.pi, size=900)
    X = (1 + true)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + 0.1 * rng.normal(size=(900, 2)), noise.flip(true, 0.2, random_state=0).labels


@pytest.mark.filterwarnings("ignore:Most samples:rehead.ReheadWarning")
@pytest.mark.parametrize("feature_map", ["auto", "none"])
def test_whole_weights_are_repetition_with_a_map_and_with_a_second_opinion(feature_map, skewed):
    if feature_map == "auto":
        X, y = rings()
    else:
        X, true = skewed(900)
        y = noise.flip(true, 0.2, random_state=0).labels
    w = np.random.default_rng(2).integers(1, 4, size=len(y))
    clf = RobustGaussianClassifier(feature_map=feature_map, random_state=0)
    weighted = clone(clf).fit(X, y, sample_weight=w)
    taken = weighted.fitted_.kernel_map if feature_map == "auto" else weighted.fitted_.second
    assert taken is not None
    rows = np.append(np.arange(len(y)), np.repeat(np.arange(len(y)), w - 1))
    repeated = clone(clf).fit(X[rows], y[rows])
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-8
    )
    assert repeated.noise_.wrong == pytest.approx(weighted.noise_.wrong, abs=1e-8)
    np.testing.assert_allclose(repeated.trust_[: len(y)] * w, weighted.trust_, atol=1e-8)
    assert repeated.explain().split("after")[1] == weighted.explain().split("after")[1]


@pytest.mark.filterwarnings("ignore:Most samples:rehead.ReheadWarning")
def test_wrong_labels_that_occur_twice_do_not_vouch_for_themselves(skewed):
    """What a second opinion says of a row is not read off its copy."""
    X, true = skewed(900)
    noisy = noise.flip(true, 0.2, random_state=0)
    twice = np.flatnonzero(noisy.changed)
    X2, y2 = np.vstack([X, X[twice]]), np.append(noisy.labels, noisy.labels[twice])
    clf = RobustGaussianClassifier(feature_map="none", random_state=0).fit(X2, y2)
    folds = clf.fitted_.second.folds
    np.testing.assert_array_equal(folds[twice], folds[900:])
    quality = score_labels(clf, X2, y2).quality
    np.testing.assert_array_equal(quality[twice], quality[900:])
    assert quality[twice].mean() < 0.35 < 0.8 < quality[:900][~noisy.changed].mean()


def test_the_same_row_with_two_labels_is_in_one_fold(skewed):
    X, true = skewed(900)
    other = np.arange(900) % 30 == 0
    X2, y2 = np.vstack([X, X[other]]), np.append(true, (true[other] + 1) % 3)
    clf = RobustGaussianClassifier(feature_map="none", random_state=0).fit(X2, y2)
    folds = clf.fitted_.second.folds
    np.testing.assert_array_equal(folds[:900][other], folds[900:])


@pytest.mark.parametrize("estimator", ["auto", "anchored", "sample"])
def test_copies_do_not_vouch_for_each_other(estimator):
    """As much is found among rows that occur twice, or in a bootstrap sample."""
    X, true = load_digits(return_X_y=True)
    noisy = noise.uniform(true[:900], 0.2, random_state=0)
    drawn = np.random.default_rng(0).choice(900, 900)

    def found(rows):
        clf = RobustGaussianClassifier(estimator, feature_map="none", random_state=0)
        quality = score_labels(clf.fit(X[rows], noisy.labels[rows]), X[rows], noisy.labels[rows])
        wrong = noisy.changed[rows]
        return quality.quality[wrong].mean(), quality.quality[~wrong].mean()

    once = found(np.arange(900))
    np.testing.assert_allclose(found(np.repeat(np.arange(900), 2)), once, atol=1e-6)
    # A bootstrap sample has fewer different rows, so that less is known; but not the wrong labels.
    np.testing.assert_allclose(found(drawn), once, atol=0.1)


def test_in_a_table_with_few_values_rows_vouch_for_each_other():
    """They are alike because there are few values: most of many copies stay."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, size=(3000, 3)).astype(float)
    true = (X.sum(axis=1) > 3).astype(int)
    noisy = noise.uniform(true, 0.2, random_state=0)
    clf = RobustGaussianClassifier(random_state=0).fit(X, noisy.labels)
    suspect = score_labels(clf, X, noisy.labels).suspect
    assert (suspect == noisy.changed).mean() > 0.99


def test_only_ratios_of_weights_matter_unless_they_are_whole_numbers():
    X, true = load_digits(return_X_y=True)
    X, y = X[:600], noise.uniform(true[:600], 0.2, random_state=0).labels
    weights = np.random.default_rng(0).uniform(0.5, 1.5, size=600)
    clf = RobustGaussianClassifier(feature_map="none", random_state=0)
    plain = clone(clf).fit(X, y)
    for same, w in (
        (plain, np.full(600, 100)),
        (plain, np.full(600, 0.01)),
        (clone(clf).fit(X, y, sample_weight=weights), 1000 * weights),
    ):
        weighted = clone(clf).fit(X, y, sample_weight=w)
        np.testing.assert_allclose(weighted.predict_proba(X), same.predict_proba(X), atol=1e-6)
        quality, expected = (score_labels(m, X, y).quality for m in (weighted, same))
        np.testing.assert_allclose(quality, expected, atol=1e-6)
