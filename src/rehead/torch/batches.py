"""Batches as people's loaders give them, brought to one form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler

from rehead._typing import Array
from rehead._warnings import warn

LABEL_KEYS = ("labels", "label", "targets", "target", "y")
ID_KEYS = ("ids", "id", "idx", "index", "indices")
DEFAULT_BATCH = 256


@dataclass(frozen=True)
class Batch:
    """Inputs of the network, labels and ids, each as long as the batch.

    ``numbered`` tells that the ids are only numbers in the order the samples came.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    labels: Array | None = None
    ids: Array | None = None
    numbered: bool = False

    def __len__(self) -> int:
        for value in (*self.args, *self.kwargs.values()):
            for tensor in tensors_in(value):
                return len(tensor)
        raise ValueError(
            "A batch holds no tensor. A loader must give tensors, (x, y), (x, y, id) or dicts."
        )

    @property
    def mask(self) -> Tensor | None:
        """The attention mask, where there is one."""
        mask = self.kwargs.get("attention_mask")
        return mask if isinstance(mask, Tensor) else None

    def to(self, device: torch.device) -> Batch:
        """The batch with its inputs on a device."""
        args = tuple(_moved(a, device) for a in self.args)
        kwargs = {k: _moved(v, device) for k, v in self.kwargs.items()}
        return replace(self, args=args, kwargs=kwargs)


def read_batch(batch: Any) -> Batch:
    """Bring one batch to the common form.

    Understood are a tensor or array, ``(x,)``, ``(x, y)``, ``(x, y, id)`` and dicts, in which
    labels and ids go by the usual names and the rest are keyword arguments of the network.

    Examples
    --------
    >>> import torch
    >>> batch = read_batch((torch.zeros(2, 3), torch.tensor([0, 1]), ["a", "b"]))
    >>> len(batch), batch.labels.tolist(), batch.ids.tolist()
    (2, [0, 1], ['a', 'b'])
    >>> sorted(read_batch({"input_ids": torch.zeros(2, 3), "labels": [1, 0]}).kwargs)
    ['input_ids']
    """
    if isinstance(batch, Mapping):
        rest = dict(batch)
        labels = _pop_first(rest, LABEL_KEYS)
        ids = _pop_first(rest, ID_KEYS)
        return Batch((), {k: _tensor(v) for k, v in rest.items()}, _column(labels), _column(ids))
    if isinstance(batch, (tuple, list)):
        if not 1 <= len(batch) <= 3:
            raise ValueError(
                f"A batch has {len(batch)} parts; expected x, (x, y) or (x, y, id). Wrap several "
                "inputs as one: ((x1, x2), y)."
            )
        x, labels, ids = (*batch, None, None)[:3]
        if isinstance(x, Mapping):
            inner = read_batch(x)
            return Batch((), inner.kwargs, _column(labels), _column(ids))
        args = x if isinstance(x, tuple) else (x,)
        return Batch(tuple(_tensor(a) for a in args), {}, _column(labels), _column(ids))
    return Batch((_tensor(batch),))


def read_loader(loader: Any) -> Iterator[Batch]:
    """Batches of a loader, with ids.

    A ``DataLoader`` that shuffles is read in the order of its data set instead, without dropping
    the last batch, so that the number of a sample is its place in the data set. A tensor, an array
    or ``(X, y)`` is cut into batches. Samples without ids are numbered in the order they come.
    """
    start = 0
    for raw in _iterable(loader):
        batch = read_batch(raw)
        n = len(batch)
        for name, column in (("labels", batch.labels), ("ids", batch.ids)):
            if column is not None and len(column) != n:
                raise ValueError(f"A batch has {n} inputs but {len(column)} {name}.")
        if batch.ids is None:
            batch = replace(batch, ids=np.arange(start, start + n), numbered=True)
        yield batch
        start += n
    if start == 0:
        raise ValueError(
            "The loader is empty. A generator can be read only once: pass a fresh one, or a list."
        )


def _iterable(loader: Any) -> Iterable[Any]:
    if isinstance(loader, DataLoader):
        return _in_order(loader)
    if isinstance(loader, (Tensor, np.ndarray)):
        return _cut((loader,))
    if isinstance(loader, tuple) and 1 <= len(loader) <= 3 and _is_array(loader[0]):
        return _cut(loader)
    if isinstance(loader, Iterable):
        return loader
    raise TypeError(
        f"Cannot read batches from {type(loader).__name__}. Pass a DataLoader, an iterable of "
        "batches, a tensor, or (X, y)."
    )


def _in_order(loader: DataLoader[Any]) -> Iterable[Any]:
    sampler = loader.sampler
    in_order = isinstance(sampler, SequentialSampler)
    if loader.batch_size is None or (in_order and not loader.drop_last):
        return loader
    if in_order or (isinstance(sampler, RandomSampler) and not sampler.replacement):
        return DataLoader(
            loader.dataset,
            batch_size=loader.batch_size,
            shuffle=False,
            num_workers=loader.num_workers,
            collate_fn=loader.collate_fn,
            pin_memory=loader.pin_memory,
        )
    warn(
        f"The loader draws samples with {type(sampler).__name__}; those without ids are numbered "
        "in the order they come. Give batches of (x, y, id) to name them."
    )
    return loader


def _cut(columns: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for a in range(0, len(columns[0]), DEFAULT_BATCH):
        yield tuple(c[a : a + DEFAULT_BATCH] for c in columns)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """All tensors in nested tuples, lists and mappings, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)


def _moved(value: Any, device: torch.device) -> Any:
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, Mapping):
        return {k: _moved(v, device) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_moved(v, device) for v in value)
    return value


def _is_array(value: Any) -> bool:
    return isinstance(value, (Tensor, np.ndarray))


def _tensor(value: Any) -> Any:
    return torch.from_numpy(np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value


def _pop_first(mapping: dict[str, Any], names: tuple[str, ...]) -> Any:
    found = [name for name in names if name in mapping]
    return mapping.pop(found[0]) if found else None


def _column(values: Any) -> Array | None:
    if values is None:
        return None
    return values.numpy(force=True) if isinstance(values, Tensor) else np.asarray(values)
