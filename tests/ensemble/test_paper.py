"""Section 3.3 of the paper: the nearer half of the held-out samples, weights by their NLL."""

import numpy as np
from scipy.optimize import minimize

from rehead.ensemble.alone import Weighting, fit_layers_alone
from rehead.ensemble.paper import nearest_half, paper_weights
from rehead.gaussian.options import resolve_options

MCD = resolve_options(None, "paper", {})


def fitted(problem, **kwargs):
    return fit_layers_alone(problem, MCD, Weighting(**kwargs), np.random.default_rng(0))


def test_the_nearer_half_is_by_the_distance_to_the_mean_of_the_label(two_layers, brute):
    X, codes = two_layers.held_out.layers["good"], two_layers.held_out.codes
    member = fitted(two_layers).members["good"]
    D = brute.distances(X, member.gaussians.means, member.gaussians.covariance)
    expected = brute.smallest(D[np.arange(101), codes], 51)
    np.testing.assert_array_equal(np.sort(nearest_half(member, X, codes)), expected)


def test_no_other_weights_make_the_nearer_half_likelier(two_layers):
    ensemble = fitted(two_layers)
    codes = two_layers.held_out.codes
    near = nearest_half(ensemble.members["good"], two_layers.held_out.layers["good"], codes)
    posteriors = ensemble.member_posteriors(two_layers.held_out.layers)
    p = np.stack([q[near, codes[near]] for q in posteriors], axis=1)

    def nll(a):
        return -np.log(p @ [a[0], 1 - a[0]]).mean()

    best = minimize(nll, [0.5], bounds=[(0, 1)])
    assert nll(ensemble.weights) <= best.fun + 1e-9
    assert ensemble.weights[1] > ensemble.weights[0]


def test_the_authors_hundred_steps_do_not_reach_the_optimum(two_layers):
    exact, theirs = fitted(two_layers), fitted(two_layers, rule="authors")
    assert theirs.weights.min() > exact.weights.min() + 0.05
    np.testing.assert_array_equal(
        theirs.weights, paper_weights(theirs, two_layers.held_out, authors=True)
    )
