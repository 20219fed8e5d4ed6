"""Layers that are each estimated alone: which members there are, and their draws."""

import numpy as np
import pytest

from rehead.ensemble.alone import Weighting, fit_layers_alone
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


def test_the_penultimate_layer_is_the_last_one_or_the_named_one(problem):
    assert fitted(problem).density_member == "good"
    assert fitted(problem, penultimate="poor").density_member == "poor"
    stacked = fitted(problem, stack=True, penultimate="poor")
    assert (stacked.density_member, stacked.names, stacked.stacked) == (
        "stack",
        ["stack"],
        ["poor", "good"],
    )


def test_equal_weights_look_at_no_label(problem):
    np.testing.assert_array_equal(fitted(problem, rule="equal").weights, [0.5, 0.5])


def test_the_draws_of_a_layer_depend_on_its_place_only(problem):
    both, first = (
        fitted(problem),
        fitted(
            problem.__class__({"poor": problem.layers["poor"]}, {}, problem.codes, problem.classes)
        ),
    )
    np.testing.assert_array_equal(
        both.members["poor"].gaussians.means, first.members["poor"].gaussians.means
    )
