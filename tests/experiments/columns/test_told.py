"""What the default makes of what it is told."""

from dataclasses import replace

import numpy as np
import pytest

from rehead.experiments.columns import told
from rehead.experiments.columns.gaussian import default_inputs, fit_default_on
from rehead.experiments.task import Part, Task


@pytest.fixture(scope="module")
def task():
    """Three classes, of which a machine takes half of one for another."""
    rng = np.random.default_rng(0)
    means = 4 * rng.normal(size=(3, 5))

    def part(n, noisy):
        truth = np.arange(n) % 3
        X = rng.normal(size=(n, 5)) + means[truth]
        wrong = (truth == 0) & (X[:, 0] > means[0, 0] + 0.3)
        return Part({"features": X}, np.where(wrong & noisy, 1, truth)), truth

    (train, truth), (validation, _), (test, _) = part(600, True), part(150, True), part(300, False)
    changed = train.y != truth
    return Task(train, validation, test, truth, changed, ("features",), ("features",), 3)


def accuracy(task, column):
    return (told.TOLD[column](task).labels == task.test.y).mean()


def test_told_that_a_machine_made_the_labels_it_does_not_follow_its_errors(task):
    plain = fit_default_on(task, task.auto).predict(default_inputs(task.auto, task.test))
    without = (plain == task.test.y).mean()
    assert accuracy(task, told.MACHINE_LABELS) > without + 0.02


def test_checked_labels_have_the_truth_and_are_the_same_each_time(task, monkeypatch):
    seen = []
    model = fit_default_on(task, task.auto)

    def fit(task, layers, *, trusted):
        seen.append(trusted)
        return model

    monkeypatch.setattr(told, "fit_default_on", fit)
    for column in told.CHECKED.values():
        told.TOLD[column](task)
        told.TOLD[column](task)
    assert [mask.sum() for mask in seen] == [100, 100, 500, 500]
    assert (seen[0] == seen[1]).all()
    assert (seen[2] == seen[3]).all()


def test_tasks_with_other_labels_have_others_checked(task, monkeypatch):
    seen = []
    model = fit_default_on(task, task.auto)

    def fit(task, layers, *, trusted):
        seen.append(trusted)
        return model

    monkeypatch.setattr(told, "fit_default_on", fit)
    y = task.train.y.copy()
    y[0] = (y[0] + 1) % 3
    for labels in (task.train.y, task.train.y.astype(np.int32), y):
        told.TOLD[told.CHECKED[100]](replace(task, train=replace(task.train, y=labels)))
    assert (seen[0] == seen[1]).all()
    assert (seen[0] != seen[2]).any()


def test_the_labels_of_trusted_rows_are_put_right(task):
    trusted = np.ones(len(task.truth), bool)
    right_ones = replace(task, validation=task.test)
    model = fit_default_on(right_ones, task.auto, trusted=trusted)
    right = model.predict(default_inputs(task.auto, task.test)) == task.test.y
    assert right.mean() > 0.97
