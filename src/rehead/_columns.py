"""One value for each sample, as users hold them, read as numpy without a silent change.

numpy makes text of ``["a", 1]``, drops the mask of a masked array, and has no word for a missing
whole number. Here values stay what they are, and one that is missing stays missing. Libraries are
recognised by name, so that none is imported for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rehead._typing import Array

LIBRARIES = ("torch", "pandas", "polars", "pyarrow")
TEXTS, TRUTHS = (str,), (bool, np.bool_)
WHOLES, FRACTIONS = (int, np.integer), (float, np.floating)
LARGEST = 2**53
"""Beyond it, numbers in double precision are no longer told from their neighbours."""


def library(values: Any) -> str:
    """Give the library of a container (or of a subclass of one), "" for all others."""
    roots = {base.__module__.partition(".")[0] for base in type(values).__mro__}
    return next((name for name in LIBRARIES if name in roots), "")


def as_column(values: Any) -> Array:
    """Values as an array; where some are missing or of several types, one of objects.

    The shape is left as it is, and nothing is refused.

    Examples
    --------
    >>> import numpy as np
    >>> as_column(["a", float("nan"), 1]).tolist()
    ['a', nan, 1]
    >>> as_column(np.ma.masked_equal([1, 2, 3], 2)).tolist()
    [1, None, 3]
    """
    if isinstance(values, np.ma.MaskedArray):
        return _with_gaps(np.asarray(values.data), np.ma.getmaskarray(values))
    kind = library(values)
    if kind == "torch":
        return tensor_array(values)
    if kind == "pandas":
        return _of_pandas(values)
    if kind in ("polars", "pyarrow") and not hasattr(values, "columns"):
        return _of_arrow(values)
    if isinstance(values, (list, tuple)):
        return _of_list(list(values))
    array: Array = np.asarray(values)
    if array.ndim == 1 and array.dtype.kind == "O":
        found = _of_list(array.tolist())
        return array if found.dtype.kind == "U" else found
    return _of_list(array.tolist()) if array.dtype.kind == "T" else array


def join_columns(parts: Sequence[Array]) -> Array:
    """One column of several; where they are of different types, one of objects."""
    if len({part.dtype.kind for part in parts}) == 1:
        return np.concatenate(parts)
    return as_column([value for part in parts for value in part.tolist()])


def tensor_array(tensor: Any) -> Array:
    """A torch tensor as an array, wherever it is and whatever its gradients."""
    if tensor.is_meta:
        raise ValueError("A tensor on the device 'meta' has no values. Pass one that has them.")
    if str(tensor.layout) != "torch.strided":
        raise TypeError("Sparse tensors are not supported. Pass tensor.to_dense().")
    try:
        array: Array = tensor.numpy(force=True)
    except TypeError:  # bfloat16, which numpy does not know
        array = tensor.detach().float().numpy(force=True)
    return array


def missing_rows(column: Array) -> Array:
    """Mask of the values that are None, NaN, NaT, NA or infinite."""
    if column.dtype.kind == "O":
        gaps = [v is None or is_missing(v) for v in column.reshape(-1)]
        return np.array(gaps, bool).reshape(column.shape)
    if column.dtype.kind in "mM":
        nat: Array = np.isnat(column)
        return nat
    if column.dtype.kind in "fc":
        return ~np.isfinite(column)
    return np.zeros(column.shape, bool)


def is_missing(value: object) -> bool:
    """Whether a value is not equal to itself (NaN), or cannot say so (pandas.NA)."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType" or not hasattr(value, "__len__")


def _of_pandas(values: Any) -> Array:
    if hasattr(values, "columns"):
        if values.shape[1] != 1:
            frame: Array = np.asarray(values)
            return frame
        return _of_pandas(values.iloc[:, 0]).reshape(-1, 1)
    if hasattr(values, "levels"):  # a MultiIndex, whose values are tuples
        tuples: Array = values.to_numpy()
        return tuples
    missing = np.asarray(values.isna(), bool)
    plain = getattr(values.dtype, "numpy_dtype", None)
    if missing.any():
        # As text and numbers of Python: a column of whole numbers would become one of fractions.
        objects: Array = np.asarray(values.astype(object), object)
        return _with_gaps(objects, missing)
    nullable = getattr(plain, "kind", "") in ("b", "i", "u", "f")
    array: Array = values.to_numpy(dtype=plain) if nullable else values.to_numpy()
    return as_column(array)


def _with_gaps(values: Array, missing: Array) -> Array:
    """The values, None where they are missing; of their own type where none is."""
    if not missing.any():
        return values
    objects: Array = values.astype(object)
    objects[missing] = None
    return objects


def _of_arrow(values: Any) -> Array:
    """A column of polars or pyarrow."""
    nulls = values.null_count
    if not (nulls() if callable(nulls) else nulls):
        return as_column(np.asarray(values))
    return _of_list(values.to_list() if hasattr(values, "to_list") else values.to_pylist())


def _of_list(values: list[Any]) -> Array:
    """An array of the type that all values share, else one of objects."""
    values = [_unwrapped(v) if hasattr(v, "ndim") else v for v in values]
    types = set(map(type, values))
    if any(issubclass(t, (list, tuple, np.ndarray)) or t.__name__ == "Tensor" for t in types):
        return _nested(values)
    if _all_of(types, TEXTS):
        # numpy drops NULs at the end of text.
        return _objects(values) if any("\0" in v for v in values) else np.array(values)
    if _all_of(types, WHOLES) and not _has_truths(types):
        limits = np.iinfo(np.int64)
        fits = not values or (limits.min <= min(values) and max(values) <= limits.max)
        return np.array(values, np.int64 if types == {int} else None) if fits else _objects(values)
    if _all_of(types, (*WHOLES, *FRACTIONS)) and not _has_truths(types):
        exact = all(isinstance(v, FRACTIONS) or abs(v) <= LARGEST for v in values)
        return np.array(values) if exact else _objects(values)
    if len(types) == 1 or _all_of(types, TRUTHS):
        array: Array = np.array(values)
        return array if array.ndim == 1 else _objects(values)
    return _objects(values)


def _unwrapped(value: Any) -> Any:
    """What is in an array or a tensor without dimensions."""
    if value.ndim or isinstance(value, np.generic):
        return value
    if value is np.ma.masked:
        return None
    return value[()] if isinstance(value, np.ndarray) else value.item()


def _nested(values: list[Any]) -> Array:
    """Rows of values; an array of objects where they are not of one length."""
    try:
        return np.array([as_column(v) if hasattr(v, "ndim") else v for v in values])
    except ValueError:
        return _objects(values)


def _objects(values: list[Any]) -> Array:
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects


def _all_of(types: set[type], wanted: tuple[type, ...]) -> bool:
    return all(issubclass(t, wanted) for t in types)


def _has_truths(types: set[type]) -> bool:
    return any(issubclass(t, TRUTHS) for t in types)
