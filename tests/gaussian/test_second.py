"""A second opinion: where it is taken, what it learns from; rows do not judge themselves."""

import dataclasses

import numpy as np
import pytest

from rehead import noise
from rehead._typing import JoinedFeatures, MappedFeatures
from rehead.gaussian import second
from rehead.gaussian.anchored import trusted_gaussians
from rehead.gaussian.kernel_map import make_kernel_map
from rehead.gaussian.logistic import fit_logistic, scaling_of
from rehead.gaussian.options import USAGE
from rehead.gaussian.rows import group_by_class
from rehead.gaussian.second import (
    Told,
    best_ridge,
    folds_of,
    noisy_rows,
    rows_to_learn_from,
    second_opinion,
)
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.training import TrainingRows, training_rows

OPTIONS = USAGE["auto"].defaults


def opinion_of(X, y, **more):
    rng = np.random.default_rng(0)
    rows = training_rows(group_by_class(X, y, 3, **more), rng)
    found = trusted_gaussians(rows, OPTIONS)
    return rows, found, second_opinion(rows, found, rng)


@pytest.fixture(scope="module")
def noisy(skewed):
    X, y = skewed()
    return X, noise.flip(y, 0.2, random_state=0).labels, y


def test_it_is_taken_where_classes_are_not_gaussian(noisy):
    X, labels, y = noisy
    rows, found, joint = opinion_of(X, labels)
    assert joint is not None
    alone = (found.gaussians.scores(X).argmax(axis=1) == y).mean()
    both = (joint.posterior.argmax(axis=1) == y).mean()
    assert both > alone + 0.05
    assert joint.noise.wrong == pytest.approx(0.2, abs=0.03)
    assert joint.opinion.folds.shape == (len(y),)
    # Rows that are far from everything are in no fold.
    assert set(joint.opinion.folds[rows.counts > 0]) == set(range(SETTINGS.logistic_folds))
    assert (joint.opinion.folds[rows.counts == 0] == -1).all()


