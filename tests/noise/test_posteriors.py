"""Posteriors of samples that a classifier has not seen, calibrated."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier

from rehead.gaussian.threads import own_threads
from rehead.noise import posteriors
from rehead.noise.labels import read_labels
from rehead.noise.posteriors import Judges, Teaching, calibration, cross_judged, tempered

from .overlapping import gaussians

X, Y, POSTERIOR = gaussians(n=2000)
LABELS = read_labels(Y)


def judged(classifier=None, folds=5, share=1.0, seed=0, X=X, labels=LABELS):
    return cross_judged(X, labels, Teaching(classifier, folds, share), np.random.default_rng(seed))


def test_no_sample_is_judged_by_who_has_seen_it():
    """Labels that mean nothing cannot be told by a neighbour, unless it is the sample itself."""
    y = np.random.default_rng(0).integers(4, size=len(X))
    found, _ = judged(KNeighborsClassifier(1), labels=read_labels(y))
    assert (found.argmax(axis=1) == y).mean() == pytest.approx(0.25, abs=0.04)


def test_the_default_is_near_the_truth_and_calibrated():
    found, judges = judged()
    assert log_loss(Y, found) < log_loss(Y, POSTERIOR) + 0.03
    assert calibration(found, Y) == pytest.approx(1, abs=0.01)
    assert len(judges.models) == 5
    # Each sample was judged by one of them.
    of_each = judges.posteriors(X)
    assert of_each.shape == (5, 2000, 4)
    assert (np.abs(of_each - found).max(axis=2).min(axis=0) < 1e-9).all()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_one_temperature_calibrates(temperature):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), 20_000)
    codes = (p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1)
    found = calibration(tempered(p, 1 / temperature), codes)
    assert found == pytest.approx(temperature, rel=0.05)


def test_labels_without_a_chance_do_not_calibrate():
    p = np.array([[0.9, 0.1, 0.0]] * 10)
    codes = np.array([0] * 8 + [1] * 2)
    assert calibration(p, np.append(codes[:9], 2)) == pytest.approx(calibration(p[:9], codes[:9]))
    assert calibration(p, np.full(10, 2)) == 1.0


def test_temperatures():
    p = np.array([[0.7, 0.2, 0.1], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(tempered(p, 1.0), p)
    np.testing.assert_allclose(tempered(p, 0.5)[0], np.array([49, 4, 1]) / 54)
    assert (tempered(p, 100.0)[0] > 0.32).all()


@pytest.mark.parametrize(("folds", "share"), [(2, 0.1), (5, 1.0)])
def test_each_class_teaches_its_share(folds, share):
    _, judges = judged(DummyClassifier(strategy="prior"), folds, share)
    counts = np.bincount(Y)
    for model in judges.models:
        taught = np.minimum(np.floor(share * counts), counts * (folds - 1) / folds)
        np.testing.assert_allclose(model.class_prior_, taught / taught.sum(), atol=0.01)


def test_a_class_that_was_not_taught_has_no_chance():
    y = np.append(Y[:99], 4)
    found, judges = judged(LogisticRegression(), X=X[:100], labels=read_labels(y))
    assert found[-1, 4] == 0
    assert judges.n_classes == 5
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_rows_are_judged_in_blocks(monkeypatch):
    expected, _ = judged()
    monkeypatch.setattr(posteriors, "BLOCK", 70)
    np.testing.assert_allclose(judged()[0], expected, atol=1e-12)


def test_many_features_do_not_make_it_certain():
    """More features than samples: an unbounded posterior would be certain, and wrong."""
    noise = np.random.default_rng(0).normal(size=(400, 2000))
    found, _ = judged(X=np.hstack([X[:400], noise]), labels=read_labels(Y[:400]))
    assert log_loss(Y[:400], found) < np.log(4)


class Odd(LogisticRegression):
    def __init__(self, answer=None):
        super().__init__()
        self.answer = answer

    def predict_proba(self, X):
        return self.answer(super().predict_proba(X))


@pytest.mark.parametrize(
    "answer", [lambda p: p[:, :2], lambda p: p.argmax(axis=1), lambda p: -p, lambda p: p * np.nan]
)
def test_what_is_no_posterior_is_an_error(answer):
    with pytest.raises(ValueError, match="predict_proba must give a probability for each"):
        judged(Odd(answer))


def test_scores_that_do_not_sum_to_one_are_shares():
    np.testing.assert_allclose(judged(Odd(lambda p: 7 * p))[0], judged(Odd(lambda p: p))[0])


def test_judges_of_nothing_give_nothing():
    _, judges = judged()
    assert isinstance(judges, Judges)
    assert judges.posteriors(X[:0]).shape == (5, 0, 4)


def test_threads_make_no_difference():
    with own_threads():
        one = judged()[0]
    np.testing.assert_array_equal(judged()[0], one)
