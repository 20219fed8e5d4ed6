"""Two tables that scikit-learn carries: wine by its grower, tumours by their kind."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.data.record import DataSet, Request
from rehead.data.splits import (
    Labelled,
    Published,
    Splits,
    class_counts,
    draw,
    generator,
    make_splits,
)

STREAM = 0x7AB1
"""Keeps the draw of test samples apart from that of validation samples with the same seed."""
TESTED = 0.3
"""Share of the samples that is the test part; there is no published division."""
HELD_OUT = 0.1
"""Share of the training part that is held out unless another number is asked for."""


def read(request: Request, *, name: str) -> Splits:
    """The columns as they are, in units of their own; all parts have the classes in proportion."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    X, y = found.data.astype(np.float32), found.target.astype(np.int64)
    tested = drawn(y, request.random_state)
    parts = Published(*(Labelled(X[rows], y[rows]) for rows in (~tested, tested)))
    hold_out = request.hold_out._replace(default=round(HELD_OUT * len(parts.train.y)))
    return make_splits(parts, [str(c) for c in found.target_names], hold_out)


def drawn(y: Array, random_state: Any) -> Array:
    """Boolean mask of the test samples."""
    wanted = class_counts(y, int(y.max()) + 1, round(TESTED * len(y)))
    return draw(y, wanted, generator(random_state, STREAM))


WINE = DataSet(
    "wine",
    "178 wines of 3 growers, 13 measurements; no download",
    partial(read, name="wine"),
)
BREAST_CANCER = DataSet(
    "breast_cancer",
    "569 tumours, malignant or benign, 30 measurements; no download",
    partial(read, name="breast_cancer"),
)
