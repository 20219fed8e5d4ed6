"""Samples that every area starts from: small whole numbers, so that any type holds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

NAMES = np.array(["ant", "bee", "cat"])
FEATURES = ["length", "width", "height", "mass"]


def blobs(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes in four features; a tenth of the labels is wrong."""
    y = np.arange(n) % 3
    X = np.round(6 * rng.normal(size=(n, 4)) + 20 * np.eye(3, 4)[y]).clip(-100, 100)
    return X, np.where(rng.random(n) < 0.1, (y + 1) % 3, y)


X, CODES = blobs(np.random.default_rng(0), 60)
TOLERANCE = {"f8": 1e-6, "f4": 2e-3}
"""How far results may differ, by the precision they are worked on in."""


def network() -> torch.nn.Module:
    """A small network of these features."""
    torch.manual_seed(0)
    parts = torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3)
    return torch.nn.Sequential(*parts).eval()


def pick(rng: np.random.Generator, options: Any) -> Any:
    """One of some options, whatever they are."""
    options = list(options)
    return options[int(rng.integers(len(options)))]


def pick_named(rng: np.random.Generator, options: dict[str, Any]) -> tuple[str, Any]:
    """One of some named options."""
    name = pick(rng, options)
    return name, options[name]


def damage(
    content: bytes, rng: np.random.Generator, within: int | None = None
) -> tuple[str, bytes]:
    """Bytes of a file, some of them changed: flipped, cut off, overwritten, moved, added."""
    size = min(within or len(content), len(content))
    at, other = (int(rng.integers(size)) for _ in range(2))
    n = int(rng.integers(1, 65))
    changed = bytearray(content)

    def swap() -> None:
        changed[at], changed[other] = changed[other], changed[at]

    def set_slice(part: slice, new: bytes) -> None:
        changed[part] = new

    kinds: dict[str, Callable[[], None]] = {
        "bit": lambda: set_slice(slice(at, at + 1), bytes([content[at] ^ 1 << rng.integers(8)])),
        "byte": lambda: set_slice(slice(at, at + 1), rng.bytes(1)),
        "cut": lambda: set_slice(slice(at, None), b""),
        "zeros": lambda: set_slice(slice(at, at + n), bytes(len(content[at : at + n]))),
        "more": lambda: set_slice(slice(at, at), rng.bytes(n)),
        "gap": lambda: set_slice(slice(at, at + n), b""),
        "swap": swap,
    }
    kind = pick(rng, ["bit", "bit", *kinds])
    kinds[kind]()
    return f"{kind} at {at}", bytes(changed)
