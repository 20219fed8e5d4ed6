"""The transition matrix at anchors: counted, smoothed, and held to what "right" means."""

import dataclasses

import numpy as np
import pytest

from rehead.gaussian.anchors import (
    _clearly_purer,
    _smoothed_transition,
    _taken_for_another,
    anchor_transition,
    dominant,
    variance_of_shares,
)
from rehead.gaussian.settings import SETTINGS

N = 24_000


def test_a_planted_transition_matrix_is_recovered(planted):
    transition, anchors = anchor_transition(planted.scores, planted.labels)
    np.testing.assert_allclose(transition, planted.T, atol=0.05)
    np.testing.assert_allclose(transition.sum(axis=1), 1)
    predicted = np.bincount(planted.scores.argmax(axis=1))
    shares = np.multiply.outer(SETTINGS.anchor_shares, predicted).astype(int)
    assert anchors.tolist() in shares.tolist()


def test_anchors_are_the_surest_samples(monkeypatch):
    # Ten samples of each class are sure; only their labels are looked at, and nothing is borrowed.
    monkeypatch.setattr(
        "rehead.gaussian.anchors.SETTINGS",
        dataclasses.replace(
            SETTINGS, fewest_anchors=1, anchor_shares=(0.25,), borrowed_anchors=(1e-9,)
        ),
    )
    true = np.repeat([0, 1], 40)
    sure = np.arange(80) % 4 == 0
    scores = np.where(sure, 9.0, 1.0)[:, None] * np.eye(2)[true]
    labels = np.where(sure, true, 1 - true)
    labels[[0, 4, 8]] = 1
    transition, anchors = anchor_transition(scores, labels)
    assert anchors.tolist() == [10, 10]
    np.testing.assert_allclose(transition, [[0.7, 0.3], [0.0, 1.0]], atol=1e-8)


def test_whole_counts_are_repetitions(planted):
    counts = np.random.default_rng(0).integers(0, 4, size=2000)
    scores, labels = planted.scores[:2000], planted.labels[:2000]
    rows = np.repeat(np.arange(2000), counts)
    for a, b in zip(
        anchor_transition(scores, labels, counts.astype(float)),
        anchor_transition(scores[rows], labels[rows]),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_class_that_is_never_predicted_is_taken_to_be_like_the_others():
    scores = np.tile([1.0, 0.0, -5.0], (50, 1))
    transition, anchors = anchor_transition(scores, np.zeros(50, int))
    assert anchors[2] == 0 < anchors[0]
    assert transition[2, 2] > 0.95
    np.testing.assert_allclose(transition.sum(axis=1), 1)
    assert (transition > 0).all()


def test_no_wrong_label_is_more_frequent_than_the_right_one():
    # Most anchors of class 0 carry the label 1: by chance, or because the classes are swapped.
    scores = np.repeat(9.0 * np.eye(3), 20, axis=0)
    labels = np.repeat([0, 1, 2], 20)
    labels[:14] = 1
    transition, anchors = anchor_transition(scores, labels)
    assert (transition.max(axis=1) == np.diag(transition)).all()
    assert anchors.tolist() == [0, 20, 20]  # those of class 0 say nothing about it


def test_anchors_that_are_of_another_class_say_nothing():
    # Anchors of class 2 mostly carry the label 0: clearly so, or maybe by chance.
    clearly = np.array([[50.0, 0.0, 0.0], [0.0, 50.0, 0.0], [30.0, 0.0, 10.0]])
    maybe = np.array([[50.0, 0.0, 0.0], [0.0, 50.0, 0.0], [12.0, 0.0, 10.0]])
    assert _taken_for_another(clearly).tolist() == [False, False, True]
    assert not _taken_for_another(maybe).any()


def test_a_matrix_becomes_dominant_and_one_that_is_stays():
    np.testing.assert_allclose(
        dominant(np.array([[0.2, 0.8], [0.3, 0.7]])), [[0.5, 0.5], [0.3, 0.7]]
    )
    T = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(dominant(T), T, rtol=1e-15)


def test_classes_borrow_from_each_other_as_far_as_they_are_alike():
    alike = np.array([[7.0, 3.0], [8.0, 2.0], [6.0, 4.0], [7.0, 3.0]])
    unlike = np.array([[100.0, 0.0], [50.0, 50.0], [100.0, 0.0], [55.0, 45.0]])

    def right(shares):
        labels = np.zeros((4, 4))
        labels[range(4), range(4)], labels[range(4), [1, 2, 3, 0]] = shares.T
        T = _smoothed_transition(labels)
        np.testing.assert_allclose(T.sum(axis=1), 1)
        return np.diag(T)

    assert np.ptp(right(alike)) < 0.01
    np.testing.assert_allclose(right(unlike), unlike[:, 0] / 100, atol=0.02)


def test_fewer_anchors_are_taken_where_the_others_are_of_other_classes():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=N)
    labels = np.array([rng.choice(3, p=np.full(3, 0.1) + 0.7 * np.eye(3)[c]) for c in true])
    sides = np.eye(3)[true]
    for distance, most in ((1.2, 0.1), (6.0, 0.3)):
        x = rng.normal(size=(N, 3)) + distance * sides
        transition, anchors = anchor_transition(distance * x, labels)
        assert anchors.sum() == pytest.approx(most * N, rel=0.01)
    assert 1 - np.diag(transition).mean() == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(
    ("few", "many"),
    [
        (np.diag([30.0, 30.0]), np.array([[90.0, 0.0], [1.0, 89.0]])),
        # The same purity in each class, in another mix of classes.
        (
            np.block([[np.diag([60.0]), 40 * np.eye(1, 5)], [np.zeros((5, 1)), 30 * np.eye(5)]]),
            np.block([[np.diag([180.0]), 120 * np.eye(1, 5)], [np.zeros((5, 1)), 30 * np.eye(5)]]),
        ),
    ],
)
def test_what_may_be_chance_is_not_purer(few, many):
    assert not _clearly_purer(few, many)


def test_what_is_no_chance_is_purer():
    assert _clearly_purer(np.diag([300.0, 300.0]), np.array([[800.0, 100.0], [100.0, 800.0]]))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.97])
def test_the_variance_of_a_share_is_that_of_draws(share):
    draws = np.random.default_rng(0).binomial(200, share, size=4000) / 200
    assert variance_of_shares(draws, np.array(200.0)).mean() == pytest.approx(draws.var(), rel=0.2)
    # All of a few agree: that is not certainty.
    assert variance_of_shares(np.array(1.0), np.array(5.0)) > 0
