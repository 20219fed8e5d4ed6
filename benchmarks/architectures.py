"""The three lines of the README on networks of six kinds that have memorised 40 % wrong labels.

    python benchmarks/architectures.py              # all networks, both noises, two seeds
    python benchmarks/architectures.py --only cnn   # those whose name has this in it

Digits (1,200 to train on, 200 held out) for the image networks, Reuters-8 texts (1,200 and 200) for
the transformer. Each network is trained until it fits 99.5 % of its noisy labels. A seventh one is
the text network of the paper's table 5, with its own recipe, under uniform noise. Printed for
``layers="auto"`` and for hidden layers alone: test accuracy of softmax, of the paper's RoG and of
the head; the share of wrong labels seen; which share of the wrong labels is found, and how many of
the found ones are wrong. What was measured is not measured again (``results/architectures.json``).
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from reporting import circumstances, write_json
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from torch import Tensor, nn

from rehead import noise
from rehead.experiments.training import TrainSettings, noisy_task, run_training
from rehead.torch import RobustHead

RESULTS = Path(__file__).parent / "results" / "architectures.json"
TRAIN, HELD_OUT, RATE = 1200, 200, 0.4
WORDS, LENGTH = 2000, 60


class PlainCNN(nn.Module):
    """Two convolutions with batch norm, pooling, two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.conv2, self.bn2 = nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.fc1, self.fc2 = nn.Linear(32 * 4 * 4, 64), nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.relu(self.bn2(self.conv2(x)))
        x = nn.functional.max_pool2d(x, 2).flatten(1)
        return self.fc2(torch.relu(self.fc1(x)))


def deep_cnn() -> nn.Module:
    """Three convolutions without batch norm, in one sequence."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


class Residual(nn.Module):
    """A block of the ResNet."""

    def __init__(self, inside: int, outside: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(outside), nn.BatchNorm2d(outside)
        self.shortcut = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(out + self.shortcut(x))


class ResNet(nn.Module):
    """Two stages of two blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 3, 1, 1)
        self.layer1 = nn.Sequential(Residual(16, 16), Residual(16, 16))
        self.layer2 = nn.Sequential(Residual(16, 32, 2), Residual(32, 32))
        self.fc = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.layer2(self.layer1(torch.relu(self.stem(x)))).mean((2, 3)))


class Dense(nn.Module):
    """A layer of the DenseNet."""

    def __init__(self, inside: int, growth: int = 8) -> None:
        super().__init__()
        self.bn = nn.BatchNorm2d(inside)
        self.conv = nn.Conv2d(inside, growth, 3, 1, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.conv(torch.relu(self.bn(x)))], 1)


class DenseNet(nn.Module):
    """Two dense blocks of three layers."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 3, 1, 1)
        self.block1 = nn.Sequential(Dense(16), Dense(24), Dense(32))
        self.transition = nn.Sequential(nn.Conv2d(40, 24, 1), nn.AvgPool2d(2))
        self.block2 = nn.Sequential(Dense(24), Dense(32), Dense(40))
        self.bn, self.fc = nn.BatchNorm2d(48), nn.Linear(48, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.block2(self.transition(self.block1(self.stem(x))))
        return self.fc(torch.relu(self.bn(x)).mean((2, 3)))


def mlp() -> nn.Module:
    """Two hidden layers."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
        nn.Linear(64, 10),
    )  # fmt: skip


class Transformer(nn.Module):
    """Two encoder layers on word ids; 0 is padding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 32, padding_idx=0)
        self.position = nn.Parameter(0.02 * torch.randn(LENGTH, 32))
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(32, 8)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.encoder(self.embedding(ids) + self.position)
        return self.out(x.mean(dim=1))


class Data(NamedTuple):
    """Inputs and true classes, in a random order."""

    x: Tensor
    y: np.ndarray


def digits(seed: int) -> Data:
    """Images of 8 x 8."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng([seed, 7]).permutation(len(y))
    return Data(torch.from_numpy((X[order] / 16).astype(np.float32)).reshape(-1, 1, 8, 8), y[order])


def texts(seed: int) -> Data:
    """Word ids of Reuters-8."""
    file = Path(os.environ["REHEAD_DATA"]) / "reuters" / "r8-train-all-terms.txt"
    pairs = [line.split("\t", 1) for line in file.read_text(encoding="utf-8").splitlines()]
    words = Counter(word for _, text in pairs for word in text.split())
    number = {word: i + 1 for i, (word, _) in enumerate(words.most_common(WORDS - 1))}
    order = np.random.default_rng([seed, 7]).permutation(len(pairs))[: TRAIN + HELD_OUT + 1500]
    ids = np.zeros((len(order), LENGTH), np.int64)
    for row, i in enumerate(order):
        known = [number[w] for w in pairs[i][1].split() if w in number][:LENGTH]
        ids[row, : len(known)] = known
    y = np.unique([label for label, _ in pairs], return_inverse=True)[1][order]
    return Data(torch.from_numpy(ids), y)


NETS: dict[str, tuple[Callable[[], nn.Module], Callable[[int], Data]]] = {
    "plain CNN": (PlainCNN, digits),
    "deep CNN": (deep_cnn, digits),
    "ResNet": (ResNet, digits),
    "DenseNet": (DenseNet, digits),
    "MLP": (mlp, digits),
    "transformer": (Transformer, texts),
}


def memorised(make: Callable[[], nn.Module], x: Tensor, y: Tensor, seed: int) -> nn.Module:
    """A network trained until it fits 99.5 % of its labels, or for 300 epochs."""
    torch.manual_seed(seed)
    net = make()
    optimiser = torch.optim.Adam(net.parameters(), 2e-3)
    for _ in range(300):
        net.train()
        right = 0
        for rows in torch.randperm(len(y)).split(100):
            optimiser.zero_grad()
            logits = net(x[rows])
            nn.functional.cross_entropy(logits, y[rows]).backward()
            optimiser.step()
            right += int((logits.argmax(1) == y[rows]).sum())
        if right >= 0.995 * len(y):
            break
    return net.eval()


