"""What all estimators have in common."""

import dataclasses

import numpy as np
import pytest

from rehead.gaussian import ESTIMATORS, Options, estimate, group_by_class
from rehead.gaussian.options import OPTIONS, USAGE

NAMES = [name for name in ESTIMATORS if name != "auto"]


@pytest.fixture
def case(blobs):
    """Noisy labels, and weights of which some are 0."""
    X, y = blobs(sizes=(60, 50, 40), distance=2.0)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(y)) < 0.2, (y + 1) % 3, y)
    return X, noisy, rng.choice([0.0, 0.5, 1.0, 2.0], size=len(y))


def fit(name, X, y, weights=None, **options):
    data = group_by_class(X, y, 3, weights=weights)
    options = dataclasses.replace(USAGE[name].defaults, **options)
    return estimate(name, data, options, np.random.default_rng(0))


def test_every_estimator_has_its_options():
    assert ESTIMATORS.keys() == USAGE.keys()


class Watched(Options):
    """Options that remember which of them were read."""

    def __getattribute__(self, name):
        if name in OPTIONS:
            super().__getattribute__("__dict__").setdefault("read", set()).add(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_reads_the_options_it_is_said_to_use_and_no_others(case, name):
    X, y, _ = case
    options = Watched(**{o: getattr(USAGE[name].defaults, o) for o in OPTIONS})
    options.__dict__["read"] = set()
    estimate(name, group_by_class(X, y, 3), options, np.random.default_rng(0))
    # Features are mapped before it sees them.
    assert options.__dict__["read"] == USAGE[name].options - {"feature_map"}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "mixture"])
def test_the_gaussians_are_those_of_their_composition(case, brute, name, weighted):
    X, y, w = case
    found = fit(name, X, y, w if weighted else None, shrinkage=0.2)
    weights, counted_as, totals, _ = found.composition
    assert (weights <= (w if weighted else 1.0)).all()
    np.testing.assert_allclose(totals, np.bincount(counted_as, weights=weights))
    means, S = brute.tied(X, counted_as, weights)
    np.testing.assert_allclose(found.gaussians.means, means, rtol=1e-9)
    if found.gaussians.fixed:
        S = np.eye(3)
    shrunk = 0.8 * S + 0.2 * np.trace(S) / 3 * np.eye(3)
    np.testing.assert_allclose(found.gaussians.covariance, shrunk, rtol=1e-9, atol=1e-12)
    assert found.n_iter.shape == (3,)


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_weight_zero_might_as_well_not_be_there(case, name):
    X, y, w = case
    full = fit(name, X, y, w, max_steps=2)
    some = w > 0
    part = fit(name, X[some], y[some], w[some], max_steps=2)
    np.testing.assert_allclose(full.gaussians.means, part.gaussians.means, rtol=1e-6)
    np.testing.assert_allclose(full.composition.weights[some], part.composition.weights, atol=1e-6)
    assert (full.composition.weights[~some] == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_features_are_not_changed(case, name):
    X, y, w = case
    before = X.copy()
    fit(name, X, y, w)
    np.testing.assert_array_equal(X, before)
