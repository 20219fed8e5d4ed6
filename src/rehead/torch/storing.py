"""Features that go to a store, and stores that are used again: for the same samples only."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from rehead._typing import Array
from rehead.files.known import KnownRows, Rows
from rehead.files.manifest import LABELS, ORDER, OUTPUTS, StoreError
from rehead.files.shards import ShardFiles
from rehead.files.store import Chunk, StoreWriter
from rehead.torch.batches import Batch
from rehead.torch.pooling import Pool
from rehead.torch.running import Run
from rehead.torch.taps import Tap
from rehead.torch.weights import network_fingerprint

TOLERANCE = 0.01
"""Features may differ by so much of the largest: other devices and batch sizes round otherwise."""
FUNCTION = "a function"
ELSE = "Choose another folder, or delete this one."


class Samples(NamedTuple):
    """Samples that are read.

    ``batches`` is a pass over them that has begun; ``again`` begins another one, and is None where
    they can be read only once. ``order`` says which part they are, if they are one.
    """

    batches: Iterator[Batch]
    again: Callable[[], Iterator[Batch]] | None = None
    order: str = ""


def store_features(
    path: str | os.PathLike[str],
    samples: Samples,
    run: Run,
    n_outputs: int | None,
    advance: Callable[[int], None],
) -> None:
    """Write what a store does not hold yet. What it holds must come from the same samples.

    Raises
    ------
    StoreError
        If the store was made from something else; the message tells what differs.
    """
    names = [tap.name for tap in run.taps]
    origin = made_from(run.taps, run.pooling.pools)
    if samples.order:
        origin[ORDER] = dict.fromkeys(names, samples.order)
    fingerprint = network_fingerprint(run.net)
    with StoreWriter(path, names, fingerprint=fingerprint, made_from=origin) as writer:
        if writer.n_rows:
            width = _n_outputs(writer.files)
            if n_outputs not in (None, width):
                raise StoreError(
                    f"The store {path} was made from {width} outputs, not {n_outputs}. {ELSE}"
                )
            n_outputs = width  # which the first batch decided
            _pass_over(samples, writer, run, advance)
        if writer.complete:
            return
        for chunk in run.chunks(samples.batches, n_outputs, hashed=True):
            writer.append(chunk)
            advance(len(chunk.ids))
        writer.finish()


def made_from(taps: Sequence[Tap], pools: Mapping[str, Pool]) -> dict[str, dict[str, str]]:
    """What features depend on beside the network and the samples, for the manifest of a store.

    Other networks are known by their weights. A function cannot be told from another one: what it
    gives is compared instead.
    """
    return {
        "source": {tap.name: _named(tap.source) for tap in taps},
        "pool": {tap.name: _named(pools[tap.name]) for tap in taps},
    }


def _named(value: Any) -> str:
    if isinstance(value, nn.Module):
        return f"a network with weights {network_fingerprint(value)}"
    return value if isinstance(value, str) else FUNCTION


def _pass_over(
    samples: Samples, writer: StoreWriter, run: Run, advance: Callable[[int], None]
) -> None:
    """Read the samples that a store holds already, and compare them with it.

    The network runs on the first batch only, which shows whether it gives the same features still.
    """
    known, done = KnownRows(writer.files), 0
    while done < len(known) or writer.complete:
        batch = next(samples.batches, None)
        if batch is None:
            break
        difference = known.difference(_rows(batch, run), done)
        if difference is not None:
            hint = _why(samples, run, difference.columns)
            raise StoreError(
                f"The store {writer.path} was made from {difference.text}.{hint} {ELSE}"
            )
        if done == 0:
            chunk = next(run.chunks(iter([batch]), _n_outputs(writer.files)))
            _check_features(chunk, writer.files)
        done += len(batch)
        advance(len(batch))
        if done > len(known):
            raise _too_many(writer)
    if done < len(known):
        raise StoreError(
            f"The store {writer.path} holds {len(known)} samples, and there are only {done}. {ELSE}"
        )


def _n_outputs(files: ShardFiles) -> int:
    return int(files.part(OUTPUTS, 0).shape[1])


def _rows(batch: Batch, run: Run) -> Rows:
    assert batch.ids is not None
    return Rows(batch.ids, batch.labels, run.hashes(batch), batch.numbered)


def _too_many(writer: StoreWriter) -> StoreError:
    held = f"The store {writer.path} holds {writer.n_rows} samples, and"
    if writer.complete:
        return StoreError(f"{held} there are more. {ELSE}")
    return StoreError(
        f"{held} the loader's batches do not end there. Use the batch size that the store was "
        "begun with, or another folder."
    )


def _check_features(chunk: Chunk, files: ShardFiles) -> None:
    """Raise if the first samples have other features now than in the store."""
    manifest = files.manifest
    pairs = {name: (manifest.layer_column(name), chunk.layers[name]) for name in manifest.layers}
    pairs["the network's outputs"] = (OUTPUTS, chunk.outputs)
    for name, (column, features) in pairs.items():
        stored = files.part(column, 0)
        n = min(len(stored), len(features))
        if not _close(stored[:n], features[:n]):
            raise StoreError(
                f"The same samples gave other features ({name}) when the store {files.folder} was "
                "written. The code of the network or a function has changed since, or gives other "
                f"values each time. {ELSE}"
            )


def _close(stored: Array, features: Array) -> bool:
    if stored.shape != features.shape:
        return False
    largest = float(np.abs(stored).max(initial=0.0))
    return bool(np.abs(stored - features).max(initial=0.0) <= TOLERANCE * largest)


def _why(samples: Samples, run: Run, columns: list[str]) -> str:
    """What may have led to samples that differ in these columns."""
    if _changes(samples, run):
        return (
            " The loader gives other samples each time it is read: it augments or shuffles at "
            "random. Read the samples with one that does not."
        )
    if columns == [LABELS]:
        return (
            " Features do not depend on labels: fit a LayerEnsemble on those of "
            "rehead.torch.open_features, or use `rehead fit --labels`."
        )
    return " Are these the same samples, in the same order, prepared in the same way?"


def _changes(samples: Samples, run: Run) -> bool:
    """Whether the first batch differs from one pass to the next, where there can be two."""
    if samples.again is None:
        return False
    try:
        first, second = (_rows(next(samples.again()), run) for _ in range(2))
    except ValueError:  # nothing came: it can be read only once
        return False
    pairs = zip(first, second, strict=True)
    return not all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)
