"""The embedded data set: 1,797 handwritten digits of 8 x 8 pixels that scikit-learn carries."""

from __future__ import annotations

import numpy as np

from rehead import _validation as check
from rehead.data.record import DataSet, Request
from rehead.data.splits import Split, Splits, held_out_count

N_TEST = 300


def read(request: Request) -> Splits:
    """All parts are drawn at random; there is no published division. Pixels are in [0, 1]."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    X = (pixels / 16.0).astype(np.float32)
    y = labels.astype(np.int64)
    ids = check.generator_from(request.random_state).permutation(len(X))
    asked = 150 if request.validation is None else request.validation
    n = held_out_count(asked, len(X) - N_TEST)
    test, validation, train = (Split(X[i], y[i], i) for i in np.split(ids, [N_TEST, N_TEST + n]))
    return Splits(train, validation, test, [str(c) for c in range(10)])


DIGITS = DataSet("digits", "1,797 handwritten digits, 8 x 8 pixels; no download", read)
