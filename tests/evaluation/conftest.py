"""Layers of which the later one tells more, with noisy labels."""

import numpy as np
import pytest

from rehead import noise


@pytest.fixture(scope="session")
def task():
    """Training, held-out and test samples: layers and labels, those of the test right."""
    rng = np.random.default_rng(0)
    y = np.arange(900) % 3
    layers = {
        "early": rng.normal(size=(900, 4)) + 1.2 * np.eye(3, 4)[y],
        "late": rng.normal(size=(900, 3)) + 2.2 * np.eye(3)[y],
    }
    noisy = noise.uniform(y, 0.2, random_state=0).labels

    def part(a, b, labels):
        return {name: X[a:b] for name, X in layers.items()}, labels[a:b]

    return part(0, 400, noisy), part(400, 600, noisy), part(600, 900, y)
