"""Posteriors of samples by models that did not see them."""

import warnings

import numpy as np
import pytest

from rehead.experiments.columns import folds
from rehead.experiments.columns.classic import lda_shrunk, logistic
from rehead.experiments.columns.folds import out_of_sample, self_confidence
from rehead.experiments.task import Part, Task


@pytest.fixture
def make_task(blobs):
    """Two layers; labels may be taken away, or given another number."""

    def make(change=lambda y: y):
        X, y = blobs((40, 40, 40), d=4, distance=1.0)
        layers = {"early": X[:, :1], "late": X}
        part = Part(layers, change(y))
        names = tuple(layers)
        return Task(part, part, part, y, part.y != y, names, names, 3)

    return make


def test_posteriors_are_of_models_that_did_not_see_the_row(make_task):
    task = make_task()
    X, y = task.train.layers["late"], task.train.y
    found = out_of_sample(task, lda_shrunk, ("late",))
    for rows, held_out in folds.FOLDS.split(X, y):
        expected = lda_shrunk().fit(X[rows], y[rows]).predict_proba(X[held_out])
        np.testing.assert_allclose(found[held_out], expected)


def test_several_layers_are_side_by_side(make_task):
    task = make_task()
    both = Part({"joined": np.hstack(list(task.train.layers.values()))}, task.train.y)
    joined = Task(both, both, both, task.truth, task.changed, ("joined",), ("joined",), 3)
    np.testing.assert_array_equal(
        out_of_sample(task, lda_shrunk, ("early", "late")),
        out_of_sample(joined, lda_shrunk, ("joined",)),
    )


@pytest.mark.parametrize("change", [lambda y: y, lambda y: np.where(y == 1, 2, y)])
def test_confidence_in_the_own_label_also_where_a_class_has_none(make_task, change):
    task = make_task(change)
    found = self_confidence(task, logistic, "late")
    columns = {c: i for i, c in enumerate(np.unique(task.train.y))}
    posterior = out_of_sample(task, logistic, ("late",))
    expected = [posterior[i, columns[y]] for i, y in enumerate(task.train.y)]
    np.testing.assert_array_equal(found, expected)
    assert (found > 0.5).mean() > 0.5


def test_a_class_smaller_than_the_folds_is_no_news(make_task):
    task = make_task(lambda y: np.where((y == 1) & (np.cumsum(y == 1) > 3), 2, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert out_of_sample(task, lda_shrunk, ("late",)).shape == (120, 3)
