"""Cost of extracting hidden features, and of the exported module: ratios within one run.

    python benchmarks/features.py

Candidates take turns on one thread, the least processor time of all rounds counts, everything is
relative to the plain forward pass of the same batches in the same run. The checksums of a store are
compared with reading its features into memory, and with a fit on them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from rehead import LayerEnsemble
from rehead.files.npy import read_npy
from rehead.files.store import Chunk, FeatureStore, StoreWriter
from rehead.torch import RobustHead, extract_features

RESULTS = Path(__file__).parent / "results" / "features.json"
LAYERS = ["layer1.2", "layer2.2", "layer3.1", "layer3.2"]


class Block(nn.Module):
    """A residual block."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Two convolutions and a shortcut."""
        out = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(out)) + self.shortcut(x))


class SmallResNet(nn.Module):
    """Three stages of three blocks, 16-32-64 channels, as for 32 x 32 images."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.layer1 = nn.Sequential(Block(16, 16, 1), Block(16, 16, 1), Block(16, 16, 1))
        self.layer2 = nn.Sequential(Block(16, 32, 2), Block(32, 32, 1), Block(32, 32, 1))
        self.layer3 = nn.Sequential(Block(32, 64, 2), Block(64, 64, 1), Block(64, 64, 1))
        self.fc = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        x = self.layer3(self.layer2(self.layer1(torch.relu(self.conv1(x)))))
        return self.fc(x.mean((2, 3)))


def forward_pass(net: nn.Module, batches: list[tuple[Tensor, Tensor]]) -> None:
    """What a user would do anyway."""
    with torch.inference_mode():
        for x, _ in batches:
            net(x)


def best_times(work: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The shortest time of each candidate; candidates take turns."""
    best = dict.fromkeys(work, float("inf"))
    names = list(work)
    for r in range(rounds):
        for i in range(len(names)):  # a different one goes first in each round
            name = names[(r + i) % len(names)]
            work[name]()  # memory that the candidate before it returned costs the next one time
            start = time.process_time()
            work[name]()
            best[name] = min(best[name], time.process_time() - start)
    return best


class Images(Dataset[tuple[Tensor, int]]):
    """Images made when they are asked for, so that the data set itself takes no memory."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        return torch.full((3, 8, 8), i / self.n), i % 10


def store_memory(net: nn.Module, n: int) -> float:
    """Peak of numpy's memory while ``n`` samples go to a store, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        tracemalloc.start()
        loader = DataLoader(Images(n), batch_size=512)
        extract_features(net, loader, LAYERS, store=folder, progress=False)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak / 2**20


def used_again(net: nn.Module, batches: list[tuple[Tensor, Tensor]], folder: str) -> None:
    """A complete store, compared with the samples that it was made from."""
    extract_features(net, batches, LAYERS, store=folder, progress=False)


def check_costs(rounds: int, n: int = 20_000, width: int = 256) -> dict[str, float]:
    """Seconds to compare a store of two layers with its checksums, to read it, and to fit on it."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 10
    layers = {
        name: (rng.normal(size=(n, width)) + 2 * np.eye(10, width)[y]).astype(np.float32)
        for name in ("early", "late")
    }
    with tempfile.TemporaryDirectory() as folder:
        with StoreWriter(folder, list(layers), fingerprint="none") as writer:
            writer.append(Chunk(layers, y, np.arange(n), np.zeros((n, 10), np.float32), True))
            writer.finish()
        files = sorted(Path(folder).glob("*.npy"))

        def check() -> None:
            for file in files:
                os.utime(file)  # a file is read through once for each state of it
            FeatureStore(folder, verify=True)

        def read() -> None:
            for file in files:
                read_npy(file)

        times = best_times({"check": check, "read": read}, rounds)
        stored = FeatureStore(folder)
        found = {name: stored.layer(name) for name in layers}
        validation = ({name: X[:1000] + 0.1 for name, X in layers.items()}, y[:1000])
        fits = {
            "fit, sample estimates": lambda: LayerEnsemble("sample").fit(found, y, validation),
            "fit, the default": lambda: LayerEnsemble(random_state=0).fit(found, y, validation),
        }
        return times | best_times(fits, 1)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = SmallResNet().eval()
    batches = [(torch.randn(128, 3, 32, 32), torch.arange(128) % 10) for _ in range(args.batches)]
    head = RobustHead(net, LAYERS, "sample", weights="equal").fit(batches)
    module = head.to_module().eval()
    with tempfile.TemporaryDirectory() as folder:
        used_again(net, batches, folder)
        times = best_times(
            {
                "plain forward pass": lambda: forward_pass(net, batches),
                "extraction of 4 layers": lambda: extract_features(net, batches, LAYERS),
                "module with the new head": lambda: forward_pass(module, batches),
                "first batch": lambda: extract_features(net, batches[:1], LAYERS),
                "a complete store used again": lambda: used_again(net, batches, folder),
            },
            args.rounds,
        )
    # The network runs on the first batch of a store that is used again, however many there are.
    times["a complete store used again"] -= times.pop("first batch")
    costs = check_costs(args.rounds)
    plain = times["plain forward pass"]
    memory = {n: store_memory(net, n) for n in (20_000, 80_000)}
    result = {
        "ratios": {name: seconds / plain for name, seconds in times.items()},
        "store_peak_mib": memory,
        "check_of_store": {name: costs["check"] / costs[name] for name in costs if name != "check"},
        "machine": platform.processor() or platform.machine(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
    }
    table = Table("", "processor time / forward pass", "target")
    targets = {
        "extraction of 4 layers": "1.10",
        "module with the new head": "1.05",
        "a complete store used again": "0.10",
    }
    for name, ratio in result["ratios"].items():
        table.add_row(name, f"{ratio:.3f}", targets.get(name, ""))
    Console().print(table)
    for n, mib in memory.items():
        Console().print(f"peak memory while {n:,} samples go to a store: {mib:.1f} MiB")
    for name, ratio in result["check_of_store"].items():
        Console().print(f"time to compare a store with its checksums / {name}: {ratio:.3f}")
    args.output.parent.mkdir(exist_ok=True)
    args.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
