"""Batches as people's loaders give them, brought to one form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rehead import _validation as check
from rehead._columns import as_column
from rehead._typing import Array
from rehead.torch.sources import is_array, iterate

LABEL_KEYS = ("labels", "label", "targets", "target", "y")
ID_KEYS = ("ids", "id", "idx", "index", "indices")
MASK = "attention_mask"
MAIN = ("input_ids", "pixel_values", "input_values", "input_features")
TEXT = "OSU"
"""Kinds of arrays that hold text."""
Keys = Mapping[str, str | Sequence[str]]
"""Names of "inputs", "labels" and "ids" in batches that are dicts."""


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
    def main(self) -> Tensor | None:
        """The tensor that samples are made of, whatever else comes with it."""
        named = [self.kwargs[key] for key in MAIN if key in self.kwargs]
        return next(tensors_in((*named, *self.args, self.kwargs)), None)

    @property
    def mask(self) -> Tensor | None:
        """The attention mask, where there is one."""
        mask = self.kwargs.get(MASK)
        return mask if isinstance(mask, Tensor) else None

    def to(self, device: torch.device) -> Batch:
        """The batch with its inputs on a device."""
        for tensor in tensors_in((*self.args, self.kwargs)):
            if tensor.is_meta and device.type != "meta":
                raise ValueError(
                    "A batch is on the device 'meta', where tensors have no values. Give tensors "
                    "that have them."
                )
        return self.changed(lambda x: x.to(device))

    def changed(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """The batch with all tensors of its inputs changed."""
        args = tuple(_mapped(a, change) for a in self.args)
        return replace(
            self, args=args, kwargs={k: _mapped(v, change) for k, v in self.kwargs.items()}
        )


def read_batch(batch: Any, keys: Keys | None = None) -> Batch:
    """Bring one batch to the common form.

    Understood are a tensor or array, ``(x,)``, ``(x, y)``, ``(x, y, id)`` and dicts, in which
    labels and ids go by the usual names and the rest are named inputs of the network. ``keys`` says
    which entry of a dict is what: ``{"inputs": "image", "labels": "grade", "ids": "file"}``; what
    it does not name is then left out of the inputs.

    Examples
    --------
    >>> import torch
    >>> batch = read_batch((torch.zeros(2, 3), torch.tensor([0, 1]), ["a", "b"]))
    >>> len(batch), batch.labels.tolist(), batch.ids.tolist()
    (2, [0, 1], ['a', 'b'])
    >>> sorted(read_batch({"input_ids": torch.zeros(2, 3), "labels": [1, 0]}).kwargs)
    ['input_ids']
    >>> read_batch({"image": torch.zeros(2, 3), "grade": [1, 0]}, {"labels": "grade"}).labels
    array([1, 0])
    """
    if isinstance(batch, Mapping):
        return _read_mapping(batch, keys or {})
    if not isinstance(batch, (tuple, list)):
        return Batch((as_tensor(batch),))
    if not 1 <= len(batch) <= 3:
        raise ValueError(
            f"A batch has {len(batch)} parts; expected x, (x, y) or (x, y, id). Wrap several "
            "inputs as one: ((x1, x2), y)."
        )
    x, labels, ids = (*batch, None, None)[:3]
    if isinstance(x, Mapping):
        return replace(_read_mapping(x, keys or {}), labels=_labels(labels), ids=_column(ids))
    # Loaders make lists of tuples.
    several = isinstance(x, (tuple, list)) and all(is_array(part) for part in x)
    args = tuple(as_tensor(part) for part in x) if several else (as_tensor(x),)
    return Batch(args, {}, _labels(labels), _column(ids))


def check_keys(keys: Any) -> None:
    """Raise if names of entries are not said as they should be."""
    if keys is None:
        return
    if not isinstance(keys, Mapping):
        raise ValueError(f"keys must be a dict such as {{'inputs': 'image'}}, got {keys!r}.")
    for role in keys:
        check.check_choice(role, ("inputs", "labels", "ids"), "keys")


def _read_mapping(batch: Mapping[str, Any], keys: Keys) -> Batch:
    asked = {role: [v] if isinstance(v, str) else list(v) for role, v in keys.items()}
    missing = [name for names in asked.values() for name in names if name not in batch]
    if missing:
        raise ValueError(
            f"A batch has no {missing[0]!r}, which keys= names; it has "
            f"{check.first_few(list(batch))}."
        )
    rest = dict(batch)
    labels, ids = (
        rest.pop(asked[role][0]) if role in asked else _pop_first(rest, usual)
        for role, usual in (("labels", LABEL_KEYS), ("ids", ID_KEYS))
    )
    if "inputs" in asked:
        args, rest = tuple(as_tensor(batch[name]) for name in asked["inputs"]), {}
    else:
        args, rest = (), {name: as_tensor(value) for name, value in rest.items()}
    return Batch(args, rest, _labels(labels), _column(ids))


def read_loader(loader: Any, keys: Keys | None = None) -> Iterator[Batch]:
    """Batches of a loader (or what else :func:`rehead.torch.sources.iterate` reads), with ids.

    Samples without ids are numbered in the order they come, which is that of the data set, even
    where its loader shuffles.
    """
    start = 0
    first: Batch | None = None
    for raw in iterate(loader):
        batch = read_batch(raw, keys)
        n = len(batch)
        if n == 0:
            continue
        first = batch if first is None else first
        _check_columns(batch, n, first)
        if batch.ids is None:
            batch = replace(batch, ids=np.arange(start, start + n), numbered=True)
        yield batch
        start += n
    if start == 0:
        raise ValueError(
            "The loader is empty. A generator can be read only once: pass a fresh one, or a list."
        )


def _check_columns(batch: Batch, n: int, first: Batch) -> None:
    """Raise if labels or ids are not one a sample, or not of the kind that came first."""
    for name in ("labels", "ids"):
        column, before = getattr(batch, name), getattr(first, name)
        if (column is None) != (before is None):
            raise ValueError(f"Some batches have {name}, and others have none. Give them for all.")
        if column is None:
            continue
        if column.ndim != 1:
            raise ValueError(f"A batch has {name} of shape {column.shape}; expected one a sample.")
        if len(column) != n:
            raise ValueError(f"A batch has {n} inputs but {len(column)} {name}.")
        if (column.dtype.kind in TEXT) != (before.dtype.kind in TEXT):
            raise ValueError(
                f"The {name} are text in some batches and numbers in others "
                f"({before.tolist()[0]!r}, {column.tolist()[0]!r}). Give all in one type."
            )


def tensors_in(value: Any) -> Iterator[Tensor]:
    """All tensors in nested tuples, lists, mappings and dataclasses, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from tensors_in(getattr(value, part.name))


