"""CIFAR-10 and CIFAR-100 from their binary archives."""

import numpy as np

from .miniatures import TEST, TRAIN, check_images, cifar10, rows, tar_of


def test_cifar10(publish):
    load = publish("cifar10", tar_of(cifar10()))
    splits = load()
    check_images(splits, np.arange(20) % 10, np.arange(5))
    assert splits.class_names == list("abcdefghij")
    assert len(load(validation=10).validation.y) == 10


def test_cifar100_takes_the_fine_labels(publish):
    fine = (7 * np.arange(20)) % 100
    members = {
        "cifar-100-binary/train.bin": rows(TRAIN, np.zeros(20), fine),
        "cifar-100-binary/test.bin": rows(TEST, np.ones(5), fine[:5]),
        "cifar-100-binary/fine_label_names.txt": "\n".join(map(str, range(100))).encode(),
    }
    splits = publish("cifar100", tar_of(members))()
    check_images(splits, fine, fine[:5])
    assert len(splits.class_names) == 100
