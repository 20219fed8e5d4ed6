"""ImageNet at 32 x 32 pixels, from its zip files."""

import io

import numpy as np
import pytest

from rehead.data import DataFileError

from .miniatures import check_images, imagenet, zip_of


def test_imagenet32_counts_classes_from_0(publish, tmp_path):
    load = publish("imagenet32", *(zip_of(part) for part in imagenet()))
    splits = load()
    check_images(splits, np.arange(1, 21) * 50 - 1, [0, 1, 2, 998, 999])
    assert splits.class_names[:2] == ["1", "2"]
    (tmp_path / "imagenet32" / "map_clsloc.txt").write_text("n02119789 1 kit_fox\nn1 1000 toad\n")
    assert load().class_names[::999] == ["kit_fox", "toad"]


def test_nothing_is_unpickled(publish):
    train, test = imagenet()
    objects = np.array([{"a": 1}], dtype=object)
    buffer = io.BytesIO()
    np.savez(buffer, data=objects, labels=objects)
    first = next(iter(train))
    load = publish("imagenet32", zip_of({**train, first: buffer.getvalue()}), zip_of(test))
    with pytest.raises(DataFileError, match=r"Imagenet32_train_npz.zip cannot be read"):
        load()
