"""Features in an array and in a store, and every part of the work sent away."""

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.test_out_of_core import write_store

ROOT = str(Path(__file__).parents[2])


@pytest.fixture(scope="module", autouse=True)
def new_processes_find_the_tests():
    sys.path.append(ROOT)
    yield
    sys.path.remove(ROOT)


def noisy(n, d, n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(n_classes, d))[y]
    X[-40:], y[-40:] = X[:40], y[:40]  # rows that are repeated
    given = np.where(rng.random(n) < 0.2, rng.integers(n_classes, size=n), y)
    given[-40:] = given[:40]
    return X.astype("f2"), given


@pytest.fixture(scope="package")
def features():
    return noisy(2600, 9, 70)  # more classes than batches


@pytest.fixture(scope="package")
def few():
    return noisy(1500, 4, 3)


@pytest.fixture(scope="package")
def features_on_disk(features, tmp_path_factory):
    X, y = features
    return write_store(tmp_path_factory.mktemp("scale") / "s", {"a": X}, y).rows("a")


@pytest.fixture(scope="package")
def few_on_disk(few, tmp_path_factory):
    X, y = few
    return write_store(tmp_path_factory.mktemp("scale") / "s", {"a": X}, y).rows("a")


@pytest.fixture(autouse=True)
def everything_is_worth_it(monkeypatch):
    monkeypatch.setattr("rehead.gaussian.tasks.WORTH_SENDING", 0.0)
    monkeypatch.setattr("rehead.gaussian.threads.WORTH_IT", 0.0)
