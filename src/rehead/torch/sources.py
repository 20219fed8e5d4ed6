"""Data as people have them: loaders, data sets, arrays, tables; read as batches, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    default_collate,
)

from rehead import _validation as check
from rehead._columns import as_column
from rehead._values import is_real
from rehead._warnings import warn

DEFAULT_BATCH = 256


def iterate(source: Any) -> Iterable[Any]:
    """Batches as they come from a source, in whatever form its batches are.

    A ``DataLoader`` that shuffles is read in the order of its data set instead, without dropping
    the last batch. A data set, a tensor, an array, a table, ``(X, y)`` or a dict of columns is cut
    into batches.

    Examples
    --------
    >>> import numpy as np
    >>> [len(x) for x, y in iterate((np.zeros((600, 2)), np.zeros(600)))]
    [256, 256, 88]
    """
    if isinstance(source, DataLoader):
        return _in_order(source)
    if is_data_set(source):
        return DataLoader(source, batch_size=DEFAULT_BATCH, collate_fn=collate)
    if isinstance(source, Mapping):
        return _cut_mapping(source)
    if isinstance(source, tuple):
        source = tuple(_array_of_lists(part) for part in source)
    source = _array_of_lists(source)
    if is_array(source):
        return _cut((_column(source),))
    if isinstance(source, tuple) and 1 <= len(source) <= 3 and is_array(source[0]):
        return _cut(tuple(_column(c) for c in source))
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        return source
    raise TypeError(
        f"Cannot read batches from {type(source).__name__}. Pass a DataLoader, a data set, an "
        "iterable of batches, a tensor, or (X, y)."
    )


def loader_like(loader: DataLoader[Any], data: Any, batch_size: int | None) -> DataLoader[Any]:
    """A loader of other data, in their order, that works as this one."""
    return DataLoader(
        data,
        batch_size=batch_size,
        num_workers=loader.num_workers,
        collate_fn=loader.collate_fn,
        pin_memory=loader.pin_memory,
        timeout=loader.timeout,
        worker_init_fn=loader.worker_init_fn,
        multiprocessing_context=loader.multiprocessing_context,
    )


def _in_order(loader: DataLoader[Any]) -> Iterable[Any]:
    """A loader that gives all samples of a data set in its order, where there is an order."""
    if isinstance(loader.dataset, IterableDataset):
        return loader
    sampler, batch_size, drop_last = sampling(loader)
    sequential = isinstance(sampler, SequentialSampler)
    if sequential and not drop_last:
        return loader
    if sequential or (isinstance(sampler, RandomSampler) and not sampler.replacement):
        return loader_like(loader, loader.dataset, batch_size)
    warn(
        f"The loader draws samples with {type(sampler).__name__}; those without ids are numbered "
        "in the order they come. Give batches of (x, y, id) to name them."
    )
    return loader


def sampling(loader: DataLoader[Any]) -> tuple[Any, int | None, bool]:
    """What draws the samples, how many for a batch, and whether a last, smaller one is dropped."""
    batches = loader.batch_sampler
    if batches is None:  # the data set has batches
        return loader.sampler, None, False
    if type(batches) is not BatchSampler:
        return batches, None, False
    return batches.sampler, batches.batch_size, batches.drop_last


def is_data_set(loader: Any) -> bool:
    """Whether samples are asked for one by one: of torch, or as Hugging Face's ``datasets`` are."""
    if isinstance(loader, Dataset):
        # One that can only be iterated may give batches, and says itself what it gives.
        return not isinstance(loader, IterableDataset)
    rows = hasattr(loader, "column_names") and hasattr(loader, "__getitem__")
    return rows and not is_array(loader)


def collate(samples: list[Any]) -> Any:
    """A batch of samples; entries of dicts may be lists, as long as they are equally long."""
    if not isinstance(samples[0], Mapping):
        return default_collate(samples)
    return {name: _stacked([s[name] for s in samples], name) for name in samples[0]}


def _stacked(values: list[Any], name: str) -> Any:
    first = values[0]
    if isinstance(first, (str, bytes)) or first is None:
        return values
    try:
        if isinstance(first, Tensor):
            return torch.stack(values)
        return as_column(values) if np.ndim(first) == 0 else np.stack(list(map(np.asarray, values)))
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            f"The samples' {name!r} differ in shape, so they cannot be put into a batch ({error}). "
            "Pad them first, or pass a DataLoader whose collate_fn does."
        ) from error


def _cut_mapping(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if not any(is_array(c) for c in columns.values()):
        raise TypeError(
            f"Cannot read batches from a dict of {check.first_few(list(columns))}: none is a "
            "tensor or an array. Pass a DataLoader, (X, y) or {'x': X, 'labels': y}."
        )
    named = {name: _column(column) for name, column in columns.items()}
    for part in _cut(tuple(named.values())):
        yield dict(zip(named, part, strict=True))


def _cut(columns: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    lengths = {len(c) for c in columns}
    if len(lengths) > 1:
        raise ValueError(
            f"The columns have different lengths: {[len(c) for c in columns]}. Pass one label and "
            "one id for each sample."
        )
    if any(isinstance(c, Tensor) and c.layout != torch.strided for c in columns):
        raise TypeError(
            "Sparse tensors cannot be cut into batches. Pass tensor.to_dense(), or a list of "
            "batches."
        )
    for a in range(0, len(columns[0]), DEFAULT_BATCH):
        yield tuple(c[a : a + DEFAULT_BATCH] for c in columns)


def is_array(value: Any) -> bool:
    """Tensors, arrays and tables."""
    return isinstance(value, Tensor) or hasattr(value, "__array__")


def _array_of_lists(value: Any) -> Any:
    """Rows of numbers as an array; anything else as it is."""
    row = value[0] if isinstance(value, list) and value else None
    while isinstance(row, list) and row:
        row = row[0]
    return as_column(value) if is_real(row) else value


def _column(values: Any) -> Any:
    """What can be cut: tables become arrays."""
    if isinstance(values, (Tensor, list, tuple)):
        return values
    if np.ndim(values) > 1:
        check.refuse_masked(values, "X")
    return as_column(values)
