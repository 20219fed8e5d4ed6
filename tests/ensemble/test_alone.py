"""Layers that are each estimated alone: which members there are, and their draws."""

import numpy as np

from rehead.ensemble.alone import Weighting, fit_layers_alone
from rehead.gaussian.options import resolve_options

MCD = resolve_options(None, "paper", {})


def fitted(problem, **kwargs):
    return fit_layers_alone(problem, MCD, Weighting(**kwargs), np.random.default_rng(0))


def test_the_penultimate_layer_is_the_last_one_or_the_named_one(two_layers):
    assert fitted(two_layers).density_member == "good"
    assert fitted(two_layers, penultimate="poor").density_member == "poor"
    stacked = fitted(two_layers, stack=True, penultimate="poor")
    assert (stacked.density_member, stacked.names, stacked.stacked) == (
        "stack",
        ["stack"],
        ["poor", "good"],
    )


def test_equal_weights_look_at_no_label(two_layers):
    np.testing.assert_array_equal(fitted(two_layers, rule="equal").weights, [0.5, 0.5])


def test_the_draws_of_a_layer_depend_on_its_place_only(two_layers):
    both, first = (
        fitted(two_layers),
        fitted(
            two_layers.__class__(
                {"poor": two_layers.layers["poor"]}, {}, two_layers.codes, two_layers.classes
            )
        ),
    )
    np.testing.assert_array_equal(
        both.members["poor"].gaussians.means, first.members["poor"].gaussians.means
    )
