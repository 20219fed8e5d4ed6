"""Annotator noise: opinions of weak classifiers, softened, sampled, mixed with the truth."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from rehead import noise
from rehead.noise.annotators import TEMPERATURE, opinion
from rehead.noise.posteriors import tempered

from .overlapping import gaussians, tenths

X, Y, POSTERIOR = gaussians(n=4000)


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.4])
def test_easy_samples_are_nearly_clean_and_hard_ones_are_not(rate):
    shares = tenths(POSTERIOR, Y, noise.annotator(X, Y, rate, random_state=0).changed)
    assert shares[-2:].mean() < rate / 8
    assert shares[-1] < 0.03
    assert shares[0] > 2 * rate


@pytest.mark.parametrize("amount", [0.0, 0.3, 1.0])
def test_up_to_one_opinion_is_a_mixture_with_the_truth(amount):
    rng = np.random.default_rng(0)
    posterior, codes = rng.dirichlet(np.ones(5), 30), rng.integers(5, size=30)
    expected = (1 - amount) * np.eye(5)[codes] + amount * tempered(posterior, TEMPERATURE)
    np.testing.assert_allclose(opinion(posterior, codes, amount), expected, atol=1e-12)


def test_of_several_opinions_a_wrong_one_counts():
    """Three annotators, all of whose answers are listed."""
    posterior, codes = np.array([[0.6, 0.3, 0.1]]), np.array([0])
    q = tempered(posterior, TEMPERATURE)[0]
    P = opinion(posterior, codes, 3.0)[0]
    all_right = q[0] ** 3
    assert P[0] == pytest.approx(all_right)
    assert P[1] / P[2] == pytest.approx(q[1] / q[2])
    np.testing.assert_allclose(P.sum(), 1)


def test_opinions_are_sampled():
    """The labels of hard samples are not those that the annotator thinks best."""
    noisy = noise.annotator(X, Y, 0.2, random_state=0)
    hard = noisy.probabilities.max(axis=1) < 0.6
    best = noisy.probabilities.argmax(axis=1)
    assert 0.4 < (noisy.labels == best)[hard].mean() < 0.7
    again = noise.annotator(X, Y, 0.2, random_state=1)
    assert (noisy.labels != again.labels)[hard].mean() > 0.2


class Spy(LogisticRegression):
    """Keeps what it was taught on, and what it was asked for."""

    seen = ()

    def fit(self, X, y):
        Spy.seen += ((X.copy(), y.copy(), []),)
        self.place_ = len(Spy.seen) - 1
        return super().fit(X, y)

    def predict_proba(self, X):
        Spy.seen[self.place_][2].append(X.copy())
        return super().predict_proba(X)


def test_two_annotators_judge_what_they_did_not_learn_from():
    Spy.seen = ()
    noise.annotator(X, Y, 0.2, classifier=Spy(), clean=0.1, random_state=0)
    asked, counts = [], np.bincount(Y)
    for taught, labels, judged in Spy.seen:
        for c in range(4):
            assert (labels == c).sum() == counts[c] // 10
        rows = {x.tobytes() for x in taught}
        judged = [x.tobytes() for part in judged for x in part]
        assert not rows & set(judged)
        asked += judged
    assert len(Spy.seen) == 2
    assert sorted(asked) == sorted(x.tobytes() for x in X)


def test_the_classifier_is_left_alone_and_need_not_be_calibrated():
    mine = GaussianNB()
    doubled = np.hstack([X, X, X])  # the same thing three times, which it takes for three
    a = noise.annotator(X, Y, 0.2, classifier=mine, random_state=0)
    b = noise.annotator(doubled, Y, 0.2, classifier=mine, random_state=0)
    assert not hasattr(mine, "classes_")
    np.testing.assert_allclose(a.probabilities, b.probabilities, atol=0.02)


def test_fewer_clean_samples_make_a_weaker_annotator():
    few, many = (noise.annotator(X, Y, 0.2, clean=p, random_state=0) for p in (0.002, 0.5))
    few, many = (tenths(POSTERIOR, Y, noisy.changed) for noisy in (few, many))
    assert few[-2:].mean() > 3 * many[-2:].mean()
    assert few[0] < many[0]


@pytest.mark.parametrize("clean", [0.0, 0.6, 20, None, np.nan])
def test_shares_that_cannot_teach(clean):
    with pytest.raises(ValueError, match=r"clean must be in \(0, 0.5\].* For 20 % pass 0.2"):
        noise.annotator(X, Y, 0.2, clean=clean)


@pytest.mark.parametrize("classifier", ["svm", GaussianNB, object()])
def test_who_cannot_be_an_annotator(classifier):
    with pytest.raises(ValueError, match="object with fit and predict_proba"):
        noise.annotator(X, Y, 0.2, classifier=classifier)
