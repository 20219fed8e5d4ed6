"""Stores joined into one: parts of an extraction, or samples that came in several lots."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rehead.files.chunks import Copy, StoredChunks, write_copies
from rehead.files.manifest import ORDER, StoreError
from rehead.files.shards import kind_of
from rehead.files.store import SHARD_ROWS, FeatureStore

PART = "part {} of {}"
"""What a store says of its order that holds a part of the samples."""


def merge_stores(
    sources: Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    *,
    shard_rows: int = SHARD_ROWS,
) -> FeatureStore:
    """Write the rows of several stores to one.

    They must come from the same network, layers and pooling, and no id may occur twice. Parts of an
    extraction (``rehead features --shard``) are put in their order, and none may be missing; others
    stay in the order in which they are given. Row numbers that stand for ids are counted on. The
    same call continues where one was killed.

    Parameters
    ----------
    sources : folders
    target : folder
    shard_rows : int
    """
    if len(sources) < 2:
        raise ValueError("It takes two stores or more to merge.")
    if Path(target).resolve() in {Path(source).resolve() for source in sources}:
        raise ValueError(f"{target} is one of the stores to merge. Choose another folder.")
    stores = _in_order([FeatureStore(source) for source in sources])
    for store in stores[1:]:
        _check_alike(store, stores[0])
    if not stores[0].numbered:
        _check_ids(stores)
    said = "".join(store.files.manifest.checksum for store in stores)
    origin = f"rows of {len(stores)} stores, {hashlib.sha256(said.encode()).hexdigest():.16}"
    firsts = np.cumsum([0, *(len(store) for store in stores)]).tolist()
    copies = (
        Copy(StoredChunks(store), np.arange(len(store)), first=first if store.numbered else None)
        for store, first in zip(stores, firsts, strict=False)
    )
    write_copies(target, copies, stores[0], origin, shard_rows)
    return FeatureStore(target)


def part_of(store: FeatureStore) -> tuple[int, int] | None:
    """Which part of an extraction a store is, and of how many; None where it is none."""
    order = store.files.manifest.made_from.get(ORDER, {})
    found = re.fullmatch(r"part (\d+) of (\d+)", next(iter(order.values()), ""))
    return None if found is None else (int(found[1]), int(found[2]))


def _in_order(stores: list[FeatureStore]) -> list[FeatureStore]:
    """Parts of an extraction by their number; others as they are."""
    parts = {store.path: part_of(store) for store in stores}
    numbers = [part for part in parts.values() if part is not None]
    if not numbers:
        return stores
    n = numbers[0][1]
    missing = sorted({*range(1, n + 1)} - {i for i, _ in numbers})
    whole = len(numbers) == len(stores) == n and all(of == n for _, of in numbers)
    if not whole or missing:
        said = ", ".join(
            f"{p.name}: {'no part' if x is None else PART.format(*x)}" for p, x in parts.items()
        )
        raise StoreError(
            f"These are not all parts of one extraction ({said}). Give each part once."
        )
    return sorted(stores, key=lambda store: part_of(store) or (0, 0))


def _check_alike(store: FeatureStore, first: FeatureStore) -> None:
    difference = first.difference(store)
    if difference:
        raise StoreError(
            f"The store {store.path} was written by {difference}, and does not go with "
            f"{first.path}. Extract both in the same way."
        )
    here, there = store.files.manifest, first.files.manifest
    for column in sorted(here.columns ^ there.columns):
        has, lacks = (store, first) if column in here.columns else (first, store)
        raise StoreError(f"{has.path} has {column}, and {lacks.path} has none.")
    if store.numbered != first.numbered:
        raise StoreError(
            f"Of {store.path} and {first.path}, one has ids, and the other only numbers its rows. "
            "Extract both with --ids, or both without."
        )


def _check_ids(stores: list[FeatureStore]) -> None:
    ids = [store.ids for store in stores]
    kinds = {kind_of(part.dtype) for part in ids}
    if len(kinds) > 1:
        raise StoreError(
            f"The ids of the stores are of different types: {', '.join(sorted(kinds))}."
        )
    every = np.sort(np.concatenate(ids))
    twice = every[1:][every[1:] == every[:-1]]
    if len(twice):
        raise StoreError(
            f"{len(twice)} ids occur in more than one place ({twice[0].item()!r} first). Merge "
            "stores of different samples."
        )
