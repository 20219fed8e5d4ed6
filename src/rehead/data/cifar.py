"""CIFAR-10 and CIFAR-100: small colour pictures of things and animals (Krizhevsky 2009)."""

from __future__ import annotations

import numpy as np

from rehead._typing import Array
from rehead.data.archive import read_tar, readable
from rehead.data.files import Remote
from rehead.data.mosaics import read_mosaics
from rehead.data.record import DataSet, Request
from rehead.data.splits import Labelled, Published, Splits, make_splits

PIXELS = 3 * 32 * 32
BATCHES = [f"data_batch_{i}" for i in range(1, 6)]
UNPACKED = 190_000_000
"""More than either archive unpacks to: 60,000 images of 3,072 bytes, and lists of names."""
HOME = "https://www.cs.toronto.edu/~kriz/"


def read_10(request: Request) -> Splits:
    """CIFAR-10 from mosaics or from the binary archive."""
    files = request.files
    mosaics = files.find_all(*(f"{b}.webp" for b in (*BATCHES, "test_batch")), "labels.npz")
    if mosaics is not None:
        with readable(mosaics[-1]), np.load(mosaics[-1], allow_pickle=False) as labels:
            y = {part: labels[part] for part in ("train", "test")}
            names = labels["names"].tolist()
        train = Labelled(
            read_mosaics(mosaics[:5], len(y["train"]), progress=files.progress), y["train"]
        )
        test = Labelled(
            read_mosaics(mosaics[5:6], len(y["test"]), progress=files.progress), y["test"]
        )
        return make_splits(Published(train, test), names, request.hold_out)
    path = files.get("cifar-10-binary.tar.gz")
    parts = [f"cifar-10-batches-bin/{b}.bin" for b in (*BATCHES, "test_batch")]
    meta = "cifar-10-batches-bin/batches.meta.txt"
    content = read_tar(path, [*parts, meta], most=UNPACKED)
    with readable(path):
        train = records(b"".join(content.pop(part) for part in parts[:5]), label_bytes=1)
        test = records(content[parts[5]], label_bytes=1)
    return make_splits(Published(train, test), content[meta].decode().split(), request.hold_out)


def read_100(request: Request) -> Splits:
    """CIFAR-100 with its fine labels, from the binary archive."""
    path = request.files.get("cifar-100-binary.tar.gz")
    parts = [f"cifar-100-binary/{part}" for part in ("train.bin", "test.bin")]
    names = "cifar-100-binary/fine_label_names.txt"
    content = read_tar(path, [*parts, names], most=UNPACKED)
    with readable(path):
        train, test = (records(content[part], label_bytes=2) for part in parts)
    return make_splits(Published(train, test), content[names].decode().split(), request.hold_out)


def records(content: bytes, *, label_bytes: int) -> Labelled:
    """Images and labels; the last label byte of a record is the one that counts."""
    length = label_bytes + PIXELS
    if not content or len(content) % length:
        raise ValueError(f"{len(content)} bytes are not a whole number of records of {length}.")
    rows: Array = np.frombuffer(content, np.uint8).reshape(-1, length)
    images = rows[:, label_bytes:].reshape(-1, 3, 32, 32)
    return Labelled(np.ascontiguousarray(images), rows[:, label_bytes - 1])


CIFAR10 = DataSet(
    "cifar10",
    "50,000 + 10,000 colour pictures, 32 x 32, 10 classes",
    read_10,
    "cifar10",
    (
        Remote(
            "cifar-10-binary.tar.gz",
            HOME + "cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            170_052_171,
        ),
    ),
)
CIFAR100 = DataSet(
    "cifar100",
    "50,000 + 10,000 colour pictures, 32 x 32, 100 classes",
    read_100,
    "cifar100",
    (
        Remote(
            "cifar-100-binary.tar.gz",
            HOME + "cifar-100-binary.tar.gz",
            "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
            168_513_733,
        ),
    ),
)
