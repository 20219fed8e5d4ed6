"""Hidden features of a network, for all its samples, in one pass."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn
from torch.utils.data import Dataset

from rehead._columns import join_columns
from rehead._progress import progress_bar
from rehead.files.store import Chunk
from rehead.torch.arguments import as_arguments, in_precision, network_dtype
from rehead.torch.batches import Batch, Keys, check_keys, read_loader
from rehead.torch.extracted import Features, open_features
from rehead.torch.layers import auto_layers, witness_layers
from rehead.torch.parts import Part, samples_of
from rehead.torch.pooling import Pool
from rehead.torch.running import Run
from rehead.torch.storing import Samples, store_features
from rehead.torch.taps import WORDS, Layers, random_state_kept, resolve_taps, unwrap

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
        tensor with one row per sample that has a column for each class.
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
        it. Memory then does not grow with the data set, and a run that was killed continues. A
        complete store is used again. The samples are read each time, and compared with those that
        the store was made from; where anything differs, there is a ``StoreError``.
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
    """What is to be extracted; ``n_outputs`` is the width of the logits, where it is known.

    ``part`` is that of the samples which is to be read.
    """

    layers: Layers | str
    pool: Pool | Mapping[str, Pool] = "mean"
    keys: Keys | None = None
    n_outputs: int | None = None
    part: Part | None = None


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
    loader = samples_of(loader, wanted.part)
    batches = read_loader(loader, wanted.keys)
    layers = wanted.layers
    if isinstance(layers, str) and layers in CHOSEN:
        first = next(batches)
        batches = chain([first], batches)
        layers = _chosen_layers(net, first, layers)
    run = Run.of(net, resolve_taps(net, layers), wanted.pool)
    with progress_bar("features", _length(loader), show=progress) as advance:
        if store is None:
            return _in_memory(run.chunks(batches, wanted.n_outputs), advance)
        once = isinstance(loader, Iterator)
        order = "" if wanted.part is None else wanted.part.order
        again = None if once else lambda: read_loader(loader, wanted.keys)
        samples = Samples(batches, again, order)
        store_features(store, samples, run, wanted.n_outputs, advance)
    return open_features(store)


def _chosen_layers(net: nn.Module, batch: Batch, word: str) -> list[str]:
    """The layers that "auto" or "hidden" stands for."""
    batch = in_precision(as_arguments(batch, net), network_dtype(net))
    witness = [] if word == "hidden" else witness_layers(net, batch)
    hidden = [name for name in auto_layers(net, batch) if name not in witness]
    log.info("layers=%r chose %s", word, ", ".join([*witness, *hidden]))
    return [*witness, *hidden]


def _in_memory(chunks: Iterator[Chunk], advance: Callable[[int], None]) -> Features:
    parts = []
    for chunk in chunks:
        parts.append(chunk)
        advance(len(chunk.ids))
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
