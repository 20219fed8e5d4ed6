"""A small problem for layers that are estimated alone."""

import numpy as np
import pytest

from rehead.ensemble.problem import HeldOut, Problem


@pytest.fixture
def two_layers():
    """A poor and a good layer, three classes, one label in five wrong, 101 samples held out."""
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=401)
    y = np.where(rng.random(401) < 0.2, (true + 1) % 3, true)
    means = 3 * rng.normal(size=(3, 4))
    layers = {"poor": 2 * rng.normal(size=(401, 4)) + means[true]}
    layers["good"] = rng.normal(size=(401, 4)) + means[true]
    train, held = ({n: X[p] for n, X in layers.items()} for p in (slice(300), slice(300, None)))
    return Problem(train, {}, y[:300], np.arange(3), HeldOut(held, y[300:]))
