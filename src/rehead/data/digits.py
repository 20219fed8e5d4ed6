"""The embedded data set: 1,797 handwritten digits of 8 x 8 pixels that scikit-learn carries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._typing import Array


class Split(NamedTuple):
    """Inputs, clean labels, and an id for each sample that stays the same in every split."""

    X: Array
    y: Array
    ids: Array


class Splits(NamedTuple):
    """A data set."""

    train: Split
    validation: Split
    test: Split
    class_names: list[str]


def load(name: str = "digits", *, random_state: Any = 0) -> Splits:
    """Load a data set by name.

    ``digits``: 1,347 training, 150 validation and 300 test images, drawn at random; pixels as
    float32 in [0, 1].

    Examples
    --------
    >>> from rehead import data
    >>> digits = data.load("digits")
    >>> digits.train.X.shape, digits.validation.X.shape, digits.test.X.shape
    ((1347, 64), (150, 64), (300, 64))
    """
    check.check_choice(name, ("digits",), "name")
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    X = (pixels / 16.0).astype(np.float32)
    y = labels.astype(np.int64)
    ids = check.generator_from(random_state).permutation(len(X))
    test, validation, train = (Split(X[i], y[i], i) for i in np.split(ids, [300, 450]))
    return Splits(train, validation, test, [str(c) for c in range(10)])
