"""Hidden features of a network, for all its samples, in one pass."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rehead import _validation as check
from rehead._progress import progress_bar
from rehead._typing import Array
from rehead.files.store import Chunk, FeatureStore, StoreError, StoreWriter
from rehead.torch.batches import Batch, read_loader
from rehead.torch.layers import auto_layers, witness_layers
from rehead.torch.pooling import POOLS, Pool, pool_output
from rehead.torch.taps import (
    INPUT,
    Finish,
    Layers,
    Recorder,
    Tap,
    random_state_kept,
    resolve_taps,
    unwrap,
)

CHOSEN = ("auto", "hidden", "auto+input")
"""Words that stand for layers; the last one is an earlier name of the first."""
log = logging.getLogger("rehead")


@dataclass(frozen=True, eq=False)
class Features:
    """Features of each layer with the labels and ids of the samples, and the network's output.

    Attributes
    ----------
    layers : mapping of layer name to float32 array of shape (n_samples, width)
    labels : array of shape (n_samples,) or None
    ids : array of shape (n_samples,)
    outputs : float32 array of shape (n_samples, n_outputs)
        What the network itself returns, its logits.
    numbered : bool
        Whether the loader gave no ids, so that they are numbers in the order the samples came.
    """

    layers: Mapping[str, Array]
    labels: Array | None
    ids: Array
    outputs: Array
    numbered: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    def labels_for(self, what: str) -> Array:
        """The labels, where these samples cannot do without."""
        if self.labels is None:
            raise ValueError(
                f"The {what} loader gives no labels. Its batches must be (x, y), (x, y, id) or "
                "dicts with 'labels'."
            )
        return self.labels


def extract_features(
    net: nn.Module,
    loader: Any,
    layers: Layers | str = "auto",
    *,
    pool: Pool | Mapping[str, Pool] = "mean",
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Features:
    """Outputs of hidden layers for all samples of a loader.

    One pass, in evaluation mode and without gradients. The network is not changed: training flags,
    hooks and random state are restored, also after an error.

    Parameters
    ----------
    net : nn.Module
        On any device. ``torch.compile`` and ``DataParallel`` wrappers are looked through; a half
        precision network gets its inputs in its own precision.
    loader : DataLoader, iterable of batches, tensor, array or (X, y)
        Batches are ``x``, ``(x, y)``, ``(x, y, id)`` or dicts. A ``DataLoader`` that shuffles is
        read in the order of its data set. Use one without random augmentation.
    layers : "auto", "hidden", list of names, or mapping
        "hidden" chooses some hidden layers; "auto" adds a witness that cannot have memorised
        labels: the input, images averaged over a coarse grid, token ids as the mean of the
        network's own embeddings. Names as ``net.named_modules()`` gives them. ``"name.input"`` is
        what goes into a layer, ``"input"`` the raw input, ``"hidden_states.k"`` a hidden state of a
        Hugging Face model. A mapping gives taps other names, and may hold functions of the input or
        other networks (frozen encoders): ``{"pixels": "input", "encoder": encoder}``.
    pool : {"mean", "first", "tokens", "channels", "flatten", "grid"}, function, or mapping
        See :func:`rehead.torch.pooling.pool_output`.
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
    with random_state_kept():
        return _extract(unwrap(net), loader, layers, pool, store, progress)


def _extract(
    net: nn.Module,
    loader: Any,
    layers: Layers | str,
    pool: Pool | Mapping[str, Pool],
    store: str | os.PathLike[str] | None,
    progress: bool | None,
) -> Features:
    batches = read_loader(loader)
    if isinstance(layers, str):
        check.check_choice(layers, CHOSEN, "layers")
        first = next(batches)
        batches = chain([first], batches)
        witness = [] if layers == "hidden" else witness_layers(net, first)
        hidden = [name for name in auto_layers(net, first) if name not in witness]
        log.info("layers=%r chose %s", layers, ", ".join([*witness, *hidden]))
        layers = [*witness, *hidden]
    taps = resolve_taps(net, layers)
    with progress_bar("features", _length(loader), show=progress) as advance:
        if store is None:
            return _in_memory(_chunks(net, batches, taps, pool, advance))
        names = [tap.name for tap in taps]
        writer = StoreWriter(store, names, fingerprint=network_fingerprint(net))
        advance(writer.n_rows)
        if not writer.complete:
            _skip(batches, writer.n_rows)
            for chunk in _chunks(net, batches, taps, pool, advance):
                writer.append(chunk)
            writer.finish()
    return open_features(store)


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


