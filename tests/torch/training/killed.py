"""Runs that are killed: ``python killed.py FOLDER`` starts each of them and kills it.

A child of its own is forked for each, and it ends itself with SIGKILL at an exact moment, or is
killed from outside when its log has some lines. ``test_resume.py`` goes on from what is left.
"""

import os
import signal
import sys
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from rehead.files import persist
from rehead.torch.models import FCN
from rehead.torch.training import METHODS, Recipe, Run, Trained, checkpoint, epochs, loop, train


class ConvNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 6, 3, padding=1)
        self.bn = nn.BatchNorm2d(6)
        self.dropout = nn.Dropout(0.2)
        self.out = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.bn(self.conv2(torch.relu(self.conv1(x.float() / 255)))))
        return self.out(self.dropout(x.mean((2, 3))))


def vectors() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    true = np.arange(96) % 3
    X = (rng.normal(size=(96, 6)) + 3 * np.eye(6)[true]).astype(np.float32)
    return X, np.where(rng.random(96) < 0.4, rng.integers(3, size=96), true), true


def of_images(method, folder: Path | None, **options) -> Trained:
    X = np.random.default_rng(1).integers(256, size=(70, 3, 8, 8), dtype=np.uint8)
    y = np.arange(70) % 3
    recipe = Recipe(epochs=5, batch_size=16, augment=("crop", "flip"), weight_decay=1e-4, **options)
    run = Run(validation=(X[60:], y[60:]), keep="best", folder=folder, device="cpu")
    return train(ConvNet, X[:60], y[:60], method=method, recipe=recipe, run=run)


def of_vectors(method, folder: Path | None, **options) -> Trained:
    X, y, _ = vectors()
    recipe = Recipe(epochs=5, batch_size=16, optimizer="adam", learning_rate=1e-2, drop_last=True)
    run = Run(folder=folder, device="cpu")
    make_net = partial(FCN, 6, 3, hidden=(8,))
    return train(make_net, X, y, method=method, recipe=recipe, run=run, **options)


def teacher():
    rows = np.arange(40)
    return METHODS["mentornet"](form="teacher", clean=(rows, vectors()[2][rows]), teacher_steps=30)


RUNS = {
    "convolutions with SGD": lambda f: of_images("cross-entropy", f, learning_rate=0.05),
    "convolutions with Adam": lambda f: of_images(
        METHODS["co-teaching"](noise_rate=0.3, ramp=3), f, optimizer="adam", learning_rate=1e-2
    ),
    "two networks": lambda f: of_vectors(METHODS["decoupling"](warmup=1), f),
    "two stages": lambda f: of_vectors("glc", f, trusted=np.arange(96) % 8 == 0),
    "anchors": lambda f: of_vectors("forward", f),
    "threshold": lambda f: of_vectors(METHODS["mentornet"](form="self-paced"), f),
    "teacher": lambda f: of_vectors(teacher(), f),
    "turning point": lambda f: of_vectors(
        METHODS["d2l"](first=0, window=1, neighbours=5, batches=1, batch_size=48), f
    ),
}


class Case(NamedTuple):
    """A run, and when it is killed: at the n-th call of something, or at n lines of its log."""

    run: str
    moment: str
    n: int

    @property
    def folder(self) -> str:
        return f"{self.run}, {self.moment} {self.n}".replace(" ", "-")


CASES = [
    Case("convolutions with SGD", "step", 1),
    Case("convolutions with SGD", "step", 10),
    Case("convolutions with SGD", "move", 4),
    Case("convolutions with SGD", "log", 3),
    Case("convolutions with SGD", "lines", 2),
    Case("convolutions with Adam", "step", 11),
    Case("convolutions with Adam", "log", 5),
    Case("two networks", "step", 15),
    Case("two networks", "step without checkpoints", 15),
    Case("two stages", "step without checkpoints", 38),
    Case("two stages", "step", 12),
    Case("two stages", "step", 38),
    Case("two stages", "move", 9),
    Case("anchors", "step", 18),
    Case("anchors", "log", 8),
    Case("threshold", "step", 14),
    Case("teacher", "step", 14),
    Case("teacher", "step", 44),
    Case("turning point", "step", 14),
    Case("turning point", "step", 20),
]


def die_at(where: object, name: str, n: int) -> None:
    """Let the n-th call of a function be the last thing that this process does."""
    original, calls = getattr(where, name), [0]

    def counted(*arguments, **options):
        calls[0] += 1
        if calls[0] == n:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **options)

    setattr(where, name, counted)


def start(case: Case, folder: Path) -> None:
    if case.moment != "step without checkpoints":
        loop.CHECKPOINT_SECONDS = 0.0
    if case.moment.startswith("step"):
        die_at(epochs, "step", case.n)
    elif case.moment == "move":
        die_at(persist.os, "replace", case.n)
    elif case.moment == "log":
        die_at(checkpoint, "append_log", case.n)
    else:
        # Slow enough to be killed in the middle.
        original = epochs.step

        def slow(*arguments):
            time.sleep(0.03)
            return original(*arguments)

        epochs.step = slow
    RUNS[case.run](folder)


def kill_when_logged(child: int, log: Path, lines: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if log.exists() and log.read_text().count("\n") >= lines:
            break
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    import_module("torch._dynamo")  # which optimisers import: once, and not in each child
    for case in CASES:
        child = os.fork()
        if child == 0:
            start(case, folder / case.folder)
            os._exit(0)
        if case.moment == "lines":
            kill_when_logged(child, folder / case.folder / "log.jsonl", case.n)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
            sys.exit(f"{case} was not killed: {status}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
