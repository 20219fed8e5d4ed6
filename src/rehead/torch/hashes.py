"""A number for what a network is given, by which samples are known again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rehead._typing import Array
from rehead.torch.batches import Batch
from rehead.torch.sources import is_array

PLAIN = (str, bytes, bool, int, float, type(None))
"""Values that are told apart by what they print."""


def input_hashes(batch: Batch) -> Array:
    """A 64-bit hash of each sample's inputs: values, shapes and types.

    It does not depend on which batch a sample comes in, unless the inputs themselves do (texts are
    filled up to the longest of a batch), or not all of them have one row per sample. Objects other
    than tensors, arrays, numbers and text are known by their type only.

    Examples
    --------
    >>> import torch
    >>> from rehead.torch.batches import Batch
    >>> x = torch.tensor([[1.0, 2.0], [1.0, 2.5], [1.0, 2.0]])
    >>> a, b, c = input_hashes(Batch((x,))).tolist()
    >>> a == c, a == b, a == input_hashes(Batch((x[:1],))).tolist()[0]
    (True, False, True)
    """
    n = len(batch)
    shared = hashlib.sha256()
    columns: list[Any] = []
    for name, value in _leaves({"args": batch.args, **batch.kwargs}, n):
        rows = _rows(value, n)
        shared.update(f"{name}:{_form(value, rows is not None)};".encode())
        if rows is None:
            shared.update(_content(value))
        else:
            columns.append(rows)
    digests = []
    for row in zip(*columns, strict=True):
        digest = shared.copy()
        for part in row:
            digest.update(part)
        digests.append(digest.digest()[:8])
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def _leaves(value: Any, n: int, name: str = "") -> Iterator[tuple[str, Any]]:
    """Tensors, arrays and plain values in nested containers, with where they are."""
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from _leaves(value[key], n, f"{name}.{key}")
    elif isinstance(value, (tuple, list)) and not _is_column(value, n):
        for i, item in enumerate(value):
            yield from _leaves(item, n, f"{name}.{i}")
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from _leaves(getattr(value, part.name), n, f"{name}.{part.name}")
    else:
        yield name, value


def _is_column(value: Any, n: int) -> bool:
    """Whether a list has one plain value, a text for example, for each sample."""
    return len(value) == n and all(isinstance(item, PLAIN) for item in value)


def _rows(value: Any, n: int) -> Any:
    """The bytes of each sample; None where there is not one row per sample."""
    if isinstance(value, (tuple, list)):
        return [_content(item) for item in value]
    if not is_array(value):
        return None
    if isinstance(value, Tensor):
        if value.ndim == 0 or len(value) != n or value.layout != torch.strided:
            return None
        return _bytes(value).reshape(n, -1)
    array = np.asarray(value)
    if array.ndim == 0 or len(array) != n:
        return None
    return [_content(row) for row in array]


def _form(value: Any, by_row: bool) -> str:
    """Type and shape, without the number of samples."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, Tensor):
        return f"{value.dtype}{tuple(value.shape[1 if by_row else 0 :])}"
    return "array" if is_array(value) else kind


def _content(value: Any) -> bytes:
    if isinstance(value, Tensor):
        return bytes(_bytes(value))
    if is_array(value):
        array = np.asarray(value)
        plain = array.dtype.hasobject or array.dtype.kind in "US"  # texts have any length
        return repr(array.tolist()).encode() if plain else array.tobytes()
    return repr(value).encode() if isinstance(value, PLAIN) else b""


def _bytes(value: Tensor) -> Array:
    """All bytes of a tensor, wherever and however it is kept."""
    value = value.detach()
    if value.layout != torch.strided:
        value = value.to_dense()
    if value.is_quantized:
        value = value.dequantize()
    plain = value.cpu().resolve_conj().resolve_neg().contiguous()
    return plain.reshape(-1).view(torch.uint8).numpy()
