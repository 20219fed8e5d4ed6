"""Each specialist is the ensemble, or the classifier, with the options of its name."""

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier
from rehead.experiments.columns.specialists import SPECIALISTS
from rehead.experiments.task import Part, Task

EQUAL = {"weights": "equal"}
OPTIONS = {
    "LDA shrunk, equal": {"estimator": "sample", "shrinkage": "auto", **EQUAL},
    "posterior": {"estimator": "posterior", "shrinkage": "auto", **EQUAL},
    "agreement": {"estimator": "agreement", "shrinkage": "auto", **EQUAL},
    "mixture": {"estimator": "mixture", **EQUAL},
    "anchored": {"estimator": "anchored", **EQUAL},
    "anchored, stacked": {"estimator": "anchored", "stack": True},
}


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 3
    changed = rng.random(400) < 0.3
    noisy = np.where(changed, (y + 1) % 3, y)
    means = rng.normal(size=(3, 4))
    layers = {"early": rng.normal(size=(400, 4)) + means[y]}
    layers["late"] = rng.normal(size=(400, 3)) + 2 * np.eye(3)[noisy]

    def part(rows, labels):
        return Part({name: a[rows] for name, a in layers.items()}, labels[rows])

    rows = np.split(np.arange(400), [240, 300])
    parts = part(rows[0], noisy), part(rows[1], noisy), part(rows[2], y)
    names = tuple(layers)
    return Task(*parts, y[rows[0]], changed[rows[0]], names, names, 3)


@pytest.mark.parametrize("name", OPTIONS)
def test_ensembles(task, name):
    model = LayerEnsemble(random_state=0, **OPTIONS[name])
    held_out = task.validation.layers, task.validation.y
    model.fit(task.train.layers, task.train.y, validation=held_out)
    found = SPECIALISTS[name](task)
    np.testing.assert_array_equal(found.labels, model.predict(task.test.layers))
    assert found.details["weights"] == dict(zip(model.members_, model.weights_, strict=True))


def test_the_first_layer_alone(task):
    model = RobustGaussianClassifier("anchored", random_state=0)
    model.fit(task.train.layers["early"], task.train.y)
    found = SPECIALISTS["anchored, first"](task).labels
    np.testing.assert_array_equal(found, model.predict(task.test.layers["early"]))


def test_all_are_tested():
    assert set(SPECIALISTS) == {*OPTIONS, "anchored, first"}