@pytest.mark.parametrize("rate", [0.0, 0.3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_is_not_taken_where_gaussians_are_right(blobs, rate, seed):
    X, y = blobs(sizes=(300, 300, 300), d=6, distance=1.0, seed=seed)
    labels = noise.uniform(y, rate, random_state=seed).labels if rate else y
    assert opinion_of(X, labels)[2] is None


def test_scores_that_it_is_judged_by_are_those_of_regressions_without_the_row(noisy):
    """Brute force: the posterior of each row by a regression of the rows of other folds."""
    X, labels, _ = noisy
    rows, found, joint = opinion_of(X, labels)
    T, opinion = found.noise.transition, joint.opinion
    learnt = rows_to_learn_from(rows, np.random.default_rng(0))
    np.testing.assert_array_equal(learnt, np.arange(len(labels)))
    data, folds = noisy_rows(rows, learnt, T), opinion.folds
    scaling = scaling_of(X, np.flatnonzero(rows.counts), alike=False)
    expected = np.empty((len(labels), 3))
    ridges = []
    for fold in range(SETTINGS.logistic_folds):
        of_fold = opinion.regressions.without[fold].weights
        fits = [fit_logistic(data.only(folds != fold), scaling, r) for r in SETTINGS.ridges]
        # Its scores were made larger or smaller, all alike.
        same = [np.corrcoef(of_fold.ravel(), f.weights.ravel())[0, 1] for f in fits]
        best = int(np.argmax(same))
        assert same[best] == pytest.approx(1.0, abs=1e-9)
        ridges.append(best)
        factor = np.linalg.norm(of_fold) / np.linalg.norm(fits[best].weights)
        expected[folds == fold] = factor * fits[best].of(X[folds == fold])
    assert len(set(ridges)) == 1
    # Far rows, which count for nothing, were not learnt from, and are judged by all others.
    expected[folds == -1] = opinion.regressions.whole.of(X[folds == -1])
    np.testing.assert_allclose(opinion.regressions.scores(X, folds), expected, atol=1e-6)
    both = found.scores / opinion.temperature + expected + joint.offsets
    p = np.exp(both - both.max(axis=1, keepdims=True))
    np.testing.assert_allclose(joint.posterior, p / p.sum(axis=1, keepdims=True), atol=1e-6)


def test_trusted_rows_are_learnt_as_they_are_and_say_nothing_about_the_noise(noisy):
    X, labels, y = noisy
    trusted = np.arange(len(y)) % 3 == 0
    labels = np.where(trusted, y, labels)
    rows, found, joint = opinion_of(X, labels, trusted=trusted, drawn=trusted)
    learnt = rows_to_learn_from(rows, np.random.default_rng(0))
    data = noisy_rows(rows, learnt, found.noise.transition)
    np.testing.assert_array_equal(data.of_label[trusted], np.eye(3)[labels[trusted]])
    np.testing.assert_allclose(
        data.of_label[~trusted], found.noise.transition[:, labels[~trusted]].T
    )
    rate = (labels != y)[~trusted].mean()
    assert joint.noise.rate == pytest.approx(rate, abs=0.06)
    assert joint.noise.wrong == pytest.approx((labels != y).mean(), abs=0.03)


def test_no_more_rows_are_learnt_from_than_a_number(noisy, monkeypatch):
    X, labels, _ = noisy
    few = dataclasses.replace(SETTINGS, noise_sample=200, enough_rows=200)
    monkeypatch.setattr("rehead.gaussian.training.SETTINGS", few)
    monkeypatch.setattr(second, "SETTINGS", dataclasses.replace(few, logistic_rows=300))
    X = X.copy()
    X[7] = 1e6
    rows, _, joint = opinion_of(X, labels)
    learnt = rows_to_learn_from(rows, np.random.default_rng(0))
    assert len(learnt) == 300
    assert set(rows.sampled) <= set(learnt)
    assert (np.diff(learnt) > 0).all()
    # What is far from everything is not learnt from, unless the noise model is fitted to it.
    assert 7 in rows.sampled or 7 not in learnt
    if joint is not None:
        seen = np.flatnonzero(joint.opinion.folds >= 0)
        assert len(seen) <= 300
        assert (rows.counts[seen] > 0).all()
        assert {row for row in rows.sampled if rows.counts[row] > 0} <= set(seen)
    monkeypatch.setattr(second, "SETTINGS", dataclasses.replace(few, logistic_rows=100))
    # The rows that the noise model is fitted to are scored, so all of them are dealt.
    np.testing.assert_array_equal(rows_to_learn_from(rows, np.random.default_rng(0)), rows.sampled)


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("in_memory", [0, 2**20])
def test_rows_that_are_made_anew_give_the_same_as_an_array(noisy, monkeypatch, mapped, in_memory):
    X, labels, _ = noisy
    monkeypatch.setattr("rehead.gaussian.at_hand.IN_MEMORY", in_memory)
    if mapped:
        lazy = MappedFeatures(X, make_kernel_map(X, 40, 1.0, np.random.default_rng(0)))
        X = lazy[:]
    else:
        lazy = JoinedFeatures([X[:, :2], X[:, 2:]])
    (_, _, a), (_, _, b) = opinion_of(X, labels), opinion_of(lazy, labels)
    assert (a is None) == (b is None)
    if a is not None:
        np.testing.assert_array_equal(a.opinion.folds, b.opinion.folds)
        np.testing.assert_allclose(a.posterior, b.posterior, atol=1e-6)


def test_the_ridge_is_that_under_which_held_out_labels_are_most_likely(noisy):
    X, labels, _ = noisy
    rows, found, _ = opinion_of(X, labels)
    T = found.noise.transition
    told = Told(found.scores, labels, rows.counts, T)
    learnt = np.arange(len(labels))
    data, scaling = noisy_rows(rows, learnt, T), scaling_of(X, learnt, alike=False)
    held = folds_of(labels, rows.counts, np.random.default_rng(5)) == 0
    ridge = best_ridge(data, scaling, told, learnt, held)
    nats = []
    for candidate in SETTINGS.ridges:
        regression = fit_logistic(data.only(~held), scaling, candidate)
        nats.append(told.only(held).pooled(regression.of(X[held]))[1].mean())
    assert ridge == SETTINGS.ridges[int(np.argmin(nats))]
    # Where the Gaussians alone know better, there is none.
    sure = told._replace(scores=1e3 * np.eye(3)[labels], transition=np.eye(3))
    assert best_ridge(data, scaling, sure, learnt, held) is None


def test_the_seed_decides(noisy):
    X, labels, _ = noisy
    one, other = (opinion_of(X, labels)[2] for _ in range(2))
    np.testing.assert_array_equal(one.opinion.folds, other.opinion.folds)
    np.testing.assert_array_equal(one.posterior, other.posterior)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seed", range(20))
def test_a_few_rows_of_which_some_are_far(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(9, 2)), np.append([0, 1, 2], rng.integers(3, size=6))
    X[rng.random(9) < 0.4] *= 1e8
    _, _, joint = opinion_of(X, y)
    assert joint is None or np.isfinite(joint.posterior).all()


@pytest.mark.parametrize("sizes", [(1, 200, 200), (2, 3, 200), (1, 1, 400)])
def test_classes_of_a_few_samples(skewed, sizes):
    X, y = skewed()
    some = np.concatenate([np.flatnonzero(y == c)[:n] for c, n in enumerate(sizes)])
    _, _, joint = opinion_of(X[some], y[some])
    assert joint is None or np.isfinite(joint.posterior).all()


def test_samples_that_are_alone_in_their_class_may_be_wrong_for_both(noisy, monkeypatch):
    X, labels, _ = noisy
    monkeypatch.setattr(TrainingRows, "share_alone", 0.9)
    _, found, joint = opinion_of(X, labels)
    assert found.noise.most >= 0.9
    assert joint.noise.most >= 0.9
