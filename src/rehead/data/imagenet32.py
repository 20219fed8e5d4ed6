"""ImageNet at 32 x 32 pixels (Chrabaszcz et al. 2017)."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from rehead._typing import Array
from rehead.data.archive import LARGEST, check_sizes, read_zip, readable
from rehead.data.files import Files, Remote
from rehead.data.record import DataSet, Request
from rehead.data.splits import Labelled, Published, Splits, make_splits

HOME = "https://image-net.org/data/downsample/"
NOTE = "ImageNet may ask for an account: log in at https://image-net.org first. "
N_CLASSES = 1000
UNPACKED = 4_200_000_000
"""More than either archive unpacks to: 1,281,167 images of 3,072 bytes."""


def read(request: Request) -> Splits:
    """The official validation images are the test part, as is the custom for ImageNet."""
    train_zip, test_zip = (request.files.get(remote.name) for remote in request.files.remotes)
    train = read_npz(train_zip, [f"train_data_batch_{i}.npz" for i in range(1, 11)])
    test = read_npz(test_zip, ["val_data.npz"])
    return make_splits(Published(train, test), class_names(request.files), request.hold_out)


def read_npz(path: Path, names: list[str]) -> Labelled:
    """Images and labels of the parts of one zip file."""
    images: list[Array] = []
    labels: list[Array] = []
    for content in read_zip(path, names, most=UNPACKED):
        with readable(path), np.load(io.BytesIO(content), allow_pickle=False) as part:
            check_sizes(path, part.zip, most=LARGEST)
            images.append(part["data"].reshape(-1, 3, 32, 32))
            # The files count classes from 1.
            labels.append(part["labels"].astype(np.int64).ravel() - 1)
    return Labelled(np.concatenate(images), np.concatenate(labels))


def class_names(files: Files) -> list[str]:
    """Names from ``map_clsloc.txt`` (WordNet id, number and name per line) if it is there."""
    listing = files.find("map_clsloc.txt")
    names = [str(c) for c in range(1, N_CLASSES + 1)]
    if listing is not None:
        with readable(listing):
            for line in listing.read_text("utf-8").splitlines():
                _, number, name = line.split(maxsplit=2)
                names[int(number) - 1] = name.strip()
    return names


IMAGENET32 = DataSet(
    "imagenet32",
    "1,281,167 + 50,000 photographs, 32 x 32, 1,000 classes; 3.7 GB, may need an account",
    read,
    "imagenet32",
    (
        Remote(
            "Imagenet32_train_npz.zip",
            HOME + "Imagenet32_train_npz.zip",
            "94226337ecc1b0309d9fcd0167127aaadc931587035fbcb53925235edbaec4fc",
            3_580_435_279,
            NOTE,
        ),
        Remote(
            "Imagenet32_val_npz.zip",
            HOME + "Imagenet32_val_npz.zip",
            "013990e6dec1237dcd1f9beadbab81ead6604cc119af5cacbfb59ae28148377a",
            139_697_668,
            NOTE,
        ),
    ),
)
