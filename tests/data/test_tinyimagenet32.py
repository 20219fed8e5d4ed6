"""Tiny ImageNet, and its images that belong to no class of CIFAR-10."""

from functools import partial

import numpy as np
import pytest
from PIL import features

from rehead import data

from .miniatures import TILES, write_mosaic


@pytest.mark.skipif(not features.check("webp"), reason="Pillow without WebP")
def test_outside_images_leave_out_overlapping_classes(tmp_path):
    (tmp_path / "tinyimagenet32").mkdir()
    write_mosaic(tmp_path / "tinyimagenet32" / "images.webp")
    np.savez(
        tmp_path / "tinyimagenet32" / "labels.npz",
        labels=np.array([0, 1, 2, 0, 1, 2], np.uint8),
        names=np.array(["goose", "frog", "goat"]),
        cifar10_overlap=np.array([False, True, False]),
    )
    outside = data.outside_images("cifar10", folder=tmp_path)
    np.testing.assert_array_equal(outside.ids, [0, 2, 3, 5])
    np.testing.assert_array_equal(outside.y, [0, 2, 0, 2])
    np.testing.assert_array_equal(outside.X, TILES[[0, 2, 3, 5]])


def test_what_cannot_be_downloaded_says_so(tmp_path):
    for missing in (partial(data.load, "tinyimagenet32"), data.outside_images):
        with pytest.raises(FileNotFoundError, match=r"cannot be downloaded.*docs/data-sets\.md"):
            missing(folder=tmp_path)