class StoredFeatures(Features):
    """Features in a store; read from disk when they are asked for, and not kept in memory."""

    def __init__(self, store: FeatureStore) -> None:
        object.__setattr__(self, "store", store)

    store: FeatureStore

    @property
    def layers(self) -> Mapping[str, Array]:
        return _LayersOf(self.store)

    @property
    def labels(self) -> Array | None:
        return self.store.labels

    @property
    def ids(self) -> Array:
        return self.store.ids

    @property
    def outputs(self) -> Array:
        return self.store.outputs

    @property
    def numbered(self) -> bool:
        return self.store.numbered

    def __len__(self) -> int:
        return len(self.store)


class _LayersOf(Mapping[str, Array]):
    def __init__(self, store: FeatureStore) -> None:
        self._store = store

    def __getitem__(self, name: str) -> Array:
        return self._store.layer(name)

    def __contains__(self, name: object) -> bool:
        return name in self._store.layers

    def __iter__(self) -> Iterator[str]:
        return iter(self._store.layers)

    def __len__(self) -> int:
        return len(self._store.layers)


def open_features(store: str | os.PathLike[str]) -> StoredFeatures:
    """Features that were written to a store."""
    return StoredFeatures(FeatureStore(store))


def _chunks(
    net: nn.Module,
    batches: Iterator[Batch],
    taps: list[Tap],
    pool: Pool | Mapping[str, Pool],
    advance: Callable[[int], None],
) -> Iterator[Chunk]:
    """Run the network; give the pooled features of one batch after the other."""
    with Recorder(net, taps, pooling(net, taps, pools_of(pool, taps))) as recorder:
        for batch in batches:
            pooled, output = recorder(batch)
            layers = {name: _checked(features, name, batch) for name, features in pooled.items()}
            assert batch.ids is not None
            logits = _plain(output).flatten(1).numpy(force=True)
            yield Chunk(layers, batch.labels, batch.ids, logits, batch.numbered)
            advance(len(batch))


def pooling(net: nn.Module, taps: list[Tap], pools: Mapping[str, Pool]) -> Finish:
    """A function that pools the output of a tap as soon as it is there."""
    recorder = Recorder(net, taps)
    tokens = {tap.name: recorder.tokens(tap) for tap in taps}

    def finish(tap: Tap, output: Tensor, batch: Batch) -> Tensor:
        name = tap.name
        return pool_output(_plain(output), pools[name], name, tokens=tokens[name], mask=batch.mask)

    return finish


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
        labels=np.concatenate(labels) if labels else None,
        ids=np.concatenate([p.ids for p in parts]),
        outputs=np.concatenate([p.outputs for p in parts]),
        numbered=parts[0].numbered,
    )


def _length(loader: Any) -> int | None:
    """Number of samples, where it can be known beforehand."""
    data = getattr(loader, "dataset", None)
    if data is None and isinstance(loader, tuple):
        data = loader[0]
    if data is None and isinstance(loader, (Tensor, np.ndarray)):
        data = loader
    try:
        return len(data)  # type: ignore[arg-type]
    except TypeError:
        return None


def network_fingerprint(net: nn.Module) -> str:
    """A checksum of a network's weights and of the names of its layers."""
    import hashlib

    digest = hashlib.sha256()
    for name, value in net.state_dict().items():
        digest.update(name.encode())
        if isinstance(value, Tensor):
            plain = value.dequantize() if value.is_quantized else value
            data = plain.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(str(tuple(value.shape)).encode() + str(value.dtype).encode())
            digest.update(data.numpy().tobytes())
    return digest.hexdigest()
