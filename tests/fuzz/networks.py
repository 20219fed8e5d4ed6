"""Heads of networks: batches in any form give the same predictions, and bad ones none."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, TensorDataset

from rehead.torch import RobustHead, extract_features

from .outcome import Case, refused, same
from .samples import NAMES, blobs, network, pick, pick_named

Random = np.random.Generator
Array = np.ndarray
N = 48
UNLABELLED = ("predict", "typicality", "features")
"""Questions that do not look at labels."""


def cases(rng: Random, folder: Path) -> Iterator[Case]:
    """Cases without end."""
    values, codes = blobs(np.random.default_rng(0), N)
    x, y = torch.from_numpy(values.astype("f4")), torch.from_numpy(codes)
    head = RobustHead(network(), random_state=0).fit((x, y), progress=False)
    answers = {
        "predict": head.predict_proba(x),
        "score": head.score((x, y)),
        "report": head.score_labels((x, y)).quality,
        "typicality": head.typicality(x),
        "features": _features((x, y)),
        "fit": head.predict_proba(x),
    }
    asks: dict[str, Callable[[Any], Any]] = {
        "predict": lambda data: head.predict_proba(data, progress=False),
        "score": lambda data: head.score(data, progress=False),
        "report": lambda data: head.score_labels(data, progress=False).quality,
        "typicality": lambda data: head.typicality(data, progress=False),
        "features": _features,
        "fit": lambda data: (
            RobustHead(network(), random_state=0).fit(data, progress=False).predict_proba(x)
        ),
    }
    for _ in itertools.count():
        question = pick(rng, asks)
        bad = rng.random() < 0.5
        what, make = pick_named(rng, BAD if bad else GOOD)
        run = partial(_ask, asks[question], make, x, y, int(rng.integers(1, N + 3)))
        unlabelled = bad and "labels" in what and question in UNLABELLED
        right = refused if bad and not unlabelled else same(answers[question], 2e-3)
        yield Case(f"{question}, {what}", run, right)


def _ask(ask: Callable[[Any], Any], make: Callable[..., Any], x: Any, y: Any, size: int) -> Any:
    return ask(make(x, y, size))


def _features(data: Any) -> Any:
    found = extract_features(network(), data, "2.input", progress=False)
    return found.layers["2.input"]


def _batches(x: Any, y: Any, size: int) -> list[tuple[Any, Any]]:
    return [(x[a : a + size], y[a : a + size]) for a in range(0, N, size)]


def _changed(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Batches, each changed."""
    return lambda x, y, size: [change(a, b) for a, b in _batches(x, y, size)]


def _shuffled(x: Any, y: Any, size: int) -> Any:
    return DataLoader(TensorDataset(x, y), batch_size=size, shuffle=True)


GOOD: dict[str, Callable[..., Any]] = {
    "batches": _batches,
    "loader": lambda x, y, size: DataLoader(TensorDataset(x, y), batch_size=size),
    "shuffling loader": _shuffled,
    "data set": lambda x, y, size: TensorDataset(x, y),
    "two tensors": lambda x, y, size: (x, y),
    "two arrays": lambda x, y, size: (x.numpy(), y.numpy()),
    "generator": lambda x, y, size: iter(_batches(x, y, size)),
    "lists": _changed(lambda x, y: [x, y]),
    "arrays": _changed(lambda x, y: (x.numpy(), y.numpy())),
    "labels in a list": _changed(lambda x, y: (x, y.tolist())),
    "labels in a column": _changed(lambda x, y: (x, y[:, None])),
    "small labels": _changed(lambda x, y: (x, y.to(torch.uint8))),
    "float labels": _changed(lambda x, y: (x, y.float())),
    "Series": _changed(lambda x, y: (x, pd.Series(y.numpy()))),
    "ids": _changed(lambda x, y: (x, y, [f"i{id(v)}" for v in x])),
    "dicts": _changed(lambda x, y: {"input": x, "labels": y}),
    "doubles": _changed(lambda x, y: (x.double(), y)),
    "halves": _changed(lambda x, y: (x.half(), y)),
    "big-endian": _changed(lambda x, y: (x.numpy().astype(">f4"), y)),
    "gradients": _changed(lambda x, y: (x.clone().requires_grad_(), y)),
    "columns first": _changed(lambda x, y: (x.T.contiguous().T, y)),
    "empty batches": lambda x, y, size: [(x[:0], y[:0]), *_batches(x, y, size), (x[:0], y[:0])],
    "sparse": _changed(lambda x, y: (x.to_sparse(), y)),
    "dict of another name": _changed(lambda x, y: {"picture": x, "labels": y}),
    "frames": _changed(lambda x, y: (pd.DataFrame(x.numpy()), y)),
}
"""The same samples: the same results, or an error."""


def _spoilt(value: float) -> Callable[..., Any]:
    def make(x: Any, y: Any, size: int) -> Any:
        x = x.clone()
        x[size % N, 1] = value
        return _batches(x, y, size)

    return make


BAD: dict[str, Callable[..., Any]] = {
    "nan": _spoilt(float("nan")),
    "inf": _spoilt(float("inf")),
    "nothing": lambda x, y, size: [],
    "None": lambda x, y, size: None,
    "number": lambda x, y, size: 3,
    "path": lambda x, y, size: "photos/",
    "narrow": _changed(lambda x, y: (x[:, :3], y)),
    "four parts": _changed(lambda x, y: (x, y, y, y)),
    "text": _changed(lambda x, y: (["a"] * len(x), y)),
    "strings": _changed(lambda x, y: (x.numpy().astype(str), y)),
    "complex": _changed(lambda x, y: (x + 1j, y)),
    "masked": _changed(lambda x, y: (np.ma.array(x.numpy(), mask=x.numpy() == x.numpy().max()), y)),
    "labels one short": _changed(lambda x, y: (x, y[1:])),
    "labels one-hot": _changed(lambda x, y: (x, torch.eye(3)[y])),
    "labels in some": lambda x, y, size: [(x[:9], y[:9]), (x[9:],)],
    "labels text in some": lambda x, y, size: [(x[:9], y[:9]), (x[9:], NAMES[y[9:]].tolist())],
    "labels missing": _changed(lambda x, y: (x, [None] * len(x))),
    "labels nan": _changed(lambda x, y: (x, y * float("nan"))),
    "no labels": lambda x, y, size: [x],
    "labels of single samples": lambda x, y, size: list(zip(x, y, strict=True)),
    "ids one short": _changed(lambda x, y: (x, y, list(range(len(x) - 1)))),
    "widths that change": lambda x, y, size: [(x[:9], y[:9]), (x[9:, :2], y[9:])],
    "meta": _changed(lambda x, y: (x.to("meta"), y)),
    "dict without inputs": _changed(lambda x, y: {"labels": y}),
}
"""Samples that must be refused; those of labels only where labels are asked for."""
