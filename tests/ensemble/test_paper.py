"""Section 3.3 of the paper: the nearer half of the held-out samples, weights by their NLL."""

import numpy as np
import pytest
from scipy.optimize import minimize

from rehead.ensemble.alone import Weighting, fit_layers_alone
from rehead.ensemble.paper import nearest_half, paper_weights
from rehead.ensemble.problem import HeldOut, Problem
from rehead.gaussian.options import resolve_options

MCD = resolve_options(None, "paper", {})


@pytest.fixture
def problem():
    """A poor and a good layer, three classes, one label in five wrong, 101 samples held out."""
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=401)
    y = np.where(rng.random(401) < 0.2, (true + 1) % 3, true)
    means = 3 * rng.normal(size=(3, 4))
    layers = {"poor": 2 * rng.normal(size=(401, 4)) + means[true]}
    layers["good"] = rng.normal(size=(401, 4)) + means[true]
    train, held = ({n: X[p] for n, X in layers.items()} for p in (slice(300), slice(300, None)))
    return Problem(train, {}, y[:300], np.arange(3), HeldOut(held, y[300:]))


def fitted(problem, **kwargs):
    return fit_layers_alone(problem, MCD, Weighting(**kwargs), np.random.default_rng(0))


def test_the_nearer_half_is_by_the_distance_to_the_mean_of_the_label(problem, brute):
    X, codes = problem.held_out.layers["good"], problem.held_out.codes
    member = fitted(problem).members["good"]
    D = brute.distances(X, member.gaussians.means, member.gaussians.covariance)
    expected = brute.smallest(D[np.arange(101), codes], 51)
    np.testing.assert_array_equal(np.sort(nearest_half(member, X, codes)), expected)


def test_no_other_weights_make_the_nearer_half_likelier(problem):
    ensemble = fitted(problem)
    codes = problem.held_out.codes
    near = nearest_half(ensemble.members["good"], problem.held_out.layers["good"], codes)
    posteriors = ensemble.member_posteriors(problem.held_out.layers)
    p = np.stack([q[near, codes[near]] for q in posteriors], axis=1)

    def nll(a):
        return -np.log(p @ [a[0], 1 - a[0]]).mean()

    best = minimize(nll, [0.5], bounds=[(0, 1)])
    assert nll(ensemble.weights) <= best.fun + 1e-9
    assert ensemble.weights[1] > ensemble.weights[0]


def test_the_authors_hundred_steps_do_not_reach_the_optimum(problem):
    exact, theirs = fitted(problem), fitted(problem, rule="authors")
    assert theirs.weights.min() > exact.weights.min() + 0.05
    np.testing.assert_array_equal(
        theirs.weights, paper_weights(theirs, problem.held_out, authors=True)
    )
