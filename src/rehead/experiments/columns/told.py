"""The default when it is told something: a machine made the labels, or these ones are right."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from rehead.experiments.columns.gaussian import Column, default_inputs, fit_default_on
from rehead.experiments.task import Prediction, Task
from rehead.gaussian.options import MACHINE


def machine_labels(task: Task) -> Prediction:
    """The default for labels that another classifier made."""
    model = fit_default_on(task, task.auto, labels_from=MACHINE)
    return Prediction(model.predict(default_inputs(task.auto, task.test)))


def checked_labels(n: int) -> Column:
    """The default with ``n`` labels that were checked, drawn at random."""

    def predict(task: Task) -> Prediction:
        # Another task, or another seed of it, has other labels, and others of them are checked.
        mark = crc32(np.asarray(task.train.y, np.int64).tobytes())
        rows = np.random.default_rng([n, mark]).permutation(len(task.truth))[:n]
        trusted = np.zeros(len(task.truth), bool)
        trusted[rows] = True
        model = fit_default_on(task, task.auto, trusted=trusted)
        return Prediction(model.predict(default_inputs(task.auto, task.test)))

    return predict


MACHINE_LABELS, CHECKED = "auto, machine labels", {n: f"auto, {n} checked" for n in (100, 500)}
TOLD: dict[str, Column] = {
    MACHINE_LABELS: machine_labels,
    **{name: checked_labels(n) for n, name in CHECKED.items()},
}
"""Measured under semantic noise, which nothing in labels and features tells from the truth."""
