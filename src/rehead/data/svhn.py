"""Street View House Numbers, cropped digits (Netzer et al. 2011)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rehead.data.archive import readable
from rehead.data.files import DataFileError, Remote
from rehead.data.record import DataSet, Request
from rehead.data.splits import Labelled, Published, Splits, make_splits

HOME = "http://ufldl.stanford.edu/housenumbers/"


def read(request: Request) -> Splits:
    """The train and test files; the large "extra" file is not used, as in the paper."""
    train, test = (read_mat(request.files.get(remote.name)) for remote in request.files.remotes)
    return make_splits(Published(train, test), [str(c) for c in range(10)], request.hold_out)


def read_mat(path: Path) -> Labelled:
    """Images and digits of one MATLAB file."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    with readable(path):
        try:
            content = loadmat(path, variable_names=["X", "y"])
        except (MatReadError, NotImplementedError) as error:
            raise ValueError(str(error)) from error
        X, y = content["X"], content["y"].ravel()
        if X.dtype != np.uint8 or X.shape != (32, 32, 3, len(y)):
            raise DataFileError(f"{path} has no images of 32 x 32 x 3 bytes: {X.dtype} {X.shape}.")
    # The file calls the digit 0 class 10.
    return Labelled(np.ascontiguousarray(X.transpose(3, 2, 0, 1)), y.astype(np.int64) % 10)


SVHN = DataSet(
    "svhn",
    "73,257 + 26,032 digits of house numbers, 32 x 32, 10 classes",
    read,
    "svhn",
    (
        Remote(
            "train_32x32.mat",
            HOME + "train_32x32.mat",
            "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
            182_040_794,
        ),
        Remote(
            "test_32x32.mat",
            HOME + "test_32x32.mat",
            "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
            64_275_384,
        ),
    ),
)
