"""10,000 training images of Tiny ImageNet at 32 x 32 pixels: 200 classes, or pictures of none."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.data.archive import readable
from rehead.data.files import DataMissingError, Files, places
from rehead.data.mosaics import read_mosaics
from rehead.data.record import DataSet, Request
from rehead.data.splits import Labelled, Published, Split, Splits, make_splits

FOLDER = "tinyimagenet32"
N_TEST = 2000


class _Content(NamedTuple):
    images: Array
    labels: Array
    names: list[str]
    cifar10_overlap: Array


def read(request: Request) -> Splits:
    """The last 2,000 images are the test part; classes alternate, so each has 10 of them."""
    content = _read(request.files)
    n = len(content.labels) - N_TEST
    train = Labelled(content.images[:n], content.labels[:n])
    test = Labelled(content.images[n:], content.labels[n:])
    return make_splits(Published(train, test), content.names, request.hold_out)


def outside_images(
    name: str = "cifar10",
    *,
    folder: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Split:
    """Natural images that belong to no class of a data set, for open-set noise.

    Parameters
    ----------
    name : str, default="cifar10"
        The data set whose classes are left out; only CIFAR-10 so far.
    folder, progress
        As for :func:`rehead.data.load`.

    Returns
    -------
    Split
        8,800 images of Tiny ImageNet, uint8 of shape (8800, 3, 32, 32), with their classes and ids
        there. 24 classes that are also CIFAR-10's, or close to them, were left out by hand.

    Examples
    --------
    >>> from rehead.data import outside_images
    >>> outside_images("cifar100")
    Traceback (most recent call last):
    ValueError: name must be one of ['cifar10'], got 'cifar100'. Did you mean 'cifar10'?
    """
    check.check_choice(name, ("cifar10",), "name")
    content = _read(Files(tuple(f / FOLDER for f in places(folder)), (), False, progress))
    rows = np.flatnonzero(~content.cifar10_overlap[content.labels])
    return Split(content.images[rows], content.labels[rows], rows)


def _read(files: Files) -> _Content:
    found = files.find_all("images.webp", "labels.npz")
    if found is None:
        looked = " or ".join(str(f) for f in files.folders)
        raise DataMissingError(
            f"There is no images.webp with labels.npz in {looked}, and this data set cannot be "
            "downloaded. docs/data-sets.md tells how to make the two files from Tiny ImageNet."
        )
    with readable(found[1]), np.load(found[1], allow_pickle=False) as file:
        labels = file["labels"].astype(np.int64)
        names, overlap = file["names"].tolist(), file["cifar10_overlap"]
    images = read_mosaics(found[:1], len(labels), progress=files.progress)
    return _Content(images, labels, names, overlap)


TINYIMAGENET32 = DataSet(
    "tinyimagenet32",
    "8,000 + 2,000 photographs, 32 x 32, 200 classes; no download",
    read,
    FOLDER,
)
