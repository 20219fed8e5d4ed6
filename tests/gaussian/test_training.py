"""The rows that the noise is found in: which count, how often, and what is made of them."""

import dataclasses

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, noise
from rehead.gaussian.calibration import Priors, calibrate
from rehead.gaussian.rows import group_by_class
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.training import (
    Regularisation,
    calibrated,
    clearly_better,
    regularisations,
    share_of_wrong,
    training_rows,
)


def rows_of(X, y, n_classes, **more):
    return training_rows(group_by_class(X, y, n_classes, **more), np.random.default_rng(0))


def test_each_amount_goes_towards_the_identity_first_and_then_towards_the_diagonal():
    assert regularisations((0.1, 0.5)) == (
        Regularisation(0.1, False),
        Regularisation(0.5, False),
        Regularisation(0.1, True),
        Regularisation(0.5, True),
    )


def test_far_rows_do_not_count_and_the_noise_is_fitted_to_some_of_the_rest(blobs, monkeypatch):
    few = dataclasses.replace(SETTINGS, noise_sample=50, enough_rows=50)
    monkeypatch.setattr("rehead.gaussian.training.SETTINGS", few)
    X, y = blobs(sizes=(100, 100))
    X[3] = 1e6
    w = np.where(np.arange(200) < 10, 0.0, 0.01)
    w[3] = 0.01
    rows = training_rows(group_by_class(X, y, 2, weights=w), np.random.default_rng(0))
    assert len(rows.sampled) == 50
    assert set(rows.sampled) <= set(np.flatnonzero(w))
    # A weight of ``unit`` counts as one sample.
    assert rows.unit == pytest.approx(0.01)
    np.testing.assert_allclose(rows.counts, np.where((w > 0) & (np.arange(200) != 3), 1.0, 0.0))


def test_moments_and_composition_of_training_rows_agree(blobs, brute):
    X, y = blobs(sizes=(40, 30, 20))
    rng = np.random.default_rng(0)
    w, trust = rng.choice([1.0, 2.0, 3.0], size=90), rng.random(90)
    rows = training_rows(group_by_class(X, y, 3, weights=w), rng)
    moments, inside = rows.moments(trust), rows.composition(trust)
    means, covariance = brute.tied(X, y, trust * w)
    np.testing.assert_allclose(moments.means, means)
    np.testing.assert_allclose(np.tril(moments.covariance), np.tril(covariance), atol=1e-12)
    np.testing.assert_allclose(inside.class_totals, moments.weights)
    np.testing.assert_allclose(inside.weights, trust * rows.counts)


def test_scores_of_sampled_rows_are_those_of_refits_without_them(blobs, refitted):
    X, y = blobs(sizes=(15, 15))
    rows = rows_of(X, y, 2)
    everything = np.ones(len(y))
    gaussians = Regularisation(0.0).gaussians(rows.moments(everything)).without_priors()
    scores = rows.sampled_scores(everything, gaussians)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(p / p.sum(axis=1, keepdims=True), refitted(X, y), rtol=1e-7)


def test_labels_that_are_known_say_nothing_about_the_noise_unless_all_are_known(blobs):
    X, y = blobs(sizes=(30, 30))
    trusted = np.arange(60) < 20
    rows = rows_of(X, y, 2, trusted=trusted, drawn=trusted)
    np.testing.assert_array_equal(rows.sampled_doubtful, np.where(trusted, 0.0, 1.0))
    every = rows_of(X, y, 2, trusted=np.ones(60, bool), drawn=np.ones(60, bool))
    np.testing.assert_array_equal(every.sampled_doubtful, np.ones(60))


def test_labels_that_were_checked_because_they_looked_wrong_count(blobs):
    X, y = blobs(sizes=(30, 30))
    trusted, drawn = np.arange(60) < 20, np.arange(60) < 5
    rows = rows_of(X, y, 2, trusted=trusted, drawn=drawn)
    np.testing.assert_array_equal(rows.sampled_doubtful, np.where(drawn, 0.0, 1.0))
    assert (rows.with_known(np.zeros(60)) == trusted).all()


def test_the_share_of_wrong_labels_counts_known_ones_as_right(blobs):
    X, y = blobs(sizes=(30, 30))
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    right = np.full(60, 0.25)
    assert share_of_wrong(rows_of(X, y, 2, weights=weights), right) == pytest.approx(0.75)
    rows = rows_of(X, y, 2, weights=weights, trusted=np.arange(60) < 20)
    assert share_of_wrong(rows, right) == pytest.approx(0.75 * 40 / 80)


