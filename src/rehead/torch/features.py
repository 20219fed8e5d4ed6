"""Hidden features of a network, for all its samples, in one pass."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn
from torch.utils.data import Dataset

from rehead import _validation as check
from rehead._columns import join_columns
from rehead._progress import progress_bar
from rehead._typing import Array
from rehead.files.store import Chunk, StoreError, StoreWriter
from rehead.torch.arguments import as_arguments, in_precision, network_dtype
from rehead.torch.batches import Batch, Keys, check_keys, read_loader
from rehead.torch.extracted import Features, open_features
from rehead.torch.layers import auto_layers, witness_layers
from rehead.torch.outputs import LogitsTaker
from rehead.torch.pooling import POOLS, Pool, pool_output
from rehead.torch.sketches import WordSketch, are_token_ids
from rehead.torch.taps import (
    INPUT,
    WORDS,
    Layers,
    Recorder,
    Tap,
    random_state_kept,
    resolve_taps,
    unwrap,
)
from rehead.torch.weights import network_fingerprint

CHOSEN = (*WORDS, "auto+input")
"""Words that stand for layers; the last one is an earlier name of the first."""
log = logging.getLogger("rehead")


def extract_features(
    net: nn.Module,
    loader: Any,
    layers: Layers | str = "auto",
    *,
    pool: Pool | Mapping[str, Pool] = "mean",
    keys: Keys | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Features:
    """Outputs of hidden layers for all samples of a loader.

    One pass, in evaluation mode and without gradients. The network is not changed: training flags,
    hooks and random state are restored, also after an error.

    Parameters
    ----------
    net : nn.Module
        On any device. ``torch.compile`` and ``DataParallel`` wrappers are looked through. It gets
        its inputs in its own precision; whole numbers (token ids, bytes) stay what they are. Of
        several things that it returns, what is called "logits" are its logits, else the narrowest
        tensor with one row a sample that has a column for each class.
    loader : DataLoader, data set, iterable of batches, tensor, array or (X, y)
        Batches are ``x``, ``(x, y)``, ``(x, y, id)`` or dicts; several inputs are ``((x1, x2),
        y)``. A ``DataLoader`` that shuffles is read in the order of its data set. Use one without
        random augmentation.
    layers : "auto", "hidden", name, list of names, or mapping
        "hidden" chooses some hidden layers; "auto" adds a witness that cannot have memorised
        labels: the input, images averaged over a coarse grid, token ids as a sketch of the words
        (and as the mean of the network's own embeddings). Names as ``net.named_modules()`` gives
        them. ``"name.input"`` is what goes into a layer, ``"input"`` the raw input,
        ``"hidden_states.k"`` a hidden state of a Hugging Face model. A mapping gives taps other
        names, and may hold functions of the input or other networks (frozen encoders):
        ``{"pixels": "input", "encoder": encoder}``.
    pool : {"mean", "first", "tokens", "channels", "flatten", "grid"}, function, or mapping
        See :func:`rehead.torch.pooling.pool_output`.
    keys : mapping, optional
        Entries of batches that are dicts, where they do not go by the usual names: ``{"inputs":
        "image", "labels": "grade", "ids": "file"}``. Inputs may be a list, in the order of the
        network's arguments. Without it, labels are "labels", "label", "targets", "target" or "y",
        ids "ids", "id", "idx", "index" or "indices", and what the network does not take is left
        out.
    store : path, optional
        Write to a folder of ``.npy`` shards as the features come, and return arrays mapped from
        it. Memory then does not grow with the data set, and a run that was killed continues.
    progress : bool, optional
        Show a progress bar. Default: in a terminal.

    Returns
    -------
    Features

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from rehead.torch import extract_features
    >>> net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> features = extract_features(net, (torch.ones(5, 4), torch.tensor([0, 1, 0, 1, 0])))
    >>> {name: f.shape for name, f in features.layers.items()}
    {'input': (5, 4), '2.input': (5, 3)}
    >>> features.labels.tolist(), features.ids.tolist()
    ([0, 1, 0, 1, 0], [0, 1, 2, 3, 4])
    """
    return extract(net, loader, Wanted(layers, pool, keys), store=store, progress=progress)


class Wanted(NamedTuple):
    """What is to be extracted; ``n_outputs`` is the width of the logits, where it is known."""

    layers: Layers | str
    pool: Pool | Mapping[str, Pool] = "mean"
    keys: Keys | None = None
    n_outputs: int | None = None


def extract(
    net: nn.Module,
    loader: Any,
    wanted: Wanted,
    *,
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Features:
    """What :func:`extract_features` does."""
    if not isinstance(net, nn.Module):
        raise TypeError(
            f"net must be an nn.Module, got {net!r}. Pass the network itself, with its weights."
        )
    check_keys(wanted.keys)
    with random_state_kept():
        return _extract(unwrap(net), loader, wanted, store, progress)


def _extract(
    net: nn.Module,
    loader: Any,
    wanted: Wanted,
    store: str | os.PathLike[str] | None,
    progress: bool | None,
) -> Features:
    batches = read_loader(loader, wanted.keys)
    layers = wanted.layers
    if isinstance(layers, str) and layers in CHOSEN:
        first = next(batches)
        batches = chain([first], batches)
        layers = _chosen_layers(net, first, layers)
    taps = resolve_taps(net, layers)
    with progress_bar("features", _length(loader), show=progress) as advance:
        if store is None:
            return _in_memory(_chunks(net, batches, taps, wanted, advance))
        names = [tap.name for tap in taps]
        writer = StoreWriter(store, names, fingerprint=network_fingerprint(net))
        advance(writer.n_rows)
        if not writer.complete:
            _skip(batches, writer.n_rows)
            for chunk in _chunks(net, batches, taps, wanted, advance):
                writer.append(chunk)
            writer.finish()
    return open_features(store)


def _chosen_layers(net: nn.Module, batch: Batch, word: str) -> list[str]:
    """The layers that "auto" or "hidden" stands for."""
    batch = in_precision(as_arguments(batch, net), network_dtype(net))
    witness = [] if word == "hidden" else witness_layers(net, batch)
    hidden = [name for name in auto_layers(net, batch) if name not in witness]
    log.info("layers=%r chose %s", word, ", ".join([*witness, *hidden]))
    return [*witness, *hidden]


def _skip(batches: Iterator[Batch], n_rows: int) -> None:
    """Pass over the samples that a store holds already, without running the network."""
    done = 0
    while done < n_rows:
        batch = next(batches, None)
        done += n_rows + 1 if batch is None else len(batch)
        if done > n_rows:
            raise StoreError(
                f"The store holds {n_rows} samples, and the loader's batches do not end there. Use "
                "the data and the batch size that the store was begun with, or another folder."
            )


def _chunks(
    net: nn.Module,
    batches: Iterator[Batch],
    taps: list[Tap],
    wanted: Wanted,
    advance: Callable[[int], None],
) -> Iterator[Chunk]:
    """Run the network; give the pooled features of one batch after the other."""
    logits = LogitsTaker(wanted.n_outputs)
    with Recorder(net, taps, Pooling.of(net, taps, wanted.pool)) as recorder:
        for batch in batches:
            pooled, output = recorder(batch)
            layers = {name: _checked(features, name, batch) for name, features in pooled.items()}
            assert batch.ids is not None
            outputs = _plain(logits(output, batch)).numpy(force=True)
            yield Chunk(layers, batch.labels, batch.ids, outputs, batch.numbered)
            advance(len(batch))


@dataclass(frozen=True)
class Pooling:
    """Pools the output of a tap as soon as it is there.

    ``pools`` says how, for each tap, and ``tokens`` whether its 3-d output is (batch, tokens,
    features). ``words`` is what token ids become where they are tapped themselves.
    """

    pools: dict[str, Pool]
    tokens: dict[str, bool | None]
    words: WordSketch | None = None

    def __call__(self, tap: Tap, output: Tensor, batch: Batch) -> Tensor:
        """One vector a sample."""
        name = tap.name
        pool, tokens = self.pools[name], self.tokens[name]
        if pool == "grid" and self.words is not None and are_token_ids(output):
            return self.words(output, batch.mask)
        return pool_output(_plain(output), pool, name, tokens=tokens, mask=batch.mask)

    @classmethod
    def of(cls, net: nn.Module, taps: list[Tap], pool: Pool | Mapping[str, Pool]) -> Pooling:
        """How the taps of a network are pooled."""
        recorder = Recorder(net, taps)
        tokens = {tap.name: recorder.tokens(tap) for tap in taps}
        return cls(pools_of(pool, taps), tokens, WordSketch.of(net))


def pools_of(pool: Pool | Mapping[str, Pool], taps: list[Tap]) -> dict[str, Pool]:
    """The way to pool of each tap.

    The raw input has no channels to average over: it becomes a coarse grid.
    """
    given: dict[str, Any]
    if isinstance(pool, Mapping):
        given = {tap.name: pool.get(tap.name, "mean") for tap in taps}
        for name in pool:
            check.check_choice(name, [tap.name for tap in taps], "layer in pool")
    else:
        given = {tap.name: pool for tap in taps}
    out: dict[str, Pool] = {}
    for tap in taps:
        choice = given[tap.name]
        if not callable(choice):
            check.check_choice(choice, POOLS, "pool")
            if tap.source == INPUT and choice == "mean":
                choice = "grid"
        out[tap.name] = choice
    return out


def _plain(output: Tensor) -> Tensor:
    """A float32 tensor, whatever the network computes in."""
    if output.is_quantized:
        output = output.dequantize()
    return output.float()


def _checked(pooled: Tensor, layer: str, batch: Batch) -> Array:
    if len(pooled) != len(batch):
        raise ValueError(
            f"Layer {layer!r} gives {len(pooled)} rows for a batch of {len(batch)} samples. The "
            "first axis must be the batch; use a pool function to bring it there."
        )
    array: Array = pooled.numpy(force=True)
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        assert batch.ids is not None
        first = batch.ids[~finite][0]
        raise ValueError(
            f"Layer {layer!r} gives NaN or infinite features for {int((~finite).sum())} samples "
            f"of a batch, id {first!r} first. Leave those samples out, or check the network."
        )
    return array


def _in_memory(chunks: Iterator[Chunk]) -> Features:
    parts = list(chunks)
    labels = [p.labels for p in parts if p.labels is not None]
    return Features(
        layers={name: np.concatenate([p.layers[name] for p in parts]) for name in parts[0].layers},
        labels=join_columns(labels) if labels else None,
        ids=join_columns([p.ids for p in parts]),
        outputs=np.concatenate([p.outputs for p in parts]),
        numbered=parts[0].numbered,
    )


def _length(loader: Any) -> int | None:
    """Number of samples, where it can be known beforehand."""
    data = getattr(loader, "dataset", None)
    if data is None and isinstance(loader, tuple):
        data = loader[0]
    if data is None and isinstance(loader, (Tensor, np.ndarray, Dataset)):
        data = loader
    try:
        return len(data)  # type: ignore[arg-type]
    except TypeError:
        return None
