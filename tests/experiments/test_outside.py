"""Inputs from elsewhere, by name."""

import numpy as np
import pytest
from PIL import Image

from rehead import data
from rehead.experiments.outside import outside_inputs

IMAGES = np.zeros((4, 3, 8, 6), np.uint8)
VECTORS = np.zeros((4, 5), np.float32)


def test_the_package_knows_what_lies_outside_of_cifar10(monkeypatch):
    monkeypatch.setattr(data, "outside_images", lambda name: data.Split(name, None, None))
    for sources in ((), ["tinyimagenet32"], ["Tiny-ImageNet 32"]):
        assert outside_inputs(sources, "cifar10", IMAGES) == ["cifar10"]
    with pytest.raises(ValueError, match="do not lie outside"):
        outside_inputs(["CIFAR-10"], "cifar10", IMAGES)


def test_data_sets_by_name(monkeypatch):
    digits = data.load("digits")
    monkeypatch.setattr(data, "load", lambda name, **_: digits if name == "cifar100" else None)
    (found,) = outside_inputs(["CIFAR-100"], "cifar10", IMAGES)
    assert found is digits.train.X
    with pytest.raises(ValueError, match="Did you mean 'cifar100'"):
        outside_inputs(["cifar1000"], "cifar10", IMAGES)


def test_folders_and_files(tmp_path):
    (tmp_path / "photos" / "beach").mkdir(parents=True)
    Image.new("RGB", (40, 30), (7, 8, 9)).save(tmp_path / "photos" / "beach" / "a.png")
    np.save(tmp_path / "x.npy", VECTORS)
    sources = [str(tmp_path / "photos"), str(tmp_path / "x.npy")]
    folder, file = outside_inputs(sources, "cifar10", IMAGES)
    assert folder.shape == (1, 3, 8, 6)
    assert folder[0, :, 0, 0].tolist() == [7, 8, 9]
    np.testing.assert_array_equal(file, VECTORS)
    with pytest.raises(ValueError, match="has vectors"):
        outside_inputs(sources[:1], "digits", VECTORS)
    (tmp_path / "x.csv").write_text("1")
    with pytest.raises(ValueError, match=r"must be a folder of images, a .npy file"):
        outside_inputs([str(tmp_path / "x.csv")], "cifar10", IMAGES)
