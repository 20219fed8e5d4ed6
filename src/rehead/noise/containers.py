"""Arrays of numpy, pandas and torch: read as numpy, given back as what they were.

Neither pandas nor torch is imported for others.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rehead import _validation as check
from rehead._columns import library, tensor_array
from rehead._features import as_numbers
from rehead._typing import Array

BLOCK = 8192
"""Rows taken at a time: a float copy of all images would be several times their size."""


def as_numpy(values: Any) -> Array:
    """Inputs as a numpy array, without a copy where that is possible."""
    check.refuse_masked(values, "X")
    if library(values) == "pandas":
        # Not np.asarray, which makes objects of nullable integers.
        values = values.to_numpy()
    array: Array = tensor_array(values) if library(values) == "torch" else np.asarray(values)
    return array


def labels_like(values: Array, given: Any) -> Any:
    """Labels in the container, with the dtype, index, name and device, of the given ones."""
    kind = library(given)
    if kind == "torch":
        import torch

        return torch.as_tensor(values, dtype=given.dtype, device=given.device)
    if kind == "pandas" and hasattr(given, "dtype"):
        pd = import_module("pandas")
        if isinstance(given, pd.Series):
            return pd.Series(values, index=given.index, name=given.name, dtype=given.dtype)
        if isinstance(given, pd.Index):
            return pd.Index(values, name=given.name, dtype=given.dtype)
        return pd.array(values, dtype=given.dtype)
    of_objects = getattr(given, "dtype", np.dtype(float)) == np.dtype(object)
    return values.astype(object) if of_objects else values


def inputs_like(values: Array, given: Any) -> Any:
    """Inputs in the container, with the index, columns and device, of the given ones."""
    if library(given) == "torch":
        import torch

        return torch.as_tensor(values, device=given.device)
    if library(given) == "pandas":
        pd = import_module("pandas")
        return pd.DataFrame(values, index=given.index, columns=given.columns)
    return values


def flat(X: Any) -> Array:
    """Inputs as rows of single-precision features."""
    values = as_numpy(X)
    rows: Array = values.reshape(len(values), -1).astype(np.float32)
    return rows


def as_features(X: Any) -> Array:
    """Inputs as rows of finite numbers, in the precision that they have; anything else is an error.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.noise.containers import as_features
    >>> as_features(np.zeros((5, 3, 8, 8), np.uint8)).shape
    (5, 192)
    """
    if issparse(X):
        raise TypeError(
            "X is sparse. Pass X.toarray(), or fewer features: "
            "sklearn.decomposition.TruncatedSVD(100).fit_transform(X), for example."
        )
    values = as_numpy(as_numbers(X))
    precision = np.float32 if values.dtype.kind in "biuf" and values.itemsize <= 4 else np.float64
    rows: Array = values.reshape(len(values), -1).astype(precision, copy=False)
    check.check_finite(rows)
    return rows


def n_rows(X: Any) -> int:
    """Give the number of rows, of sparse matrices too."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def check_rows(X: Any, n: int) -> None:
    """Raise if there is not one row of X for each of n labels."""
    if n_rows(X) != n:
        raise ValueError(
            f"X has {n_rows(X)} rows and y has {n} labels. Pass one label for each row, in the "
            "same order."
        )


def take(X: Any, rows: Array) -> Any:
    """Some rows of X, in its own container."""
    if library(X) == "pandas":
        return X.iloc[rows]
    if library(X) == "torch":
        import torch

        return X[torch.as_tensor(rows, device=X.device)]
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]