class Case(NamedTuple):
    """A trained network, samples with noisy labels, clean test samples, and what is wrong."""

    net: nn.Module
    train: tuple[Any, Any]
    held_out: tuple[Any, Any]
    test: tuple[Any, Any]
    wrong: np.ndarray


def small_case(name: str, kind: str, rate: float, seed: int) -> Case:
    """One of the six networks."""
    make, load = NETS[name]
    x, truth = load(seed)
    end = TRAIN + HELD_OUT
    draws = [np.random.default_rng([seed, i]) for i in (1, 2)]
    given, held = (
        torch.from_numpy(noise.NOISES[kind](part, rate, random_state=rng).labels)
        for part, rng in zip((truth[:TRAIN], truth[TRAIN:end]), draws, strict=True)
    )
    net = memorised(make, x[:TRAIN], given, seed)
    test = (x[end:], torch.from_numpy(truth[end:]))
    wrong = given.numpy() != truth[:TRAIN]
    return Case(net, (x[:TRAIN], given), (x[TRAIN:end], held), test, wrong)


def table5_case(name: str, kind: str, rate: float, seed: int) -> Case:
    """Reuters-8 as in table 5: 1000-256-256-7, 15 epochs, 30 documents of a topic held out."""
    settings = TrainSettings(data="reuters8", noise=kind, rate=rate, seed=seed, recipe="table5")
    task = noisy_task(settings)
    with TemporaryDirectory() as folder:
        net = run_training(settings, Path(folder)).trained.net
    train, held_out, test = task.splits[:3]
    return Case(
        net, (train.X, task.labels), (held_out.X, task.validation_labels), test[:2], task.changed
    )


Maker = Callable[[str, str, float, int], Case]
CASES: list[tuple[str, str, float, Maker]] = [
    *((name, kind, RATE, small_case) for name in NETS for kind in ("uniform", "flip")),
    *(("text network of table 5", "uniform", rate, table5_case) for rate in (0.2, 0.4, 0.6)),
]
"""Network, kind and rate of noise, and what makes it."""


def measure(case: Case) -> dict[str, Any]:
    """The three lines, with the witness and without."""
    wrong = case.wrong
    found: dict[str, Any] = {"wrong": float(wrong.mean())}
    for layers in ("auto", "hidden"):
        head = RobustHead(case.net, layers, random_state=0)
        head.fit(case.train, case.held_out, baselines=["paper"])
        rows = head.compare(case.test).rows
        suspects = head.find_mislabelled()
        assert head.ensemble_.consensus_ is not None
        found |= {"softmax": rows["softmax"].accuracy, "rog": rows["RoG (the paper)"].accuracy}
        found[layers] = {
            "accuracy": rows["robust"].accuracy,
            "seen": head.report_.noise_rate,
            "error": head.report_.noise_rate_error,
            "told": "is unclear" not in head.explain(),
            "found": float(wrong[suspects].sum() / wrong.sum()),
            "right": float(wrong[suspects].mean()) if len(suspects) else float("nan"),
            "judges": head.ensemble_.consensus_.judges,
            "gaps": {k: round(v, 3) for k, v in head.ensemble_.consensus_.gaps.items()},
        }
    return found


def markdown(cells: dict[str, dict[str, Any]]) -> str:
    """The table of docs/architectures.md."""
    lines = [
        "| network, noise, seed | softmax | RoG | head | wrong, seen | found | right in"
        " these | hidden layers alone: head | wrong, seen |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, cell in cells.items():
        auto, hidden = cell["auto"], cell["hidden"]
        numbers = [cell["softmax"], cell["rog"], auto["accuracy"]]
        seen = [f"{100 * c['seen']:.0f}{'' if c['told'] else ', unclear'}" for c in (auto, hidden)]
        lines.append(
            f"| {name} | {' | '.join(f'{100 * n:.1f}' for n in numbers)} | {seen[0]} | "
            f"{100 * auto['found']:.0f} | {100 * auto['right']:.0f} | "
            f"{100 * hidden['accuracy']:.1f} | {seen[1]} |"
        )
    return "\n".join(lines)


def show(cells: dict[str, dict[str, Any]]) -> None:
    """Print a table."""
    table = Table("", "softmax", "RoG", "head", "seen", "found", "right", "hidden: head", "seen")
    for name, cell in cells.items():
        auto, hidden = cell["auto"], cell["hidden"]
        values = [cell["softmax"], cell["rog"], auto["accuracy"], auto["seen"], auto["found"]]
        values += [auto["right"], hidden["accuracy"], hidden["seen"]]
        table.add_row(name, *(f"{100 * v:.1f}" for v in values))
    Console().print(table)


def main() -> None:
    """Measure what is missing, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="networks with this in their name")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--markdown", action="store_true", help="print the table of the docs")
    args = parser.parse_args()
    torch.set_num_threads(1)
    saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    cells: dict[str, dict[str, Any]] = saved.get("cells", {})
    for name, kind, rate, make in CASES:
        for seed in range(args.seeds):
            key = f"{name}, {kind} {rate:.0%}, {seed}"
            if key in cells or args.only.lower() not in name.lower():
                continue
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cells[key] = measure(make(name, kind, rate, seed))
            print(f"{key}: {time.perf_counter() - start:.0f} s", flush=True)
            write_json(RESULTS, {**circumstances({}), "cells": cells})
    show(cells)
    if args.markdown:
        print(markdown(cells))


if __name__ == "__main__":
    main()
