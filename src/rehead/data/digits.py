"""The embedded data set: 1,797 handwritten digits of 8 x 8 pixels that scikit-learn carries.

``digits32`` are the same digits as pictures of 32 x 32, for networks that take pictures.
"""

from __future__ import annotations

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.data.record import DataSet, Request
from rehead.data.splits import Split, Splits, held_out_count

N_TEST = 300
SIDE = 8
N_OUTSIDE = 1200


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


def read_pictures(request: Request) -> Splits:
    """The same parts, as pictures."""
    splits = read(request)
    train, validation, test = (split._replace(X=_enlarged(split.X)) for split in splits[:3])
    return splits._replace(train=train, validation=validation, test=test)


def _enlarged(X: Array) -> Array:
    """Pixels in [0, 1] as grey pictures of three colours, uint8, each pixel four times as wide."""
    small = np.round(255 * X.reshape(-1, 1, SIDE, SIDE)).astype(np.uint8)
    return np.repeat(small.repeat(4, axis=2).repeat(4, axis=3), 3, axis=1)


def scribbles() -> Split:
    """Generated pictures that are no digits: random walks with a pen, always the same ones."""
    rng = np.random.default_rng(32)
    X = np.zeros((N_OUTSIDE, SIDE, SIDE), np.float32)
    rows = np.arange(N_OUTSIDE)
    place = rng.integers(SIDE, size=(N_OUTSIDE, 2))
    for _ in range(24):
        X[rows, place[:, 0], place[:, 1]] = rng.uniform(0.5, 1.0, N_OUTSIDE)
        place = np.clip(place + rng.integers(-1, 2, size=(N_OUTSIDE, 2)), 0, SIDE - 1)
    return Split(_enlarged(X), np.zeros(N_OUTSIDE, np.int64), rows)


DIGITS32 = DataSet("digits32", "the same digits as pictures of 32 x 32; no download", read_pictures)
DIGITS = DataSet("digits", "1,797 handwritten digits, 8 x 8 pixels; no download", read)
