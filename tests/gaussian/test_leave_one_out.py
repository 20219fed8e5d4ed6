"""Leave-one-out scores in closed form against refitting without each sample."""

import numpy as np
import pytest
from scipy.special import softmax

from rehead.gaussian.composition import Composition
from rehead.gaussian.kernels import BLOCK, Subset
from rehead.gaussian.leave_one_out import all_scores, leave_one_out_scores
from rehead.gaussian.moments import pooled_moments
from rehead.gaussian.rows import group_by_class
from rehead.gaussian.tied import from_moments


def posterior(scores, codes):
    return softmax(scores, axis=1)


def closed_form(X, y, weights=None, keep=None, priors="uniform"):
    """Our leave-one-out posterior; rows of ``keep`` False are outside of the estimates."""
    data = group_by_class(X, y, int(y.max()) + 1, weights=weights)
    subsets = []
    for c, rows in enumerate(data.rows):
        at = np.arange(len(rows)) if keep is None else np.flatnonzero(keep[rows])
        w = data.class_weights(c)
        subsets.append(Subset(at, None if w is None else w[at]))
    g = from_moments(pooled_moments(data, subsets), priors=priors)
    return leave_one_out_scores(g, X, y, Composition.from_subsets(data, subsets), posterior)


@pytest.mark.parametrize("trimmed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_scores_equal_refitting(blobs, brute, refitted, trimmed, weighted, offset):
    X, y = blobs(sizes=(25, 18, 12), d=4, distance=1.0)
    X += offset
    rng = np.random.default_rng(1)
    keep = rng.random(len(X)) < 0.7 if trimmed else np.ones(len(X), bool)
    w = rng.integers(1, 4, size=len(X)).astype(float) if weighted else None
    got = closed_form(X, y, w, keep)
    np.testing.assert_allclose(got, refitted(X, y, w, keep), rtol=1e-8, atol=1e-10)
    # A test that could not fail would prove nothing: plain scores differ visibly.
    plain = brute.posterior(X, *brute.tied(X, y, w))
    assert np.abs(plain - got).max() > 1e-2


def test_a_sample_of_which_a_part_counts_is_left_out_in_part(blobs, refitted):
    X, y = blobs(sizes=(20, 15, 12), distance=1.0)
    w = np.random.default_rng(1).uniform(0.05, 2.5, size=len(X))
    np.testing.assert_allclose(closed_form(X, y, w), refitted(X, y, w), rtol=1e-8)


def test_a_sample_is_left_out_of_the_class_it_counted_to(blobs, refitted):
    X, y = blobs(sizes=(25, 18, 12), d=4, distance=1.0)
    rng = np.random.default_rng(1)
    counted_as = np.where(rng.random(len(y)) < 0.3, (y + 1) % 3, y)
    w = rng.uniform(0.1, 1.0, size=len(y))
    data = group_by_class(X, counted_as, 3, weights=w)
    g = from_moments(pooled_moments(data, [data.whole(c) for c in range(3)]))
    inside = Composition.from_rows(w, counted_as, 3)
    expected = refitted(X, counted_as, w)
    got = leave_one_out_scores(g, X, y, inside, posterior)
    np.testing.assert_allclose(got, expected, rtol=1e-8)
    # What is asked about is the label all the same.
    every = np.arange(len(y))
    of_label = leave_one_out_scores(g, X, y, inside, lambda s, c: softmax(s, 1)[range(len(c)), c])
    np.testing.assert_allclose(of_label, expected[every, y], rtol=1e-8)


def test_scores_use_the_priors_that_were_given(blobs, refitted):
    X, y = blobs(sizes=(20, 15), distance=1.0)
    priors = np.array([0.9, 0.1])
    expected = refitted(X, y, priors=priors)
    np.testing.assert_allclose(closed_form(X, y, priors=priors), expected, rtol=1e-8)


def test_the_only_sample_of_a_class_is_judged_plainly(blobs, brute):
    X, y = blobs(sizes=(20, 15), distance=1.0)
    X, y = np.vstack([X, [[1.0, 2.0, 3.0]]]), np.append(y, 2)
    plain = brute.posterior(X, *brute.tied(X, y))
    np.testing.assert_allclose(closed_form(X, y)[-1], plain[-1], rtol=1e-8)


def test_some_rows_have_the_scores_that_they_have_among_all(blobs):
    X, y = blobs(sizes=(BLOCK, 400, 300), distance=1.0)
    data = group_by_class(X, y, 3)
    subsets = [data.whole(c) for c in range(3)]
    g, inside = from_moments(pooled_moments(data, subsets)), Composition.from_subsets(data, subsets)
    scores = leave_one_out_scores(g, X, y, inside, all_scores)
    some = np.arange(5, len(X), 7)
    of_some = leave_one_out_scores(g, X[some], y[some], inside.take(some), all_scores)
    np.testing.assert_allclose(of_some, scores[some], rtol=1e-12)


def test_float32_scores_are_those_of_float64(blobs):
    X, y = blobs(sizes=(40, 40), distance=1.0)
    X = X.astype(np.float32)
    single, double = (closed_form(Z, y) for Z in (X, X.astype(float)))
    np.testing.assert_allclose(single, double, atol=1e-4)


@pytest.mark.parametrize("shrinkage", [0.1, 0.6, 0.9])
def test_with_shrinkage_only_the_estimated_share_is_left_out(blobs, brute, shrinkage):
    X, y = blobs(sizes=(80, 60, 60), d=60, distance=0.15)
    n, estimated = len(X), 1 - shrinkage
    data = group_by_class(X, y, 3)
    subsets = [data.whole(c) for c in range(3)]
    g = from_moments(pooled_moments(data, subsets), shrinkage=shrinkage)
    assert g.estimated == estimated
    got = leave_one_out_scores(g, X, y, Composition.from_subsets(data, subsets), posterior)
    # Refit without each sample, shrunk towards what the whole is shrunk towards.
    target = np.trace(brute.tied(X, y)[1]) / 60 * np.eye(60)
    expected, exact = [], []
    for i in range(n):
        means, S = brute.tied(X, y, np.arange(n) != i)
        shrunk = estimated * S + shrinkage * target
        expected.append(brute.posterior(X[i : i + 1], means, shrunk, None)[0])
        if i % 4 == 0:
            shrunk = (estimated * (n - 1) / n * S + shrinkage * target) / (1 - estimated / n)
            exact.append(brute.posterior(X[i : i + 1], means, shrunk, None)[0])
    np.testing.assert_allclose(got[::4], exact, rtol=1e-7, atol=1e-12)
    # All that differs is that dividing by n - 1 instead of n does not concern the target.
    assert np.abs(got - expected).max() < 0.01
    assert np.abs(g.posterior(X) - expected).max() > 0.3
