"""Linear scores, scores of rows that were not seen, and a second opinion as arrays."""

import numpy as np
import pytest

from rehead._typing import JoinedFeatures
from rehead.gaussian.linear import CrossFitted, LinearScores, SecondOpinion


@pytest.fixture
def random():
    rng = np.random.default_rng(0)

    def scores():
        return LinearScores(rng.normal(size=(3, 4)), rng.normal(size=3))

    return rng, scores


def test_scores_times_a_factor_and_about_a_centre(random):
    rng, make = random
    scores, X, centre = make(), rng.normal(size=(6, 4)), rng.normal(size=4)
    np.testing.assert_allclose(scores.times(3.0).of(X), 3.0 * scores.of(X))
    np.testing.assert_allclose(scores.relative_to(centre).of(X - centre), scores.of(X))
    assert scores.of(X.astype(np.float32)).dtype == np.float64


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_scores_of_rows_as_far_as_numbers_go_are_numbers(random):
    _, make = random
    scores = make()
    direction = np.array([[1.0, -1.0, 0.0, 0.5]])
    far = scores.of(1e308 * direction)
    assert np.isfinite(far).all()
    assert far.argmax() == scores.of(1e3 * direction).argmax()
    assert np.isfinite(scores.times(1e140).of(1e200 * direction)).all()


@pytest.mark.parametrize("joined", [False, True])
def test_a_row_is_scored_by_the_regression_without_its_fold(random, joined):
    rng, make = random
    regressions = CrossFitted(make(), [make(), make()])
    X, folds = rng.normal(size=(1500, 4)), rng.integers(-1, 2, size=1500)
    rows = JoinedFeatures([X[:, :1], X[:, 1:]]) if joined else X
    found = regressions.scores(rows, folds)
    by_fold = {-1: regressions.whole, 0: regressions.without[0], 1: regressions.without[1]}
    for i in range(0, 1500, 97):
        np.testing.assert_allclose(found[i], by_fold[folds[i]].of(X[i : i + 1])[0])
    np.testing.assert_allclose(regressions.times(2.0).scores(rows, folds), 2.0 * found)


def test_both_opinions_are_added(random):
    rng, make = random
    opinion = SecondOpinion(CrossFitted(make(), [make()]), 4.0, np.array([0, -1]))
    scores, X = rng.normal(size=(2, 3)), rng.normal(size=(2, 4))
    of_rows = [opinion.regressions.without[0].of(X[:1])[0], opinion.regressions.whole.of(X[1:])[0]]
    np.testing.assert_allclose(opinion.joint(scores, X, opinion.folds), scores / 4.0 + of_rows)


def test_arrays_hold_everything(random):
    _, make = random
    folds = np.array([1, -1, 0])
    opinion = SecondOpinion(CrossFitted(make(), [make(), make()]), 2.5, folds)
    arrays = opinion.to_arrays("second.")
    assert {name.split(".")[0] for name in arrays} == {"second"}
    again = SecondOpinion.from_arrays(arrays, "second.")
    assert again.temperature == 2.5
    np.testing.assert_array_equal(again.folds, folds)
    pairs = zip(
        (opinion.regressions.whole, *opinion.regressions.without),
        (again.regressions.whole, *again.regressions.without),
        strict=True,
    )
    for a, b in pairs:
        np.testing.assert_array_equal(a.weights, b.weights)
        np.testing.assert_array_equal(a.bias, b.bias)