def test_gaussians_are_calibrated_by_scores_of_the_sampled_rows(blobs):
    X, y = blobs(sizes=(60, 60, 60), distance=1.0)
    rows, T = rows_of(X, y, 3), 0.8 * np.eye(3) + 0.2 / 3
    gaussians = Regularisation(0.1).gaussians(rows.moments(np.ones(180)))
    scores = rows.sampled_scores(np.ones(180), gaussians)
    found = calibrated(rows, gaussians, scores, rows.calibration_of(scores, T), "uniform")
    expected = calibrate(scores, y, T)
    assert found.temperature == expected.temperature
    np.testing.assert_allclose(found.priors, 1 / 3)
    even = Priors.of("uniform", expected.posterior(scores))
    wanted = expected.with_shift(even.shift).posterior(gaussians.scores(X))
    np.testing.assert_allclose(found.posterior(X), wanted, rtol=1e-9)


def test_better_is_clear_by_two_standard_errors_and_by_the_least_gain():
    rng = np.random.default_rng(0)
    before, counts = rng.normal(size=400), np.ones(400)
    error = 1 / 20
    gain = rng.normal(size=400)
    gain = (gain - gain.mean()) / gain.std()
    assert clearly_better(before - gain - 2.1 * error, before, counts, 0.0)
    assert not clearly_better(before - gain - 1.9 * error, before, counts, 0.0)
    assert clearly_better(before - 0.02, before, counts, 0.01)
    assert not clearly_better(before - 0.02, before, counts, 0.03)
    assert not clearly_better(before, before, counts, 0.0)
    # Rows that do not count do not speak.
    some = np.where(np.arange(400) < 200, 1.0, 0.0)
    worse = np.where(some > 0, before + 0.1, before - 9.0)
    assert not clearly_better(worse, before, some, 0.0)


def test_rows_of_weight_0_are_as_if_left_out(blobs):
    X, y = blobs(sizes=(30, 30, 1, 2))
    alone = rows_of(X, y, 4)
    assert alone.share_alone == pytest.approx(1 / 63)
    weights = np.ones(63)
    weights[np.flatnonzero(y == 3)[0]] = 0.0  # now that class has one sample too
    rows = rows_of(X, y, 4, weights=weights)
    assert rows.share_alone == pytest.approx(2 / 62)
    assert rows.n_samples == 62
    before, after = np.ones(63), np.where(weights > 0, 1.0, 0.0)
    assert rows.mean_change(after, before) == 0.0
    after[y == 2] = 0.0
    assert rows.mean_change(after, before) == pytest.approx(1 / 62)


def test_a_row_and_its_copies_may_be_alone_in_their_class(blobs):
    X, y = blobs(sizes=(30, 30, 1))
    assert rows_of(X, y, 3, weights=np.where(y == 2, 2.0, 1.0)).share_alone == 2 / 62


def test_the_best_rows_that_count_stand_for_a_class(blobs):
    X, y = blobs(sizes=(40, 40, 6))
    of_class = np.flatnonzero(y == 2)
    X[of_class[:2]] = 1e6  # far from everything
    weights = np.ones(86)
    weights[of_class[2]] = 0.0
    rows = rows_of(X, y, 3, weights=weights)
    rank_by = np.zeros(86)
    rank_by[of_class] = [9, 8, 7, 1, 3, 2]
    found = rows.no_class_empty(np.where(y == 2, 0.0, 1.0), rank_by)
    assert rows.totals(found)[2] == 3.0
    # As many as it takes, by how often each counts.
    weights[of_class[4]] = 2.0
    rows = rows_of(X, y, 3, weights=weights)
    found = rows.no_class_empty(np.where(y == 2, 0.0, 1.0), rank_by)
    np.testing.assert_array_equal(found[of_class[3:]], [0.0, 1.0, 1.0])


@pytest.mark.parametrize("name", ["auto", "anchored", "mixture"])
@pytest.mark.parametrize(("seed", "flagged"), [(1, 0), (3, 2), (13, 0), (23, 2)])
def test_a_flag_that_says_outright_which_class_it_is_does_no_harm(name, seed, flagged):
    """Trust in labels left no spread of it: others were drowned, or distances overflowed."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, p=[0.5, 0.3, 0.2], size=900)
    X = np.c_[rng.normal(size=(900, 5)) + 1.6 * np.eye(3, 5)[y], y == flagged]
    labels = noise.uniform(y, 0.2, random_state=1).labels
    with_flag, without = (
        RobustGaussianClassifier(name, random_state=0).fit(Z, labels) for Z in (X, X[:, :5])
    )
    right = with_flag.predict(X) == y
    assert right[y == flagged].all()
    assert right.mean() > (without.predict(X[:, :5]) == y).mean()