def _mapped(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The value with all tensors in nested tuples, lists and mappings changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return {k: _mapped(v, change) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [_mapped(v, change) for v in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def as_tensor(value: Any) -> Any:
    """Arrays and tables as tensors; anything else as it is."""
    if isinstance(value, Tensor) or not hasattr(value, "__array__"):
        return value
    check.refuse_masked(value, "X")
    array = np.ascontiguousarray(value)
    # Text and objects cannot be tensors; the network may not take them at all.
    if array.dtype.kind not in "biufc":
        return value
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), copy=False))


def _pop_first(mapping: dict[str, Any], names: tuple[str, ...]) -> Any:
    found = [name for name in names if name in mapping]
    return mapping.pop(found[0]) if found else None


def _column(values: Any) -> Array | None:
    return None if values is None else as_column(values)


def _labels(values: Any) -> Array | None:
    """Labels of a batch, one a sample."""
    if isinstance(values, (tuple, list)) and any(np.ndim(v) > 0 for v in values):
        raise ValueError(
            f"A batch has {len(values)} columns of labels. A head predicts one: fit a head for "
            "each, with a loader of (x, y1) and another of (x, y2)."
        )
    labels = _column(values)
    if labels is None:
        return None
    if labels.ndim == 1:
        if any(isinstance(v, (list, tuple, np.ndarray)) for v in labels.tolist()):
            raise ValueError("A batch has several labels for a sample; expected one a sample.")
        return labels
    if labels.ndim == 0:
        raise ValueError(
            f"A batch has the single label {labels.item()!r}: these are samples, not batches. Pass "
            "DataLoader(samples, batch_size=64)."
        )
    if labels.ndim == 2 and labels.shape[1] == 1:
        return labels[:, 0]
    raise ValueError(
        f"A batch has labels of shape {labels.shape}; expected one a sample. Pass y.argmax(1) if "
        "they are one-hot."
    )
