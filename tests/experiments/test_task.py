"""Tasks of ways to predict."""

import numpy as np

from rehead.experiments.task import Part, Prediction, Task


def test_the_first_and_the_last_layer():
    """All layers go from the input to the output; taps are some of them."""
    layers = {"input": np.eye(4), "early": np.eye(4), "late": np.eye(4), "last": np.eye(4)}
    part = Part(layers, np.arange(4))
    changed = np.array([True, False, False, False])
    task = Task(part, part, part, np.arange(4), changed, ("late", "last"), ("input", "last"), 4)
    assert (task.first, task.last) == ("input", "last")
    assert task.noise_rate == 0.25
    assert part.outputs is None


def test_two_tasks_are_different_even_with_the_same_values():
    """Fits are kept by task; comparing arrays would be slow, and ambiguous."""
    part = Part({"last": np.eye(2)}, np.arange(2))
    a, b = (
        Task(part, part, part, np.arange(2), np.zeros(2, bool), ("last",), ("last",), 2)
        for _ in range(2)
    )
    assert a != b
    assert len({a, b}) == 2


def test_a_prediction_may_be_labels_alone():
    found = Prediction(np.arange(3))
    assert found.quality is found.noise_rate is found.details is None
